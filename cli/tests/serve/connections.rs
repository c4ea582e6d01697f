//! Connections that stand still lose their place.

use std::io::{Read, Write};
use std::net::TcpStream;

use redlatch::Client;
use redlatch_tests::{Server, eventually, eventually_within, secs};

use super::THEIRS;
use super::service::Service;

/// A connection that has sent that, and will send nothing more.
fn sent(service: &Service, text: &str) -> TcpStream {
    let address = service.url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(secs(60))).expect("a socket");
    stream.write_all(text.as_bytes()).expect("it listens");
    stream
}

/// All that comes until the connection is closed.
fn rest(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it is closed");
    text
}

#[test]
fn a_connection_without_a_whole_request_is_closed_and_a_page_stays() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let service = Service::start(&server, &["--allow-release", "--interval", "200ms"]);
    let mut page = service.changes();
    let body = format!(
        "POST /release HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: 100\r\n\r\n{{\"name\":",
        service.token
    );
    let health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let all = ["", "GET /health HT", health, &body].map(|text| sent(&service, text));
    let [nothing, half, idle, body] = all.map(rest);
    assert_eq!((nothing.as_str(), half.as_str()), ("", ""));
    assert!(idle.starts_with("HTTP/1.1 200") && idle.matches("HTTP/1.1").count() == 1, "{idle}");
    assert!(body.starts_with("HTTP/1.1 408") && body.contains("within 10 s; send it again"), "{body}");
    let held = client.lock("orders:42").blocking().acquire().expect("free");
    page.until(|change| change["locks"][0]["name"] == "orders:42");
    held.release().expect("held");
}

/// The locks of the first event alone are more than the system keeps for a reader.
#[test]
fn a_reader_that_takes_nothing_gives_its_place_to_another_one() {
    let server = Server::start();
    let mut view = server.view();
    let fill = "for at = 1, 1500 do
        redis.call('HSET', ARGV[1] .. at, ARGV[2], 1)
        redis.call('PEXPIRE', ARGV[1] .. at, 3000000)
    end";
    view.command::<()>(&["EVAL", fill, "0", "n:", &format!("{THEIRS}:31")]);
    let service = Service::start(&server, &[]);
    eventually_within(secs(60), "all locks", || {
        (service.object("locks")["locks"].as_array().map(Vec::len) == Some(1500)).then_some(())
    });
    let readers: Vec<_> = (0..100).map(|_| sent(&service, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")).collect();
    for mut reader in &readers {
        // A question that came before it would have its place.
        let mut status = [0; 12];
        reader.read_exact(&mut status).expect("it is told");
        assert_eq!(&status, b"HTTP/1.1 200");
    }
    let code = || service.response("events").status().as_u16();
    eventually("a hundred pages", || (code() == 503).then_some(()));
    eventually_within(secs(60), "room for a page", || (code() == 200).then_some(()));
    drop(readers);
}
