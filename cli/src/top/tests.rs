//! Screens as texts under review, the keys, and one screen of a real server.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use redlatch::{Client, Holder};
use redlatch_tests::{Server, eventually, secs};

use super::picture::Picture;
use super::screen::{Look, Title, draw};
use super::view::{Action, Mode, View};
use crate::clock;
use crate::watch::{Change, Event, Feed, Sight, Watch};

const RENEW: &str = "REDLATCH_RENEW_SCREENS=1 cargo test --workspace --profile ci --bin redlatch";
const CLIENTS: [&str; 3] = [
    "6f1b1c9e-1d1f-4d0e-9f55-0d3a43c5b001",
    "a283b9d4-40f0-42ae-a09a-74c934d1beeb",
    "3c8a5bd2-9a40-4ef5-8b1c-20b7a9c1e077",
];
const NOW: Duration = Duration::from_secs(10_000);

fn holder(client: usize, owner: i64, process: Option<(&str, u32)>) -> Holder {
    let mut holder = Holder::default();
    holder.client = CLIENTS[client].to_owned();
    holder.owner = owner.to_string();
    holder.holds = 1;
    holder.host = process.map(|(host, _)| host.to_owned());
    holder.process = process.map(|(_, process)| process);
    holder.may_be_redisson = process.is_none();
    holder
}

fn task(host: &str, process: u32, task: i64) -> Holder {
    holder(1, (1 << 40) + task, Some((host, process)))
}

fn lock(name: &str, kind: &'static str, holders: Vec<Holder>, left: u64, waiting: u64) -> Sight {
    Sight {
        name: name.to_owned(),
        kind,
        is_certain: true,
        holder_count: holders.len() as u64,
        holders,
        remaining: Some(Duration::from_secs(left)),
        waiting: Some(waiting),
        queue: Vec::new(),
        token: None,
    }
}

/// A made-up morning: locks that have been held for times that differ, and one that is busy.
fn morning() -> Watch {
    let mut watch = Watch::new(secs(1));
    let fair = Sight {
        queue: vec![task("batch-2", 4410, 1), task("batch-3", 4398, 1), holder(0, 31, None)],
        ..lock("report:nightly", "fair", vec![task("batch-1", 4411, 1)], 28, 3)
    };
    let readers = vec![task("api-1", 77, 1), task("api-1", 77, 2), task("api-2", 80, 1)];
    let endless = Sight { remaining: None, ..lock("migration", "plain", vec![task("ops", 2, 1)], 1, 0) };
    let unsure = Sight { is_certain: false, remaining: None, ..lock("tickets", "semaphore", Vec::new(), 1, 2) };
    for (age, sight) in [
        (4080, lock("orders:9", "plain", vec![holder(0, 31, None)], 29, 0)),
        (3060, fair),
        (252, lock("orders:42", "plain", vec![task("api-3", 8121, 7)], 26, 5)),
        (59, lock("orders:77", "read", readers, 19, 1)),
        (86_400 / 10, endless),
        (11, unsure),
        (10, lock("cache:\u{1b}[2J\u{202e}warm", "write", vec![task("api-1", 77, 1)], 30, 0)),
        (9, lock("在庫:東京:商品の数量を更新するための鍵", "plain", vec![task("倉庫-1", 9, 1)], 30, 0)),
    ] {
        let at = NOW - secs(age);
        watch.listed(sight, at);
    }
    watch.listing_done(NOW - secs(9), NOW - secs(9));
    let stock = |owner, token| Sight {
        token: Some(token),
        ..lock("stock:eu", "fenced", vec![task("worker-4", 19, owner)], 30, 12)
    };
    watch.looked("stock:eu", Some(stock(2, 100)), NOW - secs(5), NOW - secs(5));
    watch.looked("stock:eu", Some(stock(4, 9300)), NOW, NOW);
    let known: Vec<Sight> = watch.locks().filter_map(|(_, known)| known.sight.clone()).collect();
    for sight in known {
        if sight.name != "stock:eu" {
            watch.looked(&sight.name.clone(), Some(sight), NOW, NOW);
        }
    }
    watch
}

fn events(view: &mut View) {
    let event = |name: &str, change| Event { at: NOW, name: name.to_owned(), kind: "plain", change };
    let swap = Change::PassedOn { from: vec![task("worker-4", 19, 2)], to: vec![task("worker-4", 19, 4)] };
    view.add("16:04:02Z".to_owned(), event("stock:eu", swap));
    view.add("16:04:11Z".to_owned(), event("orders:8", Change::Expired { by: vec![holder(0, 31, None)] }));
    let gone = Change::Gone { by: vec![task("api-3", 8121, 7)], is_before_end: true };
    view.add("16:04:12Z".to_owned(), event("在庫\u{1b}[2J", gone));
}

struct Case {
    watch: Watch,
    view: View,
    picture: Picture,
    look: Look,
}

impl Case {
    fn new(watch: Watch) -> Self {
        let look = Look { has_colours: true, is_readonly: false };
        let mut case = Case { watch, view: View::new(false), picture: Picture::default(), look };
        events(&mut case.view);
        case.update();
        case
    }

    fn update(&mut self) {
        self.picture = Picture::of(&mut self.watch, NOW, self.view.chosen.as_deref(), self.view.is_open);
        self.view.arrange(&self.picture);
    }

    fn key(&mut self, key: KeyCode) -> Option<Action> {
        let action = self.view.key(KeyEvent::new(key, KeyModifiers::NONE), &self.picture);
        self.update();
        action
    }

    fn type_in(&mut self, keys: &str) {
        for key in keys.chars() {
            assert_eq!(self.key(KeyCode::Char(key)), None, "{key} is a command");
        }
    }

    fn screen(&mut self, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("memory");
        let title = Title { server: "redis+cluster://a,b,c", time: "16:04:12Z" };
        terminal.draw(|frame| draw(frame, &title, &self.picture, &mut self.view, self.look)).expect("memory takes it");
        text(&terminal)
    }

    fn names(&self) -> Vec<&str> {
        self.view.shown(&self.picture).iter().map(|row| row.name.as_str()).collect()
    }
}

/// The letters of a screen. A letter of two columns hides the cell behind it.
fn text(terminal: &Terminal<TestBackend>) -> String {
    let buffer = terminal.backend().buffer();
    let mut lines = String::new();
    for y in 0..buffer.area.height {
        let mut line = String::new();
        let mut x = 0;
        while x < buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            x += ratatui::text::Span::raw(symbol).width().max(1) as u16;
        }
        lines.push_str(line.trim_end());
        lines.push('\n');
    }
    lines
}

fn is_under_review(now: &str, file: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/screens").join(file);
    if std::env::var_os("REDLATCH_RENEW_SCREENS").is_some() {
        std::fs::write(&path, now).expect("the text can be written");
    }
    let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        reviewed == now,
        "the screen is not the one of cli/tests/screens/{file}:\n{now}\nif that is meant, renew the text:\n    {RENEW}\n"
    );
}

#[test]
fn the_screens_are_the_ones_under_review() {
    for (width, height) in [(80, 24), (200, 40)] {
        let mut case = Case::new(morning());
        is_under_review(&case.screen(width, height), &format!("rows-{width}.txt"));
        case.key(KeyCode::Down);
        case.key(KeyCode::Down);
        case.key(KeyCode::Down);
        case.key(KeyCode::Enter);
        is_under_review(&case.screen(width, height), &format!("queue-{width}.txt"));
        case.key(KeyCode::Esc);
        case.type_in("/orders");
        is_under_review(&case.screen(width, height), &format!("filter-{width}.txt"));
        case.key(KeyCode::Esc);
        case.type_in("?");
        is_under_review(&case.screen(width, height), &format!("help-{width}.txt"));
        case.key(KeyCode::Esc);
        case.key(KeyCode::Down);
        let name = case.view.chosen.clone().expect("the first row");
        assert_eq!(case.key(KeyCode::Char('R')), Some(Action::Look(name.clone())));
        let question = format!(
            "The holder is told that it has lost the lock, and may still be at work. Take `{name}` from worker-4:19 (client {}, owner \
             1099511627780)? [y/N]",
            CLIENTS[1]
        );
        assert!(case.view.ask(&name, question));
        is_under_review(&case.screen(width, height), &format!("release-{width}.txt"));
    }
    let mut case = Case::new(Watch::new(secs(1)));
    case.look = Look { has_colours: false, is_readonly: true };
    case.watch.unreachable("redis://a:6379 does not answer", NOW - secs(12));
    case.view.is_paused = true;
    case.update();
    is_under_review(&case.screen(80, 24), "silent-80.txt");
}

#[test]
fn no_size_of_the_screen_is_too_small() {
    for (width, height) in [(1, 1), (20, 4), (25, 5), (40, 9), (75, 12), (99, 10), (300, 3)] {
        let mut case = Case::new(morning());
        case.key(KeyCode::End);
        case.key(KeyCode::Enter);
        case.screen(width, height);
        case.type_in("/x?");
        case.screen(width, height);
    }
}

#[test]
fn no_colour_is_used_where_none_is_welcome() {
    let mut case = Case::new(morning());
    case.look.has_colours = false;
    let mut terminal = Terminal::new(TestBackend::new(120, 24)).expect("memory");
    let title = Title { server: "s", time: "t" };
    terminal.draw(|frame| draw(frame, &title, &case.picture, &mut case.view, case.look)).expect("memory takes it");
    let reset = ratatui::style::Color::Reset;
    assert!(terminal.backend().buffer().content().iter().all(|cell| cell.fg == reset && cell.bg == reset));
}

#[test]
fn typing_in_a_filter_is_never_a_command() {
    let mut case = Case::new(morning());
    case.type_in("/qsf?R ");
    assert_eq!((case.view.filter.as_str(), &case.view.mode), ("qsf?R ", &Mode::Filter));
    assert!(!case.view.is_frozen && !case.view.is_paused && case.names().is_empty());
    for _ in 0..6 {
        case.key(KeyCode::Backspace);
    }
    case.type_in("batch-1");
    assert_eq!(case.names(), ["report:nightly"], "a holder is found as well");
    case.key(KeyCode::Enter);
    assert_eq!((&case.view.mode, case.names().len()), (&Mode::Rows, 1));
    case.key(KeyCode::Esc);
    assert_eq!(case.names().len(), 9);
}

#[test]
fn the_order_stays_while_a_row_is_chosen_or_the_order_is_frozen() {
    for is_frozen in [true, false] {
        let mut case = Case::new(morning());
        let before: Vec<String> = case.names().into_iter().map(str::to_owned).collect();
        case.key(if is_frozen { KeyCode::Char('f') } else { KeyCode::Down });
        case.watch.looked("a:new", Some(lock("a:new", "plain", vec![task("x", 1, 1)], 30, 99)), NOW, NOW);
        case.watch.looked("orders:42", None, NOW, NOW);
        case.update();
        let mut expected: Vec<&str> = before.iter().map(String::as_str).filter(|name| *name != "orders:42").collect();
        expected.push("a:new");
        assert_eq!(case.names(), expected);
        case.key(if is_frozen { KeyCode::Char('f') } else { KeyCode::Esc });
        assert_eq!(case.names()[0], "a:new");
    }
}

#[test]
fn a_chosen_lock_that_is_released_keeps_its_row() {
    let mut case = Case::new(morning());
    case.key(KeyCode::Down);
    assert_eq!(case.view.chosen.as_deref(), Some("stock:eu"));
    for later in [0, 30] {
        case.watch.looked("stock:eu", None, NOW + secs(later), NOW + secs(later));
        case.update();
        let rows = case.view.shown(&case.picture);
        assert_eq!((rows[0].name.as_str(), rows[0].kind.as_str()), ("stock:eu", "free"));
    }
    case.key(KeyCode::Esc);
    assert!(!case.names().contains(&"stock:eu"));
}

#[test]
fn s_sorts_by_each_column_in_turn() {
    let mut case = Case::new(morning());
    assert_eq!(case.names()[..3], ["stock:eu", "orders:42", "report:nightly"]);
    for (word, first) in
        [("acquires", "stock:eu"), ("age", "migration"), ("end", "orders:77"), ("name", "cache:\u{1b}[2J\u{202e}warm")]
    {
        case.type_in("s");
        assert_eq!((case.view.sort.word(), case.names()[0]), (word, first));
    }
    case.type_in("s");
    assert_eq!(case.view.sort.word(), "waiting");
}

#[test]
fn a_release_asks_and_only_y_is_yes() {
    let mut case = Case::new(morning());
    assert_eq!(case.key(KeyCode::Char('R')), None);
    assert!(case.view.notice.contains("no lock is chosen"), "{}", case.view.notice);
    case.key(KeyCode::Down);
    for (answer, action) in
        [(KeyCode::Char('n'), Action::Leave), (KeyCode::Enter, Action::Leave), (KeyCode::Char('y'), Action::Take)]
    {
        assert_eq!(case.key(KeyCode::Char('R')), Some(Action::Look("stock:eu".to_owned())));
        assert_eq!(case.key(KeyCode::Char('y')), None, "the question has not been shown");
        assert!(!case.view.ask("another", "Take it?".to_owned()), "it is about another lock");
        assert!(case.view.ask("stock:eu", "Take it?".to_owned()));
        assert_eq!(case.key(KeyCode::Char('y')), None, "the question has not been drawn");
        // So low a screen has no room for it.
        case.screen(80, 4);
        assert_eq!(case.key(KeyCode::Char('y')), None, "the question cannot be read whole");
        case.screen(80, 24);
        assert_eq!(case.key(answer), Some(action));
        case.view.tell("done".to_owned());
    }
    // Two of these words have no room in one line.
    case.key(KeyCode::Char('R'));
    assert!(case.view.ask("stock:eu", ["n".repeat(41).as_str(); 10].join(" ")));
    case.screen(80, 12);
    assert_eq!(case.key(KeyCode::Char('y')), None, "the question cannot be read whole");
    case.screen(80, 24);
    assert_eq!(case.key(KeyCode::Char('n')), Some(Action::Leave));
    case.key(KeyCode::Char('R'));
    assert!(!case.view.ask("stock:eu", "n".repeat(70_000)), "a question that cannot be read is none");
    assert!(case.view.mode == Mode::Rows && case.view.notice.contains("redlatch release"), "{}", case.view.notice);
}

#[test]
fn a_view_that_is_read_only_releases_nothing() {
    let mut case = Case::new(morning());
    case.view = View::new(true);
    case.update();
    case.key(KeyCode::Down);
    assert_eq!(case.key(KeyCode::Char('R')), None);
    assert!(case.view.notice.contains("--readonly"), "{}", case.view.notice);
}

#[test]
fn the_row_that_is_chosen_is_on_the_screen() {
    let mut watch = Watch::new(secs(1));
    for at in 0..200 {
        watch.listed(lock(&format!("n:{at:03}"), "plain", vec![task("x", 1, 1)], 30, 0), NOW);
    }
    let mut case = Case::new(watch);
    for (key, name) in
        [(KeyCode::End, "n:199"), (KeyCode::PageUp, "n:189"), (KeyCode::Home, "n:000"), (KeyCode::PageDown, "n:010")]
    {
        case.key(key);
        let screen = case.screen(80, 24);
        assert!(screen.contains(&format!("› {name}")), "{screen}");
    }
    assert_eq!(case.key(KeyCode::Char('q')), Some(Action::Quit));
    let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    case.type_in("/");
    assert_eq!(case.view.key(interrupt, &case.picture), Some(Action::Quit), "in a filter too");
}

/// A fair queue, readers and a writer, and permits, as a real server has them.
#[test]
fn a_real_server_is_shown_as_it_is() {
    let server = Server::start();
    let [client, other] = [0, 1].map(|_| Client::connect(&server.url()).expect("a good URL"));
    let process = format!("{}:{}", rustix::system::uname().nodename().to_string_lossy(), std::process::id());
    let held = client.fair_lock("fair").blocking().acquire().expect("free");
    let read = || client.read_write_lock("rw").read().blocking().acquire().expect("readers share");
    let readers = [read(), read()];
    let writer = client.read_write_lock("rw:w").write().blocking().acquire().expect("free");
    let semaphore = client.permit_semaphore("permits");
    assert!(semaphore.try_set_permits(3).blocking().expect("answered"));
    let permits = [0, 1].map(|_| semaphore.acquire().blocking().expect("three are free"));
    std::thread::scope(|scope| {
        for owner in [7, 8] {
            let lock = other.fair_lock("fair").owner(owner).wait(secs(30)).blocking();
            scope.spawn(move || lock.acquire().expect("released").release().expect("held"));
            let length = i64::from(owner as i32 - 6);
            eventually("a waiter", || {
                (server.view().command::<i64>(&["LLEN", "redisson_lock_queue:{fair}"]) == length).then_some(())
            });
        }
        let watch = Mutex::new(Watch::new(Duration::from_millis(100)));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let mut case = Case::new(Watch::new(secs(1)));
        case.view.chosen = Some("fair".to_owned());
        case.view.is_open = true;
        let feed =
            Feed { client: &client, pattern: "*", interval: Duration::from_millis(100), watch: &watch, told: || {} };
        let screen = runtime.block_on(async {
            let shown = async {
                loop {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    let mut watch = watch.lock().expect("nothing panics while it is held");
                    case.picture = Picture::of(&mut watch, clock::now(), Some("fair"), true);
                    if watch.is_settled() && case.picture.held == 4 {
                        break;
                    }
                }
                case.view.arrange(&case.picture);
                case.screen(120, 30)
            };
            tokio::select! {
                failure = feed.run() => panic!("{}", failure.text),
                screen = tokio::time::timeout(secs(60), shown) => screen.expect("four locks are found"),
            }
        });
        let line = |name: &str| {
            let line = screen.lines().find(|line| line.trim_start_matches(['›', ' ']).starts_with(name));
            let line = line.unwrap_or_else(|| panic!("no {name} on the screen:\n{screen}"));
            line.trim_start_matches(['›', ' ']).split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(line("fair ")[1], "fair", "{screen}");
        assert_eq!(line("rw ")[1..4], ["read", "2", "readers"], "{screen}");
        assert_eq!(line("rw:w ")[1..3], ["write", &process], "{screen}");
        assert_eq!(line("permits ")[1..4], ["permits", "2", "permits"], "{screen}");
        assert!(screen.contains("waits    2 owners, in this order"), "{screen}");
        for place in ["1", "2"] {
            let words = line(&format!("{place}  {process} (client {}", other.id()));
            assert_eq!(words.last().map(String::as_str), Some(if place == "1" { "7)" } else { "8)" }), "{screen}");
        }
        held.release().expect("held");
    });
    readers.into_iter().for_each(|guard| guard.release().expect("held"));
    writer.release().expect("held");
    drop(permits);
}
