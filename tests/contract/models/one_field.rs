//! The model of the locks that share a field of the server: an owner's holds by all of these kinds are one count.

use std::time::Duration;

use proptest::prelude::*;
use redlatch::Error;
use redlatch::ffi::{Answer, Border, Look, Op, Request};

use super::{Stage, play_all};

#[derive(Clone, Copy, Debug)]
enum Act {
    /// Takes the lock, with the watchdog or for a lease in seconds.
    Take(Option<u64>),
    /// Releases the latest hold of that kind.
    Give,
    /// Releases the hold of that kind with this place among the holds.
    GiveOne(usize),
    /// Has the hold at this place last for so many seconds.
    Extend(usize, u64),
    /// The key goes, as by another program.
    Delete,
}

type Step = (i64, Act, &'static str);

/// Two owners of each of two clients.
const OWNERS: std::ops::Range<i64> = 0..4;
const KINDS: [&str; 6] = ["plain", "spin", "non_reentrant", "fenced", "fair", "non_reentrant_fair"];

fn step() -> impl Strategy<Value = Step> {
    let lease = prop_oneof![2 => Just(None), 1 => (5_u64..100).prop_map(Some)];
    let act = prop_oneof![
        6 => lease.prop_map(Act::Take),
        3 => Just(Act::Give),
        2 => (0_usize..8).prop_map(Act::GiveOne),
        2 => (0_usize..8, 5_u64..100).prop_map(|(place, seconds)| Act::Extend(place, seconds)),
        1 => Just(Act::Delete),
    ];
    // Mostly the same owner: the others only show that the lock is not theirs.
    (prop_oneof![8 => Just(0), 1 => OWNERS], act, prop::sample::select(&KINDS[..]))
}

/// The holder, and its holds in their order.
#[derive(Default)]
struct Model {
    owner: i64,
    holds: Vec<(&'static str, u64)>,
    /// The holds that went with the key, of which the program has not heard.
    lost: Vec<(&'static str, u64, i64)>,
}

impl Model {
    fn is_free(&self) -> bool {
        self.holds.is_empty()
    }

    fn has(&self, owner: i64) -> bool {
        !self.is_free() && self.owner == owner
    }

    /// The place of the hold that a release by that kind ends: the owner's latest by it, or else its latest by any kind. The
    /// loss of a hold by that kind comes first.
    fn given(&self, kind: &str, owner: i64) -> Option<usize> {
        let latest = self.holds.iter().rposition(|(other, _)| *other == kind);
        let is_lost = || self.lost.iter().any(|lost| (lost.0, lost.2) == (kind, owner));
        let any = || self.holds.len().checked_sub(1).filter(|_| !is_lost());
        latest.or_else(any).filter(|_| self.has(owner))
    }
}

fn is_once(kind: &str) -> bool {
    kind.starts_with("non_reentrant")
}

fn play(stage: &Stage, name: &str, history: &[Step]) {
    let mut model = Model::default();
    let mut view = stage.server.view();
    let ask = |op: Op, kind: &'static str, owner: i64, hold: u64, lease: Option<u64>| -> Result<Answer, Error> {
        let lease = lease.map(Duration::from_secs);
        let request = Request { hold, lease, wait: Some(Duration::ZERO), ..Request::new(op, kind, name, owner) };
        stage.client(owner).run_blocking(request)
    };
    for step @ (owner, act, kind) in history.iter().copied() {
        match act {
            Act::Take(lease) => match ask(Op::Acquire, kind, owner, 0, lease) {
                Ok(answer) => {
                    assert_eq!(answer.done, model.is_free() || model.has(owner), "{step:?}");
                    if answer.done {
                        assert!(model.is_free() || !is_once(kind), "{step:?}: it has the lock already");
                        model.owner = owner;
                        model.holds.push((kind, answer.number as u64));
                    }
                }
                Err(Error::AlreadyHeld { .. }) => assert!(model.has(owner) && is_once(kind), "{step:?}"),
                Err(error) => panic!("{step:?}: {error}"),
            },
            Act::Give => match model.given(kind, owner) {
                Some(place) => {
                    ask(Op::Release, kind, owner, 0, None).unwrap_or_else(|error| panic!("{step:?}: {error}"));
                    model.holds.remove(place);
                }
                None => match ask(Op::Release, kind, owner, 0, None) {
                    Err(Error::NotHeld { .. }) => {}
                    Err(Error::Lost(_)) => {
                        let told = model.lost.iter().rposition(|lost| (lost.0, lost.2) == (kind, owner));
                        model.lost.remove(told.unwrap_or_else(|| panic!("{step:?}: nothing was lost")));
                    }
                    other => panic!("{step:?}: {other:?}"),
                },
            },
            Act::GiveOne(place) if place < model.holds.len() => {
                let (kind, number) = model.holds.remove(place);
                ask(Op::Release, kind, model.owner, number, None).unwrap_or_else(|error| panic!("{step:?}: {error}"));
            }
            Act::Extend(place, seconds) if place < model.holds.len() => {
                let (kind, number) = model.holds[place];
                let extended = ask(Op::Extend, kind, model.owner, number, Some(seconds));
                extended.unwrap_or_else(|error| panic!("{step:?}: {error}"));
            }
            Act::GiveOne(_) | Act::Extend(..) => {}
            Act::Delete if model.is_free() => {}
            Act::Delete => {
                view.command::<()>(&["DEL", name]);
                // A question of the owner tells the client, whichever kind it asks by.
                let reentrant = if is_once(kind) { "plain" } else { kind };
                let again = ask(Op::Acquire, reentrant, model.owner, 0, None).expect("answered");
                assert!(again.done, "{step:?}: it is free");
                let owner = model.owner;
                model.lost.extend(model.holds.drain(..).map(|(kind, number)| (kind, number, owner)));
                model.holds.push((reentrant, again.number as u64));
            }
        }
        let client = stage.client(model.owner);
        let fields: Vec<_> = view.hgetall(name).into_iter().collect();
        let wanted =
            (!model.is_free()).then(|| (format!("{}:{}", client.id(), model.owner), model.holds.len().to_string()));
        assert_eq!(fields, Vec::from_iter(wanted), "after {step:?}");
        for (kind, number) in &model.holds {
            let Look::Held { remaining } = client.look(*number) else { panic!("{kind} is lost after {step:?}") };
            // The client's answer came first, so the server's clock went on meanwhile.
            let left = Duration::from_millis(view.command::<u64>(&["PTTL", name]));
            assert!(remaining <= left, "after {step:?} {kind} is believed in for {remaining:?}, the key has {left:?}");
        }
        for (kind, number, owner) in &model.lost {
            assert!(matches!(stage.client(*owner).look(*number), Look::Lost(_)), "{kind} is not lost after {step:?}");
        }
    }
    while let Some((kind, number)) = model.holds.pop() {
        ask(Op::Release, kind, model.owner, number, None).expect("held");
    }
    assert!(!view.exists(name));
}

#[test]
fn histories_of_locks_that_share_a_field_match_one_count_for_each_owner() {
    play_all(step(), play);
}
