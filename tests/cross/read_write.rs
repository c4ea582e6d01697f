//! Reading and writing between languages.

use std::time::Duration;

use redlatch_tests::eventually;

use crate::party::{Party, SOON};
use crate::stage::{STAGE, every_pair, kinds};
use crate::waiting::wait_for;

/// Far longer than any wait in these tests.
const LONG: Duration = Duration::from_secs(60);

/// Runs `check` for every ordered pair of languages. Each side has its read lock and its write lock.
fn every_pair_of_sides(case: &str, check: impl Fn([&Party; 2], [&Party; 2]) + Sync) {
    every_pair(
        case,
        |kind| kind.name == "read",
        |one, two| check([one, &one.of_kind("write")], [two, &two.of_kind("write")]),
    );
}

#[test]
fn readers_of_all_languages_share_a_lock_and_exclude_writers() {
    every_pair_of_sides("shared", |[read, write], [other_read, other_write]| {
        let mut view = STAGE.server.view();
        read.lock(None);
        read.lock(None);
        other_read.lock(None);
        let holds =
            |view: &mut redlatch_tests::View| view.keys(&format!("{{{}}}:*:rwlock_timeout:*", read.name())).len();
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
        writing.within(SOON).expect("no reader is left");
        let reading = wait_for(read, &mut view);
        assert_eq!(reading.now(), None);
        other_write.unlock();
        reading.within(SOON).expect("no writer is left");
        other_read.lock(None);
        for reader in [read, other_read] {
            reader.unlock();
        }
        let _ = write;
    });
}

#[test]
fn a_writer_may_go_on_reading_and_lets_others_read() {
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
        // Redisson before 4.3 keeps its memory of an unlock until that memory ends by itself.
        let mut left = || {
            view.keys(&format!("*{}*", read.name())).into_iter().find(|key| !key.starts_with("redisson_unlock_latch"))
        };
        eventually("nothing left", || left().is_none().then_some(()));
    });
}

/// A third writer from redlatch and one from Redisson, beside these two parties. If both parties are Redissons, there
/// is no third Redisson.
fn other_writers<'a>(name: &'a str, two: [&'a Party; 2]) -> impl Iterator<Item = Party<'a>> {
    let kind = kinds(|kind| kind.name == "write").next().expect("it is in the table");
    let all = || STAGE.agents().map(move |agent| Party::new(agent, kind, name));
    let is_other = move |writer: &Party| two.iter().all(|party| party.of_kind("write").field() != writer.field());
    let ours = all().find(move |writer| !writer.is_redisson() && is_other(writer));
    let redissons = all().find(move |writer| writer.is_redisson() && is_other(writer));
    [Some(ours.expect("there are more than two of ours")), redissons].into_iter().flatten()
}

/// The dead reader's field is still there. The lock lives for as long as the lease that the living reader asked for.
#[test]
fn a_writer_comes_in_at_once_when_the_last_living_reader_goes_though_a_dead_reader_of_another_library_is_left() {
    every_pair_of_sides("dead reader", |[dead, _], [living, _]| {
        let mut view = STAGE.server.view();
        for writer in other_writers(dead.name(), [dead, living]) {
            dead.lock(Some(Duration::from_millis(500)));
            living.lock(Some(LONG));
            let hold = format!("{{{}}}:{}:rwlock_timeout:1", dead.name(), dead.field());
            eventually("a reader whose hold has ended", || (!view.exists(&hold)).then_some(()));
            assert!(dead.has(&mut view), "its field is left");
            let writing = wait_for(&writer, &mut view);
            assert!(view.pttl(dead.name()) > 4 * SOON.as_millis() as i64);
            assert_eq!(writing.now(), None);
            living.unlock();
            writing.within(SOON).expect("no reader is left");
            writer.unlock();
            assert!(!view.exists(dead.name()));
        }
    });
}
