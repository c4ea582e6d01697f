//! A slot that has moved with only some of its keys, while locks with those keys are in use.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Result};
use redlatch_tests::{Cluster, View, eventually, ms, secs, told};

use super::client;
use super::cluster::name_at;

/// The slot of a name on its way from one server to another.
struct Move<'a> {
    cluster: &'a Cluster,
    slot: String,
    to: usize,
    source: View,
    target: View,
}

impl<'a> Move<'a> {
    fn of(cluster: &'a Cluster, name: &str) -> Self {
        let from = cluster.owner(name);
        let to = (from + 1) % 2;
        let mut source = cluster.servers[from].view();
        let mut target = cluster.servers[to].view();
        let slot = source.command::<i64>(&["CLUSTER", "KEYSLOT", name]).to_string();
        target.command::<()>(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &cluster.id(from)]);
        Move { cluster, slot, to, source, target }
    }

    /// Splits the keys between the servers from now on; `id`: of the receiving server.
    fn begin(&mut self, id: &str, key: &str) {
        self.source.command::<()>(&["CLUSTER", "SETSLOT", &self.slot, "MIGRATING", id]);
        self.carry(key);
    }

    fn carry(&mut self, key: &str) {
        let port = self.cluster.servers[self.to].port().to_string();
        // A key that is there already must stay: overwriting it would be an error.
        self.source.command::<String>(&["MIGRATE", "127.0.0.1", &port, key, "0", "5000"]);
    }

    fn end(mut self) {
        for key in self.source.command::<Vec<String>>(&["CLUSTER", "GETKEYSINSLOT", &self.slot, "100"]) {
            self.carry(&key);
        }
        let id = self.cluster.id(self.to);
        for view in [&mut self.target, &mut self.source] {
            view.command::<()>(&["CLUSTER", "SETSLOT", &self.slot, "NODE", &id]);
        }
    }
}

fn wait_for(client: &Client, kind: &'static str, name: &str, owner: i64) -> mpsc::Receiver<Result<Answer>> {
    let (sender, answer) = mpsc::channel();
    let request = Request { wait: None, ..Request::new(Op::Acquire, kind, name, owner) };
    client.submit(client.ticket(), request, move |taken| drop(sender.send(taken)));
    answer
}

/// No server names it as the owner of a slot yet.
#[test]
fn a_server_that_is_about_to_get_its_first_slot_keeps_its_connections() {
    let cluster = Cluster::start(2, 1);
    let from = cluster.owner("n");
    let to = 2;
    let mut target = cluster.servers[to].view();
    // The former replica is a master without slots from now on.
    target.command::<()>(&["CLUSTER", "RESET"]);
    let id: String = target.command(&["CLUSTER", "MYID"]);
    let mut source = cluster.servers[from].view();
    let [port, bus] = [cluster.servers[to].port(), cluster.servers[to].bus_port()].map(|port| port.to_string());
    source.command::<()>(&["CLUSTER", "MEET", "127.0.0.1", &port, &bus]);
    let slot = source.command::<i64>(&["CLUSTER", "KEYSLOT", "n"]).to_string();
    let source_id = cluster.id(from);
    eventually("the server knows the owner of each slot", || {
        target.command::<String>(&["CLUSTER", "INFO"]).contains("cluster_state:ok").then_some(())
    });
    eventually("the servers know each other", || {
        target.try_command::<()>(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &source_id]).ok()?;
        source.try_command::<()>(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &id]).ok()
    });
    let client = client(&format!("{}?watchdog=1", cluster.url()));
    let held = client.lock("n").blocking().acquire().expect("free");
    let mut moving = Move { cluster: &cluster, slot, to, source, target };
    moving.carry("n");
    let connections = |view: &mut View| {
        let stats: String = view.command(&["INFO", "stats"]);
        let count = stats.lines().find_map(|line| line.strip_prefix("total_connections_received:"));
        count.and_then(|count| count.trim_end().parse::<u64>().ok()).expect("it counts")
    };
    let left = |view: &mut View| {
        view.command::<()>(&["ASKING"]);
        view.pttl("n")
    };
    let renewed = |view: &mut View| {
        let mut before = left(view);
        eventually("a renewal", || {
            let now = left(view);
            (std::mem::replace(&mut before, now) < now).then_some(())
        });
    };
    renewed(&mut moving.target);
    let before = connections(&mut moving.target);
    let lock = client.lock("n").wait(secs(60)).blocking();
    let waiting = thread::spawn(move || lock.acquire());
    for _ in 0..5 {
        renewed(&mut moving.target);
        // A client with a waiter that loses a connection asks for the owners of the slots again.
        for kind in ["normal", "pubsub"] {
            moving.source.command::<i64>(&["CLIENT", "KILL", "TYPE", kind]);
        }
    }
    renewed(&mut moving.target);
    held.ensure().expect("it is renewed");
    let after = connections(&mut moving.target);
    assert!(after <= before + 2, "{} connections", after - before);
    held.release().expect("held");
    waiting.join().expect("no panic").expect("it gets the lock").release().expect("held");
}

/// A hold that has lasted longer is not passed on.
const CHAIN: Duration = ms(10);

#[test]
fn no_two_owners_get_one_token_in_any_order_of_a_moving_slots_keys() {
    let cluster = Cluster::start(2, 0);
    let client = client(&format!("{}?retry_for=20", cluster.url()));
    let mut names = (0..).map(|number| format!("f{number}"));
    for tokens_first in [true, false] {
        let mut passes = 0;
        for _ in 0..100 {
            let name = names.find(|name| cluster.owner(name) == 0).expect("there are enough");
            let run = |op, owner| {
                client
                    .run_blocking(Request { wait: None, ..Request::new(op, "fenced", name.as_str(), owner) })
                    .expect("done")
            };
            for _ in 0..3 {
                run(Op::Acquire, 1);
                run(Op::Release, 1);
            }
            let mut moving = Move::of(&cluster, &name);
            let id = cluster.id(1);
            let tokens = format!("redisson_lock_token:{{{name}}}");
            let begun = Instant::now();
            let held = run(Op::Acquire, 1).items[0];
            let heir = wait_for(&client, "fenced", &name, 2);
            moving.begin(&id, if tokens_first { &tokens } else { &name });
            let is_passed = begun.elapsed() < CHAIN;
            let next = thread::scope(|scope| {
                let releasing = scope.spawn(|| run(Op::Release, 1));
                let early = heir.recv_timeout(ms(200));
                moving.end();
                releasing.join().expect("no panic");
                early.or_else(|_| heir.recv_timeout(secs(20))).expect("its turn comes").expect("it is taken")
            });
            let token = next.items.first().copied().unwrap_or_default();
            assert!(token > held, "the heir has token {token} after {held}; tokens first: {tokens_first}");
            run(Op::Release, 2);
            assert!(run(Op::Acquire, 3).items[0] > token, "tokens grow; tokens first: {tokens_first}");
            run(Op::Release, 3);
            passes += u32::from(is_passed);
            if passes == 3 {
                break;
            }
        }
        assert!(passes > 0, "this machine is too slow for a pass");
    }
}

#[test]
fn a_holder_whose_key_has_moved_before_its_slot_is_told_of_its_loss_then_and_later() {
    for is_whole in [false, true] {
        let cluster = Cluster::start(2, 0);
        // Neither a failed look nor a renewal is due while the test lasts.
        let client = client(&format!("{}?watchdog=3000", cluster.url()));
        let name = name_at(&cluster, 0);
        let held = client.lock(&name).lease(secs(900)).blocking().acquire().expect("free");
        eventually("a hold that is looked at", || cluster.servers[0].view().tells().then_some(()));
        let mut moving = Move::of(&cluster, &name);
        moving.begin(&cluster.id(1), &name);
        let mut target = cluster.servers[1].view();
        let looks = |view: &mut View| view.calls().get("evalsha").copied().unwrap_or_default();
        eventually("a look at the server that has the key", || (looks(&mut target) > 0).then_some(()));
        held.ensure().expect("no move loses it");
        if is_whole {
            moving.end();
            eventually("a server that will report changes", || target.tells().then_some(()));
            target.command::<()>(&["DEL", &name]);
        } else {
            target.command::<()>(&["ASKING"]);
            target.command::<()>(&["DEL", &name]);
        }
        told(&held);
    }
}

#[test]
fn holds_of_one_slot_are_renewed_while_only_some_of_their_keys_have_moved() {
    let cluster = Cluster::start(2, 0);
    let lease = secs(3);
    let client = client(&format!("{}?watchdog={}", cluster.url(), lease.as_secs()));
    let tag = name_at(&cluster, 0);
    let names = ["a", "b", "c"].map(|end| format!("{{{tag}}}{end}"));
    let guards = names.each_ref().map(|name| client.lock(name).blocking().acquire().expect("free"));
    let mut moving = Move::of(&cluster, &names[0]);
    moving.begin(&cluster.id(1), &names[0]);
    let split = Instant::now();
    eventually("renewals of every hold beyond two leases", || {
        for (guard, name) in guards.iter().zip(&names) {
            guard.ensure().unwrap_or_else(|error| panic!("{name}, {:?} after the split: {error}", split.elapsed()));
        }
        guards.iter().all(|guard| guard.deadline().is_some_and(|end| end > split + 3 * lease)).then_some(())
    });
    moving.end();
    for guard in guards {
        guard.release().expect("it was renewed all the time");
    }
}

#[test]
fn a_writer_that_goes_on_reading_leaves_no_half_of_a_lock_while_its_slot_moves() {
    let cluster = Cluster::start(2, 0);
    let client = client(&format!("{}?retry_for=20", cluster.url()));
    let name = name_at(&cluster, 0);
    let run = |op, kind, owner| client.run_blocking(Request::new(op, kind, name.as_str(), owner)).expect("answered");
    for kind in ["write", "read"] {
        assert!(run(Op::Acquire, kind, 1).done);
    }
    let mut moving = Move::of(&cluster, &name);
    let hold = cluster.servers[0].view().keys(&format!("{{{name}}}:*"))[0].clone();
    moving.begin(&cluster.id(1), &hold);
    thread::scope(|scope| {
        let releasing = scope.spawn(|| run(Op::Release, "write", 1));
        // The client tries the release, which cannot be done yet.
        eventually("a release", || {
            let calls = cluster.servers[0].view().calls();
            calls.get("hgetall").is_some_and(|calls| *calls > 0).then_some(())
        });
        let mut view = cluster.servers[0].view();
        let writer = format!("{}:1:write", client.id());
        let fields = view.hgetall(&name);
        assert!(
            fields.get("mode").map(String::as_str) != Some("write") || fields.contains_key(&writer),
            "no owner writes, and no other owner may read: {fields:?}"
        );
        moving.end();
        releasing.join().expect("no panic");
    });
    let messages = |place: usize| {
        let calls = cluster.servers[place].view().calls();
        ["publish", "spublish"].iter().filter_map(|command| calls.get(*command)).sum::<u64>()
    };
    assert!(messages(0) + messages(1) > 0, "waiting readers are told");
    assert!(run(Op::Acquire, "read", 2).done, "readers may read");
    for owner in [1, 2] {
        run(Op::Release, "read", owner);
    }
}
