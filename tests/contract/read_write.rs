//! What reading and writing have to do with each other, on the wire that Redisson has.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use redlatch::{Client, Error, Op, Request};
use redlatch_tests::{Server, View};

use super::{eventually, pair, secs};

const CHANNEL: &str = "redisson_rwlock:{n}";

fn ask(client: &Client, op: Op, kind: &'static str, owner: i64) -> Result<redlatch::Answer, Error> {
    client.run_blocking(Request::new(op, kind, "n", owner))
}

fn taken(client: &Client, kind: &'static str, owner: i64) -> bool {
    ask(client, Op::Acquire, kind, owner).expect("answered").done
}

fn give(client: &Client, kind: &'static str, owner: i64) {
    ask(client, Op::Release, kind, owner).expect("held");
}

#[test]
fn readers_keep_writers_out_and_a_writer_everybody() {
    let (server, a, b) = pair();
    assert!(taken(&a, "read", 1) && taken(&b, "read", 1) && taken(&a, "read", 2));
    assert!(!taken(&b, "write", 3));
    for (client, owner) in [(&a, 1), (&b, 1), (&a, 2)] {
        give(client, "read", owner);
    }
    assert!(taken(&b, "write", 3));
    assert!(!taken(&a, "read", 1) && !taken(&b, "read", 1) && !taken(&a, "write", 1));
    give(&b, "write", 3);
    assert!(server.view().keys("*").is_empty());
}

#[test]
fn the_last_reader_wakes_a_writer_and_the_writer_wakes_every_reader() {
    let (server, a, b) = pair();
    let mut view = server.view();
    let lock = a.read_write_lock("n");
    let readers = [1, 2].map(|owner| lock.read().owner(owner).blocking().acquire().expect("free"));
    let (writer, mut heard) = (b.read_write_lock("n").write(), server.listen(CHANNEL));
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| writer.blocking().acquire().expect("woken"));
        eventually(|| view.listeners(CHANNEL) == 2);
        let [first, second] = readers;
        first.release().expect("held");
        assert_eq!(heard.heard(), [""; 0], "somebody still reads");
        second.release().expect("held");
        assert_eq!(heard.hear(), "0");
        let written = writing.join().expect("no panic");
        let reading: Vec<_> = (3..13)
            .map(|owner| {
                scope.spawn({
                    let lock = lock.clone();
                    move || lock.read().owner(owner).blocking().acquire().expect("woken")
                })
            })
            .collect();
        eventually(|| view.listeners(CHANNEL) == 2);
        written.release().expect("held");
        assert_eq!(heard.hear(), "1");
        for guard in reading {
            guard.join().expect("no panic").release().expect("held");
        }
    });
    eventually(|| view.keys("*").is_empty());
}

#[test]
fn who_writes_may_read_and_go_on_reading_which_others_are_told() {
    let (server, a, b) = pair();
    assert!(taken(&a, "write", 1) && taken(&a, "read", 1));
    let (mut view, mut heard) = (server.view(), server.listen(CHANNEL));
    std::thread::scope(|scope| {
        let other = scope.spawn(|| b.read_write_lock("n").read().owner(2).wait(secs(20)).blocking().acquire().expect("woken"));
        eventually(|| view.listeners(CHANNEL) == 2);
        give(&a, "write", 1);
        assert_eq!(heard.hear(), "1");
        let other = other.join().expect("no panic");
        assert!(!taken(&b, "write", 3) && taken(&a, "read", 9));
        other.release().expect("held");
    });
    give(&a, "read", 9);
    give(&a, "read", 1);
    assert!(view.keys("*").is_empty());
}

#[test]
fn who_reads_and_would_wait_for_ever_to_write_is_told() {
    let (_server, a, _) = pair();
    assert!(taken(&a, "read", 1));
    let again = a.run_blocking(Request { wait: None, ..Request::new(Op::Acquire, "write", "n", 1) });
    assert!(matches!(again, Err(Error::AlreadyHeld { .. })), "{again:?}");
    // With an end it is an answer, as with any other lock that is taken.
    assert!(!taken(&a, "write", 1));
    let later = a.run_blocking(Request { wait: Some(Duration::from_millis(100)), ..Request::new(Op::Acquire, "write", "n", 1) });
    assert!(!later.expect("answered").done);
    give(&a, "read", 1);
    assert!(taken(&a, "write", 1));
}

#[test]
fn a_nested_read_does_not_stop_the_renewal_of_the_writer() {
    let server = Server::start();
    let client = Client::connect(&format!("{}?watchdog=0.6", server.url())).expect("a good URL");
    let writer = client.read_write_lock("n").write().owner(1).blocking().acquire().expect("free");
    client.read_write_lock("n").read().owner(1).blocking().acquire().expect("own").release().expect("held");
    let end = Instant::now() + Duration::from_millis(1500);
    while Instant::now() < end {
        writer.ensure().expect("it is renewed");
        assert!(server.view().exists("n"));
        std::thread::sleep(Duration::from_millis(20));
    }
    writer.release().expect("held");
}

#[test]
fn a_dead_reader_is_not_kept_alive_by_others_and_a_writer_gets_it_when_its_time_is_over() {
    let (server, a, b) = pair();
    let quick = Client::connect(&format!("{}?watchdog=0.6", server.url())).expect("a good URL");
    let living = quick.read_write_lock("n").read().owner(2).blocking().acquire().expect("free");
    // A reader of a client that does not renew, as a dead one.
    let lease = Duration::from_millis(1200);
    a.run_blocking(Request { lease: Some(lease), ..Request::new(Op::Acquire, "read", "n", 1) }).expect("answered");
    let dead = format!("{{n}}:{}:1:rwlock_timeout:1", a.id());
    let mut view = server.view();
    eventually(|| !view.exists(&dead));
    living.ensure().expect("it is renewed");
    living.release().expect("held");
    let writer = b.read_write_lock("n").write().wait(secs(20)).blocking().acquire().expect("the dead one's time is over");
    writer.release().expect("held");
}

/// The plainest book-keeping there is: who reads how often, and who writes how often.
#[derive(Default)]
struct Model {
    readers: BTreeMap<i64, u32>,
    writer: Option<(i64, u32)>,
}

impl Model {
    fn read(&mut self, owner: i64) -> bool {
        let may = self.writer.is_none_or(|(writer, _)| writer == owner);
        if may {
            *self.readers.entry(owner).or_default() += 1;
        }
        may
    }

    fn write(&mut self, owner: i64) -> bool {
        let may = self.writer.map_or(self.readers.is_empty(), |(writer, _)| writer == owner);
        if may {
            self.writer = Some((owner, self.writer.map_or(0, |(_, count)| count) + 1));
        }
        may
    }

    fn read_no_more(&mut self, owner: i64) -> bool {
        let Some(count) = self.readers.get_mut(&owner) else { return false };
        *count -= 1;
        if *count == 0 {
            self.readers.remove(&owner);
        }
        true
    }

    fn write_no_more(&mut self, owner: i64) -> bool {
        let Some((_, count)) = self.writer.filter(|(writer, _)| *writer == owner) else { return false };
        self.writer = (count > 1).then_some((owner, count - 1));
        true
    }

    /// What the server is to have: the hash, and a key for each hold of each reader.
    fn stored(&self, field: impl Fn(i64) -> String) -> (BTreeMap<String, String>, Vec<String>) {
        let mut hash: BTreeMap<_, _> = self.readers.iter().map(|(owner, count)| (field(*owner), count.to_string())).collect();
        hash.extend(self.writer.map(|(owner, count)| (format!("{}:write", field(owner)), count.to_string())));
        if !hash.is_empty() {
            hash.insert("mode".into(), if self.writer.is_some() { "write" } else { "read" }.into());
        }
        let holds = |(owner, count): (&i64, &u32)| {
            let field = field(*owner);
            (1..=*count).map(move |hold| format!("{{n}}:{field}:rwlock_timeout:{hold}")).collect::<Vec<_>>()
        };
        let mut keys: Vec<_> = self.readers.iter().flat_map(holds).collect();
        keys.extend((!hash.is_empty()).then(|| "n".to_owned()));
        keys.sort();
        (hash, keys)
    }
}

fn play(view: &mut View, clients: &[Client; 2], history: &[(u8, u8)]) {
    let mut model = Model::default();
    let client = |owner: i64| &clients[owner as usize % 2];
    let field = |owner: i64| format!("{}:{owner}", client(owner).id());
    for (action, pick) in history {
        let owner = i64::from(pick % 4);
        let run = |op, kind| ask(client(owner), op, kind, owner);
        let (does, done) = match action % 6 {
            0 | 1 => (run(Op::Acquire, "read").map(|answer| answer.done), model.read(owner)),
            2 | 3 => (run(Op::Acquire, "write").map(|answer| answer.done), model.write(owner)),
            4 => (run(Op::Release, "read").map(|answer| answer.done), model.read_no_more(owner)),
            _ => (run(Op::Release, "write").map(|answer| answer.done), model.write_no_more(owner)),
        };
        match does {
            Err(Error::NotHeld { .. }) => assert!(!done, "{action} by {owner}: it is held"),
            answer => assert_eq!(answer.expect("answered"), done, "{action} by {owner}"),
        }
        assert_eq!((view.hgetall("n"), view.keys("*n*")), model.stored(field));
        for other in 0..4 {
            let count = |kind| ask(client(other), Op::Inspect, kind, other).expect("answered").items[0];
            assert_eq!(count("read"), i64::from(model.readers.get(&other).copied().unwrap_or_default()));
            assert_eq!(count("write"), i64::from(model.writer.filter(|(writer, _)| *writer == other).map_or(0, |(_, count)| count)));
        }
        let free = |kind| ask(&clients[0], Op::Inspect, kind, 0).expect("answered").number == -2;
        assert_eq!((free("read"), free("write")), (model.readers.is_empty(), model.writer.is_none()));
    }
}

#[test]
fn every_answer_and_every_key_is_that_of_the_model() {
    let (server, a, b) = pair();
    let clients = [a, b];
    proptest!(ProptestConfig::with_cases(60), |(history in prop::collection::vec((any::<u8>(), any::<u8>()), 1..40))| {
        play(&mut server.view(), &clients, &history);
        for (kind, owner) in ["read", "write"].into_iter().flat_map(|kind| (0..4).map(move |owner| (kind, owner))) {
            while ask(&clients[owner as usize % 2], Op::Release, kind, owner).is_ok() {}
        }
    });
}
