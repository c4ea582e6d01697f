//! The model of a semaphore: a number.

use proptest::prelude::*;

use redlatch::SemaphorePermit;

use super::{Stage, play_all};

#[derive(Clone, Debug)]
enum Step {
    Take(i64),
    Give(i64),
    GiveIfThere(i64),
    Drain,
    TrySet(i64),
    Add(i64),
    Delete,
}

fn step() -> impl Strategy<Value = (i64, Step)> {
    let step = prop_oneof![
        4 => (1..5_i64).prop_map(Step::Take),
        3 => (1..5_i64).prop_map(Step::Give),
        2 => (1..5_i64).prop_map(Step::GiveIfThere),
        1 => Just(Step::Drain),
        2 => (0..6_i64).prop_map(Step::TrySet),
        2 => (-4..5_i64).prop_map(Step::Add),
        1 => Just(Step::Delete),
    ];
    (0..2_i64, step)
}

fn play(stage: &Stage, name: &str, history: &[(i64, Step)]) {
    let mut view = stage.server.view();
    let mut listener = stage.server.listen(&format!("redisson_sc:{{{name}}}"));
    let mut there = None::<i64>;
    for (client, step) in history {
        let semaphore = stage.client(*client).semaphore(name);
        let mut told = false;
        match *step {
            Step::Take(n) => {
                let may = there.is_some_and(|there| there >= n);
                let taken = semaphore.try_acquire(n as u64).blocking().expect("answered");
                assert_eq!(taken.map(SemaphorePermit::keep).is_some(), may, "{step:?}");
                there = there.map(|there| if may { there - n } else { there });
            }
            Step::Give(n) => {
                semaphore.release(n as u64).blocking().expect("answered");
                there = Some(there.unwrap_or_default() + n);
                told = true;
            }
            Step::GiveIfThere(n) => {
                assert_eq!(
                    semaphore.release_if_exists(n as u64).blocking().expect("answered"),
                    there.is_some(),
                    "{step:?}"
                );
                there = there.map(|there| there + n);
                told = there.is_some();
            }
            Step::Drain => {
                assert_eq!(
                    semaphore.drain().blocking().expect("answered"),
                    there.unwrap_or_default().max(0) as u64,
                    "{step:?}"
                );
                there = there.map(|there| there.min(0));
            }
            Step::TrySet(n) => {
                told = there.is_none();
                assert_eq!(semaphore.try_set_permits(n as u64).blocking().expect("answered"), told, "{step:?}");
                there = there.or(Some(n));
            }
            Step::Add(n) => {
                there = Some(there.unwrap_or_default() + n);
                let by = n.unsigned_abs();
                let change = if n < 0 { semaphore.remove_permits(by) } else { semaphore.add_permits(by) };
                assert_eq!(change.blocking().ok(), there.map(|there| there.max(0) as u64), "{step:?}");
                told = true;
            }
            Step::Delete => {
                assert_eq!(semaphore.delete().blocking().expect("answered"), there.is_some(), "{step:?}");
                there = None;
            }
        }
        assert_eq!(view.command::<Option<i64>>(&["GET", name]), there, "after {step:?}");
        for client in &stage.clients {
            assert_eq!(
                client.semaphore(name).available().blocking().expect("answered"),
                there.unwrap_or_default().max(0) as u64,
                "after {step:?}"
            );
        }
        // No message tells of fewer than zero permits.
        let told = there.filter(|there| told && *there >= 0).map(|there| there.to_string());
        assert_eq!(listener.heard(), told.into_iter().collect::<Vec<_>>(), "after {step:?}");
    }
}

#[test]
fn every_answer_key_and_message_of_a_semaphore_is_that_of_the_model() {
    play_all(step(), play);
}
