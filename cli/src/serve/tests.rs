//! Pages hear of made-up looks.

use std::collections::BTreeMap;
use std::time::Duration;

use redlatch::Holder;
use serde_json::{Value, json};

use super::board::{Board, Moment, Tally};
use super::metrics;
use crate::watch::{Sight, Watch};

const SECOND: Duration = Duration::from_secs(1);
/// The machine was started then, in milliseconds since 1970.
const BEGIN: u64 = 1_700_000_000_000;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn at(time: u64) -> Moment {
    Moment { clock: ms(time), date: ms(BEGIN + time) }
}

fn held(name: &str, owner: &str, left: u64) -> Option<Sight> {
    let mut holder = Holder::default();
    holder.client = "6f1b1c9e-1d1f-4d0e-9f55-0d3a43c5b001".to_owned();
    holder.owner = owner.to_owned();
    holder.may_be_redisson = true;
    Some(Sight {
        name: name.to_owned(),
        kind: "plain",
        is_certain: true,
        holders: vec![holder],
        holder_count: 1,
        remaining: Some(ms(left)),
        waiting: Some(2),
        queue: Vec::new(),
        token: None,
    })
}

/// A page that takes every change.
struct Page {
    watch: Watch,
    board: Board,
    locks: BTreeMap<String, Value>,
}

impl Page {
    fn new() -> Self {
        let mut watch = Watch::new(SECOND);
        watch.listing_done(ms(0), ms(0));
        Page { watch, board: Board::new("redis://h:6379".to_owned(), "*", true), locks: BTreeMap::new() }
    }

    fn saw(&mut self, name: &str, sight: Option<Sight>, time: u64) {
        self.watch.looked(name, sight, ms(time), ms(time));
    }

    /// Takes the change of that moment, and checks that the page has what a new one would have.
    fn hears(&mut self, time: u64) -> Option<Value> {
        let change = self.board.look(&mut self.watch, at(time));
        if let Some(change) = &change {
            for row in change["locks"].as_array().expect("a list") {
                self.locks.insert(row["name"].as_str().expect("a text").to_owned(), row.clone());
            }
            for name in change["gone"].as_array().expect("a list") {
                assert!(self.locks.remove(name.as_str().expect("a text")).is_some(), "{name} was there");
            }
        }
        let all = self.board.all(at(time));
        assert_eq!(all["locks"], Value::from_iter(self.locks.values().cloned()));
        change
    }
}

#[test]
fn a_page_hears_of_each_change_and_only_of_changes() {
    let mut page = Page::new();
    page.saw("a", held("a", "31", 30_000), 1000);
    page.saw("b", held("b", "32", 30_000), 1000);
    let change = page.hears(1100).expect("two locks are new");
    assert_eq!(change["now"], BEGIN + 1100);
    assert_eq!(
        change["locks"][0],
        json!({
            "name": "a", "kind": "plain", "certain": true, "holder": "6f1b1c9e…:31 (Redisson?)", "redisson": true,
            "since": BEGIN + 1000, "ends": BEGIN + 31_000, "waiting": 2, "in_line": false, "whole": true, "rate": 0.0, "old": false,
            "stamp": page.locks["a"]["stamp"],
        })
    );
    assert_eq!(change["state"]["held"], 2);
    assert_eq!((&change["state"]["waited_for"], &change["state"]["waiting"]), (&2.into(), &4.into()));
    assert_eq!(change["events"][1]["text"], "acquired by 6f1b1c9e…:32 (Redisson?)");

    // A look that tells the same, but for the time that it took.
    page.saw("a", held("a", "31", 28_900), 2000);
    assert_eq!(page.hears(2100), None);
    // Many small steps are a long one.
    page.saw("a", held("a", "31", 27_900), 2700);
    assert_eq!(page.hears(2800).expect("400 ms fewer than it was told")["locks"][0]["ends"], BEGIN + 30_600);
    // A renewal.
    page.saw("a", held("a", "31", 30_000), 3000);
    let change = page.hears(3050).expect("it has a new end");
    assert_eq!(change["locks"].as_array().map(Vec::len), Some(1));
    page.saw("b", None, 3060);
    let change = page.hears(3070).expect("it is free");
    assert_eq!((&change["gone"], &change["events"][0]["event"]), (&json!(["b"]), &"gone".into()));
    assert_eq!(page.hears(3080), None);
}

#[test]
fn a_page_hears_something_every_two_seconds_and_an_old_row_says_so() {
    let mut page = Page::new();
    page.saw("a", held("a", "31", 60_000), 0);
    page.hears(0);
    assert_eq!(page.hears(1999), None);
    let beat = page.hears(2000).expect("the point of that time");
    assert_eq!((&beat["point"]["time"], &beat["point"]["waiting"]), (&(BEGIN + 2000).into(), &2.into()));
    assert_eq!(beat["locks"], json!([]));
    assert_eq!(page.hears(10_001).expect("no look for ten seconds")["locks"][0]["old"], true);
    page.watch.unreachable("it is gone", ms(10_002));
    let change = page.hears(10_100).expect("the server is silent");
    assert_eq!(change["state"]["silence"], json!({ "since": BEGIN + 10_002, "why": "it is gone" }));
    assert_eq!(page.board.all(at(10_100))["history"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_stamp_changes_with_the_holder_and_with_nothing_else() {
    let stamp = |sight: Option<Sight>| sight.expect("held").stamp();
    assert_eq!(stamp(held("a", "31", 30_000)), stamp(held("a", "31", 1)));
    assert_ne!(stamp(held("a", "31", 30_000)), stamp(held("a", "32", 30_000)));
    let token = |token| held("a", "31", 30_000).map(|sight| Sight { token: Some(token), ..sight });
    assert_ne!(stamp(token(1)), stamp(token(2)));
}

#[test]
fn the_locks_as_json_are_those_of_the_moment() {
    let mut page = Page::new();
    page.saw("a", held("a", "31", 30_000), 1000);
    page.saw("b", held("b", "31", 30_000), 1000);
    page.saw("b", held("b", "31", 30_000), 2000);
    let all = page.board.locks(&page.watch, None, at(2500));
    assert_eq!(all["locks"].as_array().map(Vec::len), Some(2));
    let one = page.board.locks(&page.watch, Some("b"), at(2500));
    assert_eq!(
        (&one["locks"][0]["name"], &one["locks"][0]["held_ms"], &one["locks"][0]["ends_ms"]),
        (&"b".into(), &1000.into(), &29_500.into()),
        "it was held at the last look"
    );
    assert_eq!(page.board.locks(&page.watch, Some("c"), at(2500))["locks"], json!([]));
}

#[test]
fn a_metric_has_a_series_for_a_group_and_none_for_a_name() {
    let mut page = Page::new();
    for number in 0..1000 {
        page.saw(&format!("orders:{number}"), held(&format!("orders:{number}"), "31", 30_000), 1000);
    }
    let name = "quote\"back\\slash\nline";
    page.saw(name, held(name, "31", 30_000), 1000);
    page.hears(1100);
    page.saw("orders:7", None, 1200);
    page.hears(1300);
    page.saw("orders:8", held("orders:8", "31", 30_000), 3000);
    let untold = held("untold", "31", 30_000).map(|sight| Sight { waiting: None, ..sight });
    page.saw("untold", untold, 3000);
    let text = metrics::text(&page.watch, &mut page.board.tally);
    assert!(!text.contains("redlatch_waiting{group=\"untold\"}"), "{text}");
    for line in [
        "redlatch_up 1",
        "redlatch_locks{kind=\"plain\"} 1001",
        "redlatch_waiting{group=\"orders:*\"} 1998",
        "redlatch_held_seconds_max{group=\"orders:*\"} 2.0",
        "redlatch_waiting{group=\"quote\\\"back\\\\slash\\\\nline\"} 2",
        "redlatch_ended_total{how=\"gone\"} 1",
        "redlatch_ended_total{how=\"expired\"} 0",
        "# EOF",
    ] {
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    assert!(text.lines().count() < 50, "{text}");
    page.watch.unreachable("it is gone", ms(3000));
    assert!(metrics::text(&page.watch, &mut Tally::default()).contains("\nredlatch_up 0\n"));
}
