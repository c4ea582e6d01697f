//! Reading and writing between languages.

use std::time::Duration;

use redlatch_tests::eventually;

use crate::party::{Party, SOON};
use crate::stage::{STAGE, every_pair};
use crate::waiting::wait_for;

/// Runs `check` for every ordered pair of languages, each side with its locks for reading and for writing.
fn every_pair_of_sides(case: &str, check: impl Fn([&Party; 2], [&Party; 2]) + Sync) {
    every_pair(case, |kind| kind.name == "read", |one, two| check([one, &one.of_kind("write")], [two, &two.of_kind("write")]));
}

#[test]
fn all_read_together_and_nobody_writes_meanwhile() {
    every_pair_of_sides("shared", |[read, write], [other_read, other_write]| {
        let mut view = STAGE.server.view();
        read.lock(None);
        read.lock(None);
        other_read.lock(None);
        let holds = |view: &mut redlatch_tests::View| view.keys(&format!("{{{}}}:*:rwlock_timeout:*", read.name())).len();
        assert_eq!((holds(&mut view), view.hgetall(read.name()).len()), (3, 3));
        assert!(read.is_held() && other_read.is_held());
        assert!(!other_write.try_lock(Duration::ZERO) && !write.try_lock(Duration::ZERO));
        read.unlock();
        other_read.unlock();
        assert_eq!(holds(&mut view), 1);
        assert!(!other_write.try_lock(Duration::ZERO));
        read.unlock();
        assert_eq!(holds(&mut view), 0);
        assert!(other_write.try_lock(Duration::ZERO));
        assert!(!read.try_lock(Duration::ZERO));
        other_write.unlock();
        assert!(!view.exists(read.name()));
    });
}

#[test]
fn the_last_reader_wakes_a_writer_and_a_writer_its_readers() {
    every_pair_of_sides("read and write", |[read, write], [other_read, other_write]| {
        let mut view = STAGE.server.view();
        read.lock(None);
        let writing = wait_for(other_write, &mut view);
        assert_eq!(writing.now(), None);
        read.unlock();
        writing.within(SOON).expect("nobody reads");
        let reading = wait_for(read, &mut view);
        assert_eq!(reading.now(), None);
        other_write.unlock();
        reading.within(SOON).expect("nobody writes");
        other_read.lock(None);
        for reader in [read, other_read] {
            reader.unlock();
        }
        let _ = write;
    });
}

#[test]
fn who_writes_may_go_on_reading_and_lets_others_read() {
    every_pair_of_sides("downgrade", |[read, write], [other_read, other_write]| {
        write.lock(None);
        read.lock(None);
        assert!(!other_read.try_lock(Duration::ZERO));
        write.unlock();
        assert!(other_read.try_lock(Duration::ZERO));
        assert!(!other_write.try_lock(Duration::ZERO));
        read.unlock();
        other_read.unlock();
        assert!(other_write.try_lock(Duration::ZERO));
        other_write.unlock();
    });
}

#[test]
fn a_reader_whose_lease_ends_lets_a_writer_in() {
    every_pair_of_sides("read lease", |[read, _], [_, other_write]| {
        let lease = Duration::from_millis(1500);
        read.lock(Some(lease));
        other_write.begin_lock(None).within(lease + SOON).expect("the lease ended");
        read.unlock_in_vain();
        other_write.unlock();
        let mut view = STAGE.server.view();
        // Redisson before 4.3 leaves what it remembers an unlock by until that ends by itself.
        let mut left = || view.keys(&format!("*{}*", read.name())).into_iter().find(|key| !key.starts_with("redisson_unlock_latch"));
        eventually("nothing left", || left().is_none().then_some(()));
    });
}
