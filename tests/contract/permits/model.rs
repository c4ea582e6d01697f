//! What the server has of a semaphore, after any history.

use proptest::prelude::*;
use redlatch::Client;
use redlatch_tests::Server;

use super::super::pair;
use super::CHANNEL;

/// Every answer, the key and what waiters are told, by the plainest book-keeping there is.
fn play(server: &Server, clients: &[Client; 2], history: &[(u8, u8)]) {
    let mut view = server.view();
    view.command::<()>(&["DEL", "n"]);
    let (mut listener, mut there) = (server.listen(CHANNEL), None::<i64>);
    for (action, pick) in history {
        let (semaphore, n) = (clients[usize::from(*pick) % 2].semaphore("n"), i64::from(pick % 4) + 1);
        let mut told = None;
        match action % 7 {
            0 | 1 => {
                let may = there.is_some_and(|there| there >= n);
                assert_eq!(semaphore.try_acquire(n).blocking().expect("answered"), may);
                there = there.map(|there| if may { there - n } else { there });
            }
            2 => {
                semaphore.release(n).blocking().expect("answered");
                there = Some(there.unwrap_or_default() + n);
                told = there.filter(|there| *there >= 0);
            }
            3 => {
                assert_eq!(semaphore.release_if_exists(n).blocking().expect("answered"), there.is_some());
                there = there.map(|there| there + n);
                told = there.filter(|there| *there >= 0);
            }
            4 => {
                assert_eq!(semaphore.drain().blocking().expect("answered"), there.unwrap_or_default().max(0));
                there = there.map(|there| there.min(0));
            }
            5 => {
                assert_eq!(semaphore.try_set_permits(n).blocking().expect("answered"), there.is_none());
                told = there.is_none().then_some(n);
                there = there.or(Some(n));
            }
            _ => {
                there = Some(there.unwrap_or_default() + n - 3);
                assert_eq!(semaphore.add_permits(n - 3).blocking().ok(), there);
                told = there.filter(|there| *there >= 0);
            }
        }
        assert_eq!(view.command::<Option<i64>>(&["GET", "n"]), there);
        assert_eq!(semaphore.available().blocking().expect("answered"), there.unwrap_or_default());
        assert_eq!(listener.heard(), told.map(|told| told.to_string()).into_iter().collect::<Vec<_>>());
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
