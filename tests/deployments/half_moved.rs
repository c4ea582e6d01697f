//! A slot that moves with only some of its keys while what they are about goes on.

use std::sync::mpsc;
use std::thread;

use redlatch::{Answer, Client, Op, Request, Result};
use redlatch_tests::{Cluster, View, eventually, ms, secs};

use super::client;
use super::cluster::name_at;

/// The slot of a name on its way from one server to another.
struct Move<'a> {
    cluster: &'a Cluster,
    slot: String,
    from: usize,
    to: usize,
}

impl<'a> Move<'a> {
    fn begin(cluster: &'a Cluster, name: &str) -> Self {
        let from = cluster.owner(name);
        let to = (from + 1) % 2;
        let slot = cluster.servers[from].view().command::<i64>(&["CLUSTER", "KEYSLOT", name]).to_string();
        let moving = Move { cluster, slot, from, to };
        moving.view(to).command::<()>(&["CLUSTER", "SETSLOT", &moving.slot, "IMPORTING", &cluster.id(from)]);
        moving.view(from).command::<()>(&["CLUSTER", "SETSLOT", &moving.slot, "MIGRATING", &cluster.id(to)]);
        moving
    }

    fn view(&self, place: usize) -> View {
        self.cluster.servers[place].view()
    }

    fn carry(&self, key: &str) {
        let port = self.cluster.servers[self.to].port().to_string();
        // What is there already is not to be overwritten: that would be an error.
        self.view(self.from).command::<String>(&["MIGRATE", "127.0.0.1", &port, key, "0", "5000"]);
    }

    fn end(self) {
        for key in self.view(self.from).command::<Vec<String>>(&["CLUSTER", "GETKEYSINSLOT", &self.slot, "100"]) {
            self.carry(&key);
        }
        for place in [self.to, self.from] {
            self.view(place).command::<()>(&["CLUSTER", "SETSLOT", &self.slot, "NODE", &self.cluster.id(self.to)]);
        }
    }
}

fn wait_for(client: &Client, kind: &'static str, name: &str, owner: i64) -> mpsc::Receiver<Result<Answer>> {
    let (sender, answer) = mpsc::channel();
    let request = Request { wait: None, ..Request::new(Op::Acquire, kind, name, owner) };
    client.submit(client.ticket(), request, move |taken| drop(sender.send(taken)));
    answer
}

fn listening(cluster: &Cluster, name: &str) -> bool {
    let listeners = |place: usize| cluster.servers[place].view().listeners(&format!("redisson_lock__channel:{{{name}}}"));
    listeners(0) + listeners(1) > 0
}

#[test]
fn no_two_owners_get_one_token_whichever_of_its_keys_a_slot_moves_first() {
    let cluster = Cluster::start(2, 0);
    let client = client(&format!("{}?retry_for=20", cluster.url()));
    for tokens_first in [true, false] {
        for round in 0..3 {
            let name = (0..).map(|n| format!("f{tokens_first}{round}:{n}")).find(|name| cluster.owner(name) == 0).expect("enough");
            let run = |op, owner| client.run_blocking(Request { wait: None, ..Request::new(op, "fenced", &name, owner) }).expect("done");
            let mut last = 0;
            for _ in 0..3 {
                last = run(Op::Acquire, 1).items[0];
                run(Op::Release, 1);
            }
            let held = run(Op::Acquire, 1).items[0];
            assert!(held > last);
            let heir = wait_for(&client, "fenced", &name, 2);
            eventually("a listener", || listening(&cluster, &name).then_some(()));
            let moving = Move::begin(&cluster, &name);
            let tokens = format!("redisson_lock_token:{{{name}}}");
            moving.carry(if tokens_first { &tokens } else { &name });
            let next = thread::scope(|scope| {
                let releasing = scope.spawn(|| run(Op::Release, 1));
                let early = heir.recv_timeout(ms(500));
                moving.end();
                releasing.join().expect("no panic");
                early.or_else(|_| heir.recv_timeout(secs(20))).expect("its turn comes").expect("it is taken")
            });
            let token = next.items.first().copied().unwrap_or_default();
            assert!(token > held, "the heir has token {token} after {held}; tokens first: {tokens_first}");
            run(Op::Release, 2);
            assert!(run(Op::Acquire, 3).items[0] > token, "tokens grow; tokens first: {tokens_first}");
            run(Op::Release, 3);
        }
    }
}

#[test]
fn a_writer_who_goes_on_reading_leaves_no_half_of_a_lock_while_its_slot_moves() {
    let cluster = Cluster::start(2, 0);
    let client = client(&format!("{}?retry_for=20", cluster.url()));
    let name = name_at(&cluster, 0);
    let run = |op, kind, owner| client.run_blocking(Request::new(op, kind, &name, owner)).expect("answered");
    for kind in ["write", "read"] {
        assert!(run(Op::Acquire, kind, 1).done);
    }
    let moving = Move::begin(&cluster, &name);
    let hold = cluster.servers[0].view().keys(&format!("{{{name}}}:*"))[0].clone();
    moving.carry(&hold);
    thread::scope(|scope| {
        let releasing = scope.spawn(|| run(Op::Release, "write", 1));
        // It is tried, and cannot be done yet.
        eventually("a release", || {
            let calls = cluster.servers[0].view().calls();
            calls.get("hgetall").is_some_and(|calls| *calls > 0).then_some(())
        });
        let (mut view, writer) = (cluster.servers[0].view(), format!("{}:1:write", client.id()));
        let fields = view.hgetall(&name);
        assert!(
            fields.get("mode").map(String::as_str) != Some("write") || fields.contains_key(&writer),
            "nobody writes, and nobody else may read: {fields:?}"
        );
        moving.end();
        releasing.join().expect("no panic");
    });
    assert!(run(Op::Acquire, "read", 2).done, "readers may read");
    for owner in [1, 2] {
        run(Op::Release, "read", owner);
    }
}
