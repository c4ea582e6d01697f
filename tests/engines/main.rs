//! The locks of MySQL and MariaDB, on a real server.

use redlatch::Client;
use redlatch_tests::*;

#[test]
fn smoke() {
    let server = Mariadb::shared();
    let client = Client::connect(&server.url()).expect("a good URL");
    let guard = client.lock("n").blocking().acquire().expect("free");
    let mut sql = server.sql();
    assert!(!sql.lock("n", 0));
    guard.release().expect("held");
    assert!(sql.lock("n", 0));
    let one = Client::connect(&server.url()).expect("a good URL");
    assert!(one.lock("n").blocking().try_acquire().expect("answered").is_none());
    let waits = std::thread::spawn(move || one.lock("n").wait(secs(5)).blocking().acquire().expect("woken").release());
    eventually("a waiter", || (sql.waiting() == 1).then_some(()));
    assert!(sql.unlock("n"));
    waits.join().expect("no panic").expect("held");
    let begun = std::time::Instant::now();
    for _ in 0..2000 {
        client.lock("m").blocking().acquire().expect("free").release().expect("held");
    }
    println!("{:?} a pair", begun.elapsed() / 2000);
}
