//! The model of a read-write lock: each owner's number of reads and of writes.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use redlatch::Error;
use redlatch::ffi::{Answer, Border, Op, Request};

use super::{Stage, play_all};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Read,
    Write,
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Take,
    Give,
    /// A forced release of that half of the lock.
    Evict,
}

type Step = (i64, Act, Way);

const OWNERS: std::ops::Range<i64> = 0..4;

fn step() -> impl Strategy<Value = Step> {
    let act = prop_oneof![5 => Just(Act::Take), 4 => Just(Act::Give), 1 => Just(Act::Evict)];
    (OWNERS, act, prop_oneof![Just(Way::Read), Just(Way::Write)])
}

#[derive(Default)]
struct Model {
    readers: BTreeMap<i64, u32>,
    writer: Option<(i64, u32)>,
    /// Owners whose holds were forced away. The answer to their release depends on when they learn of it.
    evicted: BTreeSet<(Way, i64)>,
}

impl Model {
    fn count(&self, way: Way, owner: i64) -> u32 {
        match way {
            Way::Read => self.readers.get(&owner).copied().unwrap_or_default(),
            Way::Write => self.writer.filter(|(writer, _)| *writer == owner).map_or(0, |(_, count)| count),
        }
    }

    fn set(&mut self, way: Way, owner: i64, count: u32) {
        match (way, count) {
            (Way::Write, _) => self.writer = (count > 0).then_some((owner, count)),
            (Way::Read, 0) => drop(self.readers.remove(&owner)),
            (Way::Read, _) => drop(self.readers.insert(owner, count)),
        }
    }

    fn may_take(&self, way: Way, owner: i64) -> bool {
        match way {
            Way::Read => self.writer.is_none_or(|(writer, _)| writer == owner),
            Way::Write => self.writer.map_or(self.readers.is_empty(), |(writer, _)| writer == owner),
        }
    }

    /// True: there was a holder.
    fn evict(&mut self, way: Way) -> bool {
        let there = match way {
            Way::Read => self.writer.is_none() && !self.readers.is_empty(),
            Way::Write => self.writer.is_some(),
        };
        if there {
            self.evicted.extend(std::mem::take(&mut self.readers).into_keys().map(|owner| (Way::Read, owner)));
            self.evicted.extend(self.writer.take().map(|(owner, _)| (Way::Write, owner)));
        }
        there
    }

    /// The state that the server must have: the hash, and a key for each hold of each reader.
    fn stored(&self, name: &str, field: impl Fn(i64) -> String) -> (BTreeMap<String, String>, Vec<String>) {
        let mut hash: BTreeMap<_, _> =
            self.readers.iter().map(|(owner, count)| (field(*owner), count.to_string())).collect();
        hash.extend(self.writer.map(|(owner, count)| (format!("{}:write", field(owner)), count.to_string())));
        if !hash.is_empty() {
            hash.insert("mode".into(), if self.writer.is_some() { "write" } else { "read" }.into());
        }
        let hold = |owner: i64, number: u32| format!("{{{name}}}:{}:rwlock_timeout:{number}", field(owner));
        let holds = self.readers.iter().flat_map(|(owner, count)| (1..=*count).map(|number| hold(*owner, number)));
        let mut keys: Vec<_> = holds.chain((!hash.is_empty()).then(|| name.to_owned())).collect();
        keys.sort();
        (hash, keys)
    }
}

fn ask(stage: &Stage, name: &str, op: Op, way: Way, owner: i64) -> Result<Answer, Error> {
    let kind = if way == Way::Read { "read" } else { "write" };
    stage.client(owner).run_blocking(Request::new(op, kind, name, owner))
}

fn play(stage: &Stage, name: &str, history: &[Step]) {
    let mut model = Model::default();
    let mut view = stage.server.view();
    for step @ (owner, act, way) in history.iter().copied() {
        let count = model.count(way, owner);
        match act {
            Act::Take => {
                let may = model.may_take(way, owner);
                assert_eq!(ask(stage, name, Op::Acquire, way, owner).expect("answered").done, may, "{step:?}");
                if may {
                    model.set(way, owner, count + 1);
                }
            }
            Act::Give if count > 0 => {
                ask(stage, name, Op::Release, way, owner).unwrap_or_else(|error| panic!("{step:?}: {error}"));
                model.set(way, owner, count - 1);
            }
            Act::Give => match ask(stage, name, Op::Release, way, owner) {
                Err(Error::NotHeld { .. }) => {}
                Err(Error::Lost(_)) if model.evicted.contains(&(way, owner)) => {}
                other => panic!("{step:?}: {other:?}"),
            },
            Act::Evict => {
                let number = i64::from(model.evict(way));
                assert_eq!(
                    ask(stage, name, Op::ForceRelease, way, owner).expect("answered").number,
                    number,
                    "{step:?}"
                );
            }
        }
        let field = |owner: i64| format!("{}:{owner}", stage.client(owner).id());
        let keys = [view.keys(name), view.keys(&format!("{{{name}}}*"))].concat();
        let wanted = model.stored(name, field);
        assert_eq!((view.hgetall(name), keys.len()), (wanted.0, wanted.1.len()), "after {step:?}");
        assert!(wanted.1.iter().all(|key| keys.contains(key)), "after {step:?}: {keys:?} instead of {:?}", wanted.1);
        for (way, is_held) in [(Way::Read, !model.readers.is_empty()), (Way::Write, model.writer.is_some())] {
            for other in OWNERS {
                let answer = ask(stage, name, Op::Inspect, way, other).expect("answered");
                assert_eq!(
                    (answer.items[0], answer.number != -2),
                    (model.count(way, other).into(), is_held),
                    "{way:?} {other} after {step:?}"
                );
            }
        }
    }
    for (way, owner) in [Way::Read, Way::Write].into_iter().flat_map(|way| OWNERS.map(move |owner| (way, owner))) {
        (0..model.count(way, owner)).for_each(|_| drop(ask(stage, name, Op::Release, way, owner).expect("held")));
    }
    assert!(!view.exists(name));
}

#[test]
fn every_answer_and_every_key_of_a_read_write_lock_is_that_of_the_model() {
    play_all(step(), play);
}
