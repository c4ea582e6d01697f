//! What the server has of permits with ids, after any history.

use proptest::prelude::*;
use redlatch::{Client, Permit, PermitId};
use redlatch_tests::{Server, View};

use super::super::pair;
use super::{CHANNEL, LEASES, counts, out};

/// As if every permit had ended long ago.
fn end_all(view: &mut View) {
    let text = "for _, id in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('ZADD', KEYS[1], 1, id) end";
    view.command::<()>(&["EVAL", text, "1", LEASES]);
}

/// Every answer, both keys and what waiters are told, by the plainest book-keeping there is.
fn play(server: &Server, clients: &[Client; 2], history: &[(u8, u8)]) {
    let mut view = server.view();
    view.command::<()>(&["DEL", "n", LEASES]);
    let (mut listener, mut there, mut ids, mut ended) = (server.listen(CHANNEL), None::<i64>, Vec::<PermitId>::new(), Vec::new());
    for (action, pick) in history {
        let (semaphore, n) = (clients[usize::from(*pick) % 2].permit_semaphore("n"), i64::from(pick % 4) + 1);
        let mut told = Vec::new();
        // What has ended goes back with the next call that looks for it.
        let mut reap = |there: &mut Option<i64>, told: &mut Vec<i64>| {
            if !ended.is_empty() {
                *there = Some(there.unwrap_or_default() + ended.len() as i64);
                told.extend(there.filter(|there| *there > 0));
                ended.clear();
            }
        };
        match action % 7 {
            0 | 1 => {
                reap(&mut there, &mut told);
                let taken = semaphore.try_acquire_many(n).blocking().expect("answered");
                assert_eq!(taken.is_some(), there.is_some_and(|there| there >= n));
                if let Some(taken) = taken {
                    there = there.map(|there| there - n);
                    ids.extend(taken.into_iter().map(Permit::keep));
                }
            }
            2 => {
                reap(&mut there, &mut told);
                let back: Vec<_> = ids.iter().copied().take(n as usize).collect();
                if !back.is_empty() {
                    assert!(semaphore.try_release_many(&back).blocking().expect("answered"));
                    ids.drain(..back.len());
                    there = Some(there.unwrap_or_default() + back.len() as i64);
                    told.extend(there.filter(|there| *there > 0));
                } else {
                    assert!(!semaphore.try_release(PermitId::from_halves(1, n)).blocking().expect("answered"));
                }
            }
            3 => {
                end_all(&mut view);
                ended.append(&mut ids);
            }
            4 => {
                semaphore.set_permits(n).blocking().expect("answered");
                let out = (ids.len() + ended.len()) as i64;
                there = Some(there.map_or(n, |_| n - out));
                told.extend(there.filter(|there| *there > 0));
            }
            5 => {
                assert_eq!(semaphore.try_set_permits(n).blocking().expect("answered"), there.is_none());
                told.extend(there.is_none().then_some(n));
                there = there.or(Some(n));
            }
            _ => {
                there = Some(there.unwrap_or_default() + n - 3);
                assert_eq!(semaphore.add_permits(n - 3).blocking().ok(), there);
                told.extend(there.filter(|there| *there >= 0));
            }
        }
        assert_eq!(view.command::<Option<i64>>(&["GET", "n"]), there);
        assert_eq!(out(&mut view).len(), ids.len() + ended.len());
        let available = there.unwrap_or_default() + ended.len() as i64;
        let all = there.map_or(0, |_| available + ids.len() as i64);
        assert_eq!(counts(&semaphore), [available, ids.len() as i64, all]);
        assert_eq!(listener.heard(), told.iter().map(i64::to_string).collect::<Vec<_>>());
    }
}

#[test]
fn every_answer_key_and_message_is_that_of_the_model() {
    let (server, a, b) = pair();
    let clients = [a, b];
    proptest!(ProptestConfig::with_cases(60), |(history in prop::collection::vec((any::<u8>(), any::<u8>()), 1..40))| {
        play(&server, &clients, &history);
    });
}
