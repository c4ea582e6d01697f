//! A lock that is handed on inside a process costs no statement.

use std::time::Instant;

use redlatch_tests::{Mariadb, Sql, secs};

use crate::client;

fn statements(sql: &mut Sql) -> u64 {
    let count = "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'QUESTIONS'";
    sql.ask(count).and_then(|count| count.parse().ok()).expect("a number")
}

#[test]
fn owners_of_one_process_hand_the_lock_on_without_the_server() {
    const EACH: u64 = 200;
    let server = Mariadb::start();
    // A turn that lasts even on a busy machine.
    let ours = client(&server, "turn=0.5");
    let mut sql = server.sql();
    ours.lock("n").blocking().acquire().expect("free").release().expect("held");
    let before = statements(&mut sql);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for owner in 1..=16 {
            let ours = &ours;
            scope.spawn(move || {
                for _ in 0..EACH {
                    let guard = ours.lock("n").owner(owner).wait(secs(60)).blocking().acquire().expect("its turn");
                    guard.release().expect("held");
                }
            });
        }
    });
    let (took, sent) = (begun.elapsed(), statements(&mut sql) - before);
    println!("{} acquisitions by {sent} statements in {took:?}", 16 * EACH);
    assert!(sent < 16 * EACH / 2, "{sent} statements");
}

#[test]
fn ten_thousand_locks_are_renewed_by_one_statement() {
    let server = Mariadb::start();
    let ours = client(&server, "watchdog=6");
    let guards: Vec<_> =
        (0..10_000).map(|at| ours.lock(&format!("n{at}")).blocking().acquire().expect("free")).collect();
    let mut sql = server.sql();
    let before = statements(&mut sql);
    std::thread::sleep(secs(8));
    let sent = statements(&mut sql) - before;
    println!("{sent} statements in 8 s for 10,000 locks of 6 s");
    assert!(sent <= 12, "{sent} statements in 8 s");
    guards.iter().for_each(|guard| guard.ensure().expect("it is renewed"));
}
