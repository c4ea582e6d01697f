//! A page that releases locks.

use redlatch::Client;
use redlatch_tests::{Server, soon};

use super::service::Service;
use super::{THEIRS, command};

#[test]
fn no_page_releases_a_lock_unless_that_is_allowed() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = client.lock("orders:42").blocking().acquire().expect("free");
    let service = Service::start(&server, &[]);
    assert_eq!(service.token, "");
    let stamp = service.row("orders:42")["stamp"].as_str().expect("a text").to_owned();
    let (code, message) = service.release("", "orders:42", &stamp);
    assert!(code == 403 && message.contains("--allow-release"), "{code} {message}");
    held.ensure().expect("it was not released");
    held.release().expect("held");
}

#[test]
fn the_holder_that_was_shown_loses_the_lock_and_is_told() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let held = client.lock("orders:42").blocking().acquire().expect("free");
    let service = Service::start(&server, &["--allow-release", "--interval", "200ms"]);
    assert_eq!(service.token.len(), 32);
    let stamp = service.row("orders:42")["stamp"].as_str().expect("a text").to_owned();
    for wrong in ["", "x", &service.token[1..], &format!("{}x", service.token)] {
        let (code, message) = service.release(wrong, "orders:42", &stamp);
        assert!(code == 401 && message.contains("token"), "{code} {message}");
    }
    held.ensure().expect("it was not released");
    let mut changes = service.changes();
    let (code, message) = service.release(&service.token, "orders:42", &stamp);
    assert!(code == 200 && message.starts_with("`orders:42` was taken from "), "{code} {message}");
    soon(held.lost()).expect("it is a loss, not a release");
    let evicted = changes.until(|change| change["gone"][0] == "orders:42");
    assert_eq!(evicted["events"][0]["event"], "evicted", "{evicted}");
    assert!(service.get("metrics").1.contains("redlatch_ended_total{how=\"evicted\"} 1\n"));
    let (code, message) = service.release(&service.token, "orders:42", &stamp);
    assert!(code == 409 && message.contains("is free"), "{code} {message}");
}

#[test]
fn the_next_holder_keeps_the_lock_that_was_shown_with_the_last_one() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let service = Service::start(&server, &["--allow-release"]);
    let first = client.lock("orders:42").blocking().acquire().expect("free");
    let stamp = service.row("orders:42")["stamp"].as_str().expect("a text").to_owned();
    first.release().expect("held");
    let second = client.lock("orders:42").blocking().acquire().expect("free");
    let (code, message) = service.release(&service.token, "orders:42", &stamp);
    assert!(code == 409 && message.contains("have changed since"), "{code} {message}");
    second.ensure().expect("it was not released");
    second.release().expect("held");
}

#[test]
fn a_lock_that_the_page_does_not_show_stays() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let [ours, theirs] = ["orders:42", "pay:1"].map(|name| client.lock(name).blocking().acquire().expect("free"));
    let all = Service::start(&server, &[]);
    let stamp = all.row("pay:1")["stamp"].as_str().expect("a text").to_owned();
    let some = Service::start(&server, &["--allow-release", "orders:*"]);
    some.row("orders:42");
    let (code, message) = some.release(&some.token, "pay:1", &stamp);
    assert!(code == 409 && message.contains("`pay:1` is none of the locks"), "{code} {message}");
    theirs.ensure().expect("it was not released");
    [ours, theirs].into_iter().for_each(|guard| guard.release().expect("held"));
}

/// Of so many the server shows a hundred, others at each look.
#[test]
fn very_many_readers_lose_their_lock_together() {
    let server = Server::start();
    let mut view = server.view();
    let fill = "redis.call('HSET', 'big', 'mode', 'read')
        for at = 1, 300 do redis.call('HSET', 'big', ARGV[1] .. at, 1) end
        redis.call('PEXPIRE', 'big', 3000000)";
    view.command::<()>(&["EVAL", fill, "0", &format!("{THEIRS}:")]);
    let service = Service::start(&server, &["--allow-release", "--interval", "200ms"]);
    let row = service.row("big");
    assert_eq!((&row["whole"], &row["holder"]), (&false.into(), &"300 readers".into()));
    let (code, message) = service.release(&service.token, "big", row["stamp"].as_str().expect("a text"));
    assert_eq!(code, 200, "{message}");
    assert!(!view.exists("big"));
}

#[test]
fn the_token_may_be_that_of_the_environment() {
    let server = Server::start();
    let mut command = command(&server, &["--allow-release", "--listen", "127.0.0.1:0"]);
    let service = Service::of(command.env("REDLATCH_SERVE_TOKEN", "correct-horse-battery"));
    assert_eq!(service.token, "correct-horse-battery");
    let (code, message) = service.release(&service.token, "none", "");
    assert!(code == 409 && message.contains("`none` is none of the locks"), "{code} {message}");
}

#[test]
fn a_kind_that_cannot_be_released_here_is_refused_with_a_remedy() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let permit = client.permit_semaphore("tickets");
    permit.set_permits(3).blocking().expect("it is new");
    let held = permit.acquire().blocking().expect("three are free");
    let service = Service::start(&server, &["--allow-release"]);
    let stamp = service.row("tickets")["stamp"].as_str().expect("a text").to_owned();
    let (code, message) = service.release(&service.token, "tickets", &stamp);
    assert!(code == 409 && message.contains("--permit"), "{code} {message}");
    permit.release(held.id()).blocking().expect("it is out");
}

#[test]
fn one_permit_is_given_back_and_the_others_stay_out() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let semaphore = client.permit_semaphore("tickets");
    semaphore.set_permits(3).blocking().expect("it is new");
    let [first, second] = [(); 2].map(|()| semaphore.acquire().blocking().expect("three are free"));
    let service = Service::start(&server, &["--allow-release", "--interval", "200ms"]);
    service.row("tickets");
    let mut changes = service.changes();
    let id = first.id().to_string();
    let (code, message) = service.release_permit("tickets", &id);
    assert_eq!((code, message), (200, format!("permit {id} of `tickets` was given back")));
    assert_eq!(semaphore.acquired().blocking().expect("answered"), 1);
    let evicted = changes.until(|change| change["events"][0]["event"] == "evicted");
    assert_eq!(evicted["locks"][0]["holder"], "1 permit", "{evicted}");
    semaphore.release(second.id()).blocking().expect("it is out");
    let mut events = Vec::new();
    loop {
        let (_, change) = changes.next();
        let told = change["events"].as_array().expect("a list").iter();
        events.extend(told.map(|event| event["event"].as_str().expect("a text").to_owned()));
        if change["gone"][0] == "tickets" {
            break;
        }
    }
    assert_eq!(events, ["gone"], "the first one was told once");
    let (code, message) = service.release_permit("tickets", &id);
    assert!(code == 409 && message.contains("is not out any more"), "{code} {message}");
    let (code, message) = service.release_permit("tickets", "7");
    assert!(code == 409 && message.contains("32 hexadecimal digits"), "{code} {message}");
}

#[test]
fn an_answer_that_makes_no_sense_is_refused() {
    let server = Server::start();
    let service = Service::start(&server, &["--allow-release"]);
    let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
    let post = || {
        let request = agent.post(format!("{}release", service.url));
        request.header("Authorization", format!("Bearer {}", service.token))
    };
    // A form of another site's page can be sent without asking; JSON can't.
    let form = post().content_type("application/x-www-form-urlencoded").send("name=n&stamp=s").expect("it answers");
    assert_eq!(form.status(), 415);
    let text = post().content_type("application/json").send("{").expect("it answers");
    assert_eq!(text.status(), 400);
    let half = post().content_type("application/json").send("{\"name\":\"n\"}").expect("it answers");
    assert_eq!(half.status(), 422);
    let long = format!("{{\"name\":\"{}\",\"stamp\":\"\"}}", "n".repeat(600_000));
    let long = post().content_type("application/json").send(long.as_str()).expect("it answers");
    assert_eq!(long.status(), 413);
    let get = agent.get(format!("{}release", service.url)).call().expect("it answers");
    assert_eq!(get.status(), 405);
}
