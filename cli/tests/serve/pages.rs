//! The page in a browser.

use redlatch::{BlockingGuard, Client};
use redlatch_tests::{Server, eventually, soon};
use serde_json::json;

use super::THEIRS;
use super::browser::Browser;
use super::service::Service;

const SHIFT_R: &str = "R";
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
const END: &str = "\u{e010}";

/// Whether the list shows that lock.
fn shows(name: &str) -> String {
    format!(
        "[...document.querySelectorAll('#rows .row:not([hidden])')].some((row) => row.dataset.name === {})",
        json!(name)
    )
}

/// The text of the row of that lock.
fn row(name: &str) -> String {
    let name = json!(name);
    format!(
        "[...document.querySelectorAll('#rows .row:not([hidden])')].find((row) => row.dataset.name === {name})?.textContent"
    )
}

fn text(selector: &str) -> String {
    format!("document.querySelector('{selector}').textContent")
}

fn acquire(client: &Client, name: &str) -> BlockingGuard {
    client.lock(name).blocking().acquire().expect("free")
}

#[test]
fn a_lock_appears_shows_its_holder_and_goes_without_a_reload() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let service = Service::start(&server, &["--interval", "200ms"]);
    let browser = Browser::open(&service.url, 1280, 800);
    browser.until(&format!("{} === 'live' && {} === ''", text("#state"), text("#reading")));
    browser.until(&format!("{} === 'no lock is held'", text("#none")));
    let held = acquire(&client, "orders:42");
    browser.until(&shows("orders:42"));
    browser.until(&format!("{} === '1'", text("#held")));
    let row = browser.value(&row("orders:42")).to_string();
    let process = std::process::id().to_string();
    assert!(row.contains("plain") && row.contains(&process) && row.contains("≥ "), "{row}");
    browser.click("#rows .row");
    browser.until(&format!("{}.includes('client {}')", text("#holders"), client.id()));
    assert_eq!(browser.value("document.querySelector('#release').hidden"), true, "it only shows");
    browser.press(ESCAPE);
    held.release().expect("held");
    browser.until(&format!("!({})", shows("orders:42")));
    browser.until(&format!("{}.includes('gone before its end')", text("#events")));
    browser.is_well();
}

#[test]
fn a_filter_shows_what_it_says_and_no_letter_of_it_is_a_command() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held: Vec<_> = ["orders:1", "orders:2", "stock:s/f"].map(|name| acquire(&client, name)).into();
    let service = Service::start(&server, &[]);
    let browser = Browser::open(&service.url, 1280, 800);
    browser.until(&shows("orders:2"));
    browser.press("/");
    browser.press("stock:s/f");
    browser.until(&format!("{} && !({})", shows("stock:s/f"), shows("orders:1")));
    assert_eq!(browser.value("document.querySelector('#filter').value"), "stock:s/f");
    assert_eq!(browser.value("location.hash"), "#filter=stock:s%2Ff", "a view can be sent to others");
    browser.press(ESCAPE);
    browser.until(&shows("orders:1"));
    browser.click("[data-only='waited']");
    browser.until(&format!("{}.startsWith('no lock matches the filter')", text("#none")));
    let sent = Browser::open(&format!("{}#filter=orders:*&sort=name", service.url), 1280, 800);
    sent.until(&format!("{} && {} && !({})", shows("orders:1"), shows("orders:2"), shows("stock:s/f")));
    held.into_iter().for_each(|guard| guard.release().expect("held"));
    browser.is_well();
    sent.is_well();
}

#[test]
fn of_ten_thousand_locks_the_page_has_the_rows_that_can_be_seen() {
    let server = Server::start();
    let mut view = server.view();
    let fill = "for at = 1, 1000 do
        local name = ARGV[1] .. string.format('%05d', ARGV[2] * 1000 + at)
        redis.call('HSET', name, ARGV[3], 1)
        redis.call('PEXPIRE', name, 3000000)
    end";
    let holder = format!("{THEIRS}:31");
    for thousand in 0..10 {
        view.command::<()>(&["EVAL", fill, "0", "n:", &thousand.to_string(), &holder]);
    }
    let service = Service::start(&server, &[]);
    let browser = Browser::open(&format!("{}#sort=name", service.url), 1280, 800);
    browser.until(&format!("{} === '10,000'", text("#held")));
    browser.until(&shows("n:00001"));
    assert!(browser.value("document.querySelectorAll('#rows .row').length").as_u64().is_some_and(|rows| rows < 100));
    browser.press(END);
    browser.until(&shows("n:10000"));
    browser.press("/");
    browser.press("04242");
    browser.until(&format!("{} && !({})", shows("n:04242"), shows("n:10000")));
    browser.is_well();
    view.command::<()>(&["FLUSHALL"]);
}

#[test]
fn a_name_that_is_a_script_is_shown_and_not_run() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let names = [
        "<script>document.title = 'run'</script>",
        "<img src=x onerror=\"document.title='run'\">",
        "\"><svg onload=document.title='run'>",
        "turned\u{202e}around\u{1b}[2J",
    ];
    let held: Vec<_> = names.map(|name| acquire(&client, name)).into();
    // A machine whose name is a script.
    let mut view = server.view();
    view.command::<()>(&["CLIENT", "SETNAME", &format!("redlatch@<b/onclick=document.title='run'>:7:{THEIRS}")]);
    view.command::<()>(&["HSET", "theirs", &format!("{THEIRS}:31"), "1"]);
    view.command::<()>(&["PEXPIRE", "theirs", "30000"]);
    let service = Service::start(&server, &[]);
    let browser = Browser::open(&service.url, 1280, 800);
    for name in names {
        browser.until(&shows(name));
        let shown = name.replace('\u{202e}', "\\u{202e}").replace('\u{1b}', "\\u{1b}");
        assert!(browser.value(&row(name)).as_str().is_some_and(|text| text.starts_with(&shown)), "{name}");
    }
    browser.until(&format!("({})?.includes('<b/onclick')", row("theirs")));
    browser.press("/theirs\u{e007}j\u{e007}");
    browser.until(&format!("{}.includes('<b/onclick')", text("#holders")));
    view.command::<()>(&["DEL", "theirs"]);
    held.into_iter().for_each(|guard| guard.release().expect("held"));
    browser.until(&format!("{} === '0'", text("#held")));
    assert!(!browser.value("document.title").to_string().contains("run"));
    assert_eq!(browser.value("document.querySelectorAll('script, img, svg[onload], b[onclick]').length"), 1);
    browser.is_well();
}

#[test]
fn a_lock_is_released_after_a_question_with_the_token_of_the_address() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = acquire(&client, "orders:42");
    let service = Service::start(&server, &["--allow-release", "--interval", "200ms"]);
    let browser = Browser::open(&format!("{}#token={}", service.url, service.token), 1280, 800);
    browser.until(&shows("orders:42"));
    assert_eq!(browser.value("location.hash"), "", "the token is not left in the address");
    browser.press("j");
    browser.press(SHIFT_R);
    browser.until("document.querySelector('#release-ask').open");
    let question = browser.value(&text("#release-ask")).to_string();
    assert!(question.contains("orders:42") && question.contains(&std::process::id().to_string()), "{question}");
    browser.press(ENTER);
    browser.until("!document.querySelector('#release-ask').open");
    held.ensure().expect("the first answer is no");
    browser.press(SHIFT_R);
    browser.until("document.querySelector('#release-ask').open");
    browser.click("#release-do");
    soon(held.lost()).expect("it is a loss, not a release");
    browser.until(&format!("{}.includes('was taken from')", text("#notice")));
    browser.until(&format!("{}.includes('evicted')", text("#events")));
    browser.is_well();
}

#[test]
fn a_permit_is_chosen_among_the_holders_and_given_back() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let semaphore = client.permit_semaphore("tickets");
    semaphore.set_permits(3).blocking().expect("it is new");
    let [first, second] = [(); 2].map(|()| semaphore.acquire_renewed().blocking().expect("three are free"));
    let service = Service::start(&server, &["--allow-release", "--interval", "200ms"]);
    let browser = Browser::open(&format!("{}#token={}", service.url, service.token), 1280, 800);
    browser.until(&shows("tickets"));
    browser.press("j");
    browser.press(SHIFT_R);
    browser.until(&format!("{}.includes('choose the permit')", text("#notice")));
    let of = |permit: &str| format!("#holders [data-permit=\"{permit}\"]");
    let id = first.id().to_string();
    browser.until(&format!(
        "document.querySelectorAll('#holders button').length === 2 && !!document.querySelector('{}')",
        of(&id)
    ));
    assert_eq!(browser.value("document.querySelector('#release').hidden"), true, "a semaphore is not released whole");
    browser.click(&of(&id));
    browser.until("document.querySelector('#release-ask').open");
    let question = browser.value(&text("#release-ask")).to_string();
    assert!(question.contains(&id) && question.contains("tickets"), "{question}");
    browser.press(ENTER);
    browser.until("!document.querySelector('#release-ask').open");
    first.ensure().expect("the first answer is no");
    browser.click(&of(&id));
    browser.click("#release-do");
    soon(first.lost()).expect("it is a loss, not a release");
    browser.until(&format!("{}.includes('was given back')", text("#notice")));
    browser.until("document.querySelectorAll('#holders button').length === 1");
    semaphore.release(second.id()).blocking().expect("it is out");
    browser.is_well();
}

#[test]
fn a_page_without_the_token_asks_for_it() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = acquire(&client, "orders:42");
    let service = Service::start(&server, &["--allow-release"]);
    let browser = Browser::open(&service.url, 1280, 800);
    browser.until(&shows("orders:42"));
    browser.press("j");
    browser.press(SHIFT_R);
    browser.click("#release-do");
    browser.until("document.querySelector('#token').open");
    browser.type_into("#token-text", &format!("no-token{ENTER}"));
    browser.until(&format!("{}.includes('the token is wrong')", text("#token-why")));
    held.ensure().expect("it was not released");
    browser.type_into("#token-text", &format!("{}{ENTER}", service.token));
    soon(held.lost()).expect("it is a loss, not a release");
}

#[test]
fn a_server_that_is_silent_and_a_redlatch_that_is_gone_are_told() {
    let server = Server::start();
    let mut service = Service::start(&server, &["--interval", "200ms"]);
    let browser = Browser::open(&service.url, 1280, 800);
    browser.until(&format!("{} === 'live'", text("#state")));
    server.stop();
    browser.until(&format!("{}.startsWith('the server does not answer')", text("#state")));
    server.restart();
    browser.until(&format!("{} === 'live'", text("#state")));
    service.signal(rustix::process::Signal::TERM);
    assert_eq!(service.code(), Some(0));
    browser.until(&format!("{} === 'no connection: trying again'", text("#state")));
}

#[test]
fn on_a_phone_nothing_scrolls_sideways() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let name = "orders:".repeat(40);
    let held = acquire(&client, &name);
    let service = Service::start(&server, &[]);
    let browser = Browser::open(&service.url, 500, 800);
    browser.until(&shows(&name));
    let is_narrow = "document.documentElement.scrollWidth <= innerWidth && innerWidth <= 500";
    eventually("the width of a phone", || (browser.value(is_narrow) == true).then_some(()));
    browser.click("#rows .row");
    browser.until(&format!("{}.includes('client')", text("#holders")));
    assert_eq!(browser.value(is_narrow), true);
    held.release().expect("held");
    browser.is_well();
}
