use std::time::Duration;

use redlatch::Holder;

use super::event::{Change, Event, parties};
use super::known::{Known, Next, Watch};
use super::sight::Sight;

const SECOND: Duration = Duration::from_secs(1);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The owner `1`, `2`, … of a process.
fn holder(owner: &str) -> Holder {
    let mut holder = Holder::default();
    holder.client = "0a5d2c4e-0000-4000-8000-000000000000".to_owned();
    holder.owner = owner.to_owned();
    holder.host = Some("api".to_owned());
    holder.process = Some(1);
    holder
}

fn held(kind: &'static str, owners: &[&str], left: u64) -> Option<Sight> {
    Some(Sight {
        name: "n".to_owned(),
        kind,
        is_certain: true,
        holders: owners.iter().map(|owner| holder(owner)).collect(),
        holder_count: owners.len() as u64,
        remaining: Some(ms(left)),
        waiting: Some(0),
        queue: Vec::new(),
        token: None,
    })
}

fn fenced(owner: &str, token: i64) -> Option<Sight> {
    held("fenced", &[owner], 30_000).map(|sight| Sight { token: Some(token), ..sight })
}

/// A watch whose first listing is over.
struct Case {
    watch: Watch,
    now: Duration,
}

impl Case {
    fn new() -> Self {
        let mut watch = Watch::new(SECOND);
        watch.listing_done(ms(0), ms(0));
        Case { watch, now: ms(0) }
    }

    /// The next look, so long after the last one; gives the sentences of its events.
    fn look(&mut self, later: u64, sight: Option<Sight>) -> Vec<String> {
        self.now += ms(later);
        self.watch.looked("n", sight, self.now, self.now);
        self.told()
    }

    fn told(&mut self) -> Vec<String> {
        self.watch.take_events().iter().map(|event| event.sentence()).collect()
    }

    fn lock(&self) -> &Known {
        self.watch.locks().next().expect("it is known").1
    }
}

#[test]
fn a_lock_that_was_held_before_the_first_listing_was_over_is_no_news() {
    let mut watch = Watch::new(SECOND);
    watch.listed(held("plain", &["1"], 30_000).expect("held"), ms(5));
    watch.listing_done(ms(0), ms(6));
    assert!(watch.take_events().is_empty() && watch.locks().count() == 1);
    let mut case = Case::new();
    case.watch.listed(held("plain", &["1"], 30_000).expect("held"), ms(5));
    assert_eq!(case.told(), ["acquired by api:1 owner 1"]);
}

#[test]
fn a_lock_goes_from_holder_to_holder() {
    let mut case = Case::new();
    assert_eq!(case.look(0, held("plain", &["1"], 30_000)), ["acquired by api:1 owner 1"]);
    assert!(case.look(1000, held("plain", &["1"], 29_000)).is_empty());
    assert_eq!(case.lock().since, ms(0));
    assert_eq!(case.look(1000, held("plain", &["2"], 30_000)), ["passed on: api:1 owner 1 → api:1 owner 2"]);
    assert_eq!(case.lock().since, ms(2000));
    assert_eq!(case.look(1000, None), ["gone before its end: api:1 owner 2 released it, or it was deleted"]);
    assert_eq!(case.look(1000, held("plain", &["2"], 30_000)), ["acquired by api:1 owner 2"]);
}

#[test]
fn a_lock_has_expired_if_a_look_shortly_before_its_end_found_it_held() {
    let mut case = Case::new();
    case.look(0, held("plain", &["1"], 1000));
    assert_eq!(case.watch.next(ms(949), 1), Next::At(ms(950)));
    assert!(case.look(950, held("plain", &["1"], 50)).is_empty());
    assert_eq!(case.watch.next(ms(1009), 1), Next::At(ms(1010)));
    assert_eq!(case.watch.next(ms(1010), 1), Next::Look(vec!["n".to_owned()]));
    assert_eq!(case.look(60, None), ["expired: api:1 owner 1 did not release it"]);
    assert_eq!(case.watch.expired(SECOND * 60), 1);
    assert_eq!(case.watch.expired(SECOND * 7200), 0);

    case.look(0, held("plain", &["1"], 50));
    assert_eq!(
        case.look(60, held("plain", &["2"], 30_000)),
        ["expired: api:1 owner 1 did not release it", "acquired by api:1 owner 2"]
    );
}

#[test]
fn a_look_long_after_the_end_cannot_tell_how_the_lock_ended() {
    let mut case = Case::new();
    case.look(0, held("plain", &["1"], 1000));
    assert_eq!(case.look(5000, None), ["gone: api:1 owner 1 released it, or it expired or was deleted"]);
}

#[test]
fn a_lock_that_is_gone_with_the_memory_of_its_server_was_not_released() {
    let mut case = Case::new();
    case.look(0, held("plain", &["1"], 30_000));
    case.watch.restarted(1);
    // The server has kept this lock.
    assert!(case.look(1000, held("plain", &["1"], 29_000)).is_empty());
    assert_eq!(case.look(1000, None), ["gone before its end: api:1 owner 1 released it, or it was deleted"]);
    let forgotten =
        "gone: api:1 owner 1 released it, or it went with the memory of a server that was started anew or replaced";
    case.look(1000, held("plain", &["1"], 30_000));
    case.watch.restarted(2);
    assert_eq!(case.look(1000, None), [forgotten]);
    case.look(1000, held("plain", &["1"], 30_000));
    case.watch.restarted(3);
    assert_eq!(case.look(1000, held("plain", &["2"], 30_000)), [forgotten, "acquired by api:1 owner 2"]);
    assert_eq!(case.look(1000, held("plain", &["1"], 30_000)), ["passed on: api:1 owner 2 → api:1 owner 1"]);
    // The screen shows it in red.
    case.watch.restarted(4);
    case.watch.looked("n", None, case.now, case.now + ms(1));
    let events: Vec<_> = case.watch.take_events().iter().map(|event| (event.word(), event.is_trouble())).collect();
    assert_eq!(events, [("forgotten", true)]);
}

#[test]
fn a_permit_that_this_program_has_given_back_is_told_once_and_the_others_stay() {
    let mut case = Case::new();
    case.look(0, held("permits", &["1", "2"], 30_000));
    case.told();
    case.watch.evicted("n", "permits", vec![holder("1")], ms(500));
    case.watch.looked("n", held("permits", &["1", "2"], 30_000), ms(400), ms(510));
    assert_eq!(case.told(), ["evicted: taken from api:1 owner 1 by this redlatch"]);
    assert_eq!(case.lock().sight.as_ref().map(|sight| sight.holder_count), Some(1));
    assert!(case.look(1000, held("permits", &["2"], 29_000)).is_empty());
    assert_eq!(case.lock().since, ms(0));
}

#[test]
fn readers_come_and_go() {
    let mut case = Case::new();
    case.look(0, held("read", &["1", "2"], 30_000));
    assert_eq!(
        case.look(1000, held("read", &["2", "3"], 30_000)),
        ["released by api:1 owner 1", "acquired by api:1 owner 3"]
    );
    assert_eq!(case.lock().since, ms(0), "the lock was read all the time");
    assert_eq!(
        case.look(1000, held("read", &["4"], 30_000)),
        ["passed on: api:1 owner 2, api:1 owner 3 → api:1 owner 4"]
    );
}

#[test]
fn a_permit_that_ends_alone_has_expired_and_one_that_goes_before_was_released() {
    let mut case = Case::new();
    let permits = |owners: &[&str], left: u64| {
        let mut sight = held("permits", owners, 30_000)?;
        sight.holders.iter_mut().for_each(|holder| holder.remaining = Some(ms(left)));
        Some(sight)
    };
    case.look(0, permits(&["1", "2", "3"], 1000));
    assert_eq!(case.look(900, permits(&["1", "2"], 100)), ["released by api:1 owner 3"]);
    assert_eq!(case.look(110, permits(&["1"], 900)), ["expired: api:1 owner 2 did not release it"]);
    // The number of permits is still there, and no client waits for one.
    let number = Sight { is_certain: false, ..held("semaphore", &[], 0).expect("made up") };
    assert_eq!(case.look(100, Some(number)), ["gone before its end: api:1 owner 1 released it, or it was deleted"]);
}

#[test]
fn of_very_many_readers_no_single_one_is_told() {
    let mut case = Case::new();
    let many = |owners: &[&str]| held("read", owners, 30_000).map(|sight| Sight { holder_count: 1000, ..sight });
    case.look(0, many(&["1", "2"]));
    assert!(case.look(1000, many(&["3", "4"])).is_empty());
    assert_eq!(case.lock().since, ms(0));
}

#[test]
fn the_tokens_of_a_fenced_lock_count_what_no_look_has_seen() {
    let mut case = Case::new();
    case.look(0, fenced("1", 10));
    case.look(1000, fenced("2", 110));
    case.look(1000, fenced("2", 210));
    assert_eq!(case.lock().rate(ms(2000)), 100.0);
    assert_eq!(case.lock().rate(ms(20_000)), 0.0);
}

#[test]
fn an_eviction_by_this_program_is_told_once_and_an_older_look_does_not_undo_it() {
    let mut case = Case::new();
    case.look(0, held("plain", &["1"], 30_000));
    case.watch.evicted("n", "plain", vec![holder("1")], ms(500));
    case.watch.looked("n", held("plain", &["1"], 30_000), ms(400), ms(510));
    assert_eq!(case.told(), ["evicted: taken from api:1 owner 1 by this redlatch"]);
    assert!(case.look(1000, None).is_empty());
    assert_eq!(case.look(1000, held("plain", &["2"], 30_000)), ["acquired by api:1 owner 2"]);
}

#[test]
fn a_page_that_is_older_than_the_last_look_changes_nothing() {
    let mut case = Case::new();
    case.look(0, held("plain", &["2"], 30_000));
    case.told();
    case.watch.listed(held("plain", &["1"], 30_000).expect("held"), ms(10));
    case.look(10, None);
    case.told();
    case.watch.listed(held("plain", &["1"], 30_000).expect("held"), ms(20));
    assert!(case.told().is_empty() && case.lock().sight.is_none());
}

#[test]
fn a_free_lock_is_forgotten_after_a_while() {
    let mut case = Case::new();
    case.look(0, held("plain", &["1"], 30_000));
    case.look(1000, None);
    case.look(9_000, None);
    assert_eq!(case.watch.locks().count(), 1);
    case.look(2_000, None);
    assert_eq!(case.watch.locks().count(), 0);
}

#[test]
fn a_name_that_cannot_be_asked_for_is_known_by_listings_alone() {
    let mut case = Case::new();
    let sight = Sight { name: "a\u{fffd}".to_owned(), ..held("plain", &["1"], 30_000).expect("held") };
    case.watch.listed(sight, ms(10));
    assert_eq!(case.watch.next(ms(5000), 1), Next::At(ms(6000)));
    case.watch.listing_done(ms(5), ms(20));
    assert_eq!(case.told().len(), 1);
    case.watch.listing_done(ms(25), ms(30));
    assert_eq!(case.told(), ["gone before its end: api:1 owner 1 released it, or it was deleted"]);
}

#[test]
fn busy_locks_and_quiet_ones_take_turns_and_a_look_that_failed_comes_last() {
    let mut watch = Watch::new(SECOND);
    for (name, waiting) in [("quiet:1", 0), ("quiet:2", 0), ("busy", 3)] {
        let sight = held("plain", &["1"], 30_000).expect("held");
        watch.listed(Sight { name: name.to_owned(), waiting: Some(waiting), ..sight }, ms(0));
    }
    assert_eq!(watch.next(ms(1000), 2), Next::Look(vec!["busy".to_owned(), "quiet:1".to_owned()]));
    let mut order = Vec::new();
    for at in 1000..1003 {
        let Next::Look(names) = watch.next(ms(at), 1) else { panic!("three locks are due: {order:?}") };
        watch.look_failed(&names[0], ms(at));
        order.extend(names);
    }
    assert_eq!(order, ["busy", "quiet:1", "quiet:2"]);
    assert_eq!(watch.next(ms(1003), 1), Next::At(ms(2000)));
}

#[test]
fn a_silent_server_is_told_once_and_its_return_too() {
    let mut case = Case::new();
    for at in [0, 3000, 6000] {
        case.watch.unreachable("it is gone", ms(at));
        // Another server of the cluster still answers.
        case.watch.reachable(ms(at + 10));
    }
    assert_eq!(case.told(), ["no answer, trying again: it is gone"]);
    assert_eq!(case.watch.silence(), Some((ms(0), "it is gone")));
    case.watch.reachable(ms(11_000));
    assert_eq!(case.told(), ["the server answers again"]);
    assert_eq!(case.watch.silence(), None);
}

#[test]
fn a_sentence_names_few_of_many_holders() {
    let all: Vec<_> = ["1", "2", "3", "4", "5"].map(holder).to_vec();
    assert_eq!(parties(&all), "api:1 owner 1, api:1 owner 2, api:1 owner 3 and 2 more");
    assert_eq!(parties(&[]), "an unknown holder");
}

#[test]
fn an_end_is_told_only_by_looks_whose_times_prove_it() {
    let gone_after = |first: [u64; 2], left, second: [u64; 2]| {
        let mut watch = Watch::new(SECOND);
        watch.looked("n", held("plain", &["1"], 30_000), ms(0), ms(0));
        watch.listing_done(ms(0), ms(0));
        watch.looked("n", held("plain", &["1"], left), ms(first[0]), ms(first[1]));
        watch.looked("n", None, ms(second[0]), ms(second[1]));
        let is_ended = |event: &Event| !matches!(event.change, Change::Acquired { .. });
        watch.take_events().into_iter().find(is_ended).expect("it is gone").change
    };
    // The server may have read the time at any moment of a look.
    assert!(matches!(gone_after([1000, 1010], 200, [1220, 1230]), Change::Expired { .. }));
    assert!(matches!(gone_after([1000, 1010], 200, [1100, 1190]), Change::Gone { is_before_end: true, .. }));
    assert!(
        matches!(gone_after([1000, 1150], 200, [1210, 1220]), Change::Gone { is_before_end: false, .. }),
        "a slow look"
    );
    assert!(
        matches!(gone_after([1000, 1010], 200, [9000, 9010]), Change::Gone { is_before_end: false, .. }),
        "a late look"
    );
}
