//! No error, name or log shows a password, at any place and beside any other mistake: in URLs, options and files.

use std::fmt::Debug;
use std::sync::atomic::AtomicU64;

use proptest::prelude::*;
use proptest::sample::select;
use redlatch::ffi::kinds::ALL;
use redlatch::ffi::{Border, Completions, Member, Op, PerProcess, Request, Rule};
use redlatch::{Client, Config};
use redlatch_tests::*;

use super::logs::{Lines, Log};

/// The test searches every text for this word.
const SECRET: &str = "hunter2";
/// Passwords as users write them, escaped or not.
const WRITTEN: [&str; 16] = [
    "hunter2",
    "12/hunter2",
    "12?hunter2",
    "12#hunter2",
    "12@hunter2",
    "12:hunter2",
    "12,hunter2",
    "12%hunter2",
    "12%2Fhunter2",
    "12://hunter2",
    "12[hunter2",
    "12\\hunter2",
    "12 hunter2",
    "12\nhunter2",
    "é?hunter2",
    "12?x=hunter2&y",
];
const BEFORE: [&str; 16] = [
    "redis://",
    "rediss://",
    "redis:/",
    "redis:///",
    "redis:",
    "redis",
    "",
    "//",
    "REDIS://",
    "http://",
    "redis+cluster://",
    "redis+sentinel://",
    "redis+replicated://",
    "redis+what://",
    "redis+uds://",
    "unix://",
];
const HOSTS: [&str; 10] = ["h", "h:6379", "h:x", "h:0", "h:99999", "", "a,b", "a:1,b:x", "[::1]:1", "[::1"];
const PATHS: [&str; 7] = ["", "/", "/0", "/x", "/-1", "/mymaster", "/mymaster/x"];
const QUERIES: [&str; 9] = [
    "",
    "?watchdog=x",
    "?password=hunter2",
    "?sentinel_password=hunter2&watchdog=x",
    "?wachtdog=1&password=hunter2",
    "?password=12?hunter2&db=x",
    "?password=12@hunter2&db=x",
    "?password=hunter2&sharded=on&tls_verify=none",
    "?tls_key=redis://:hunter2@h",
];

fn url() -> impl Strategy<Value = String> {
    let login = (select(&["", "u", "u:", ":", "default:", "é:"][..]), select(&WRITTEN[..]))
        .prop_map(|(user, password)| format!("{user}{password}@"));
    let login = prop_oneof![3 => login, 1 => Just(String::new())];
    (select(&BEFORE[..]), login, select(&HOSTS[..]), select(&PATHS[..]), select(&QUERIES[..]))
        .prop_map(|(before, login, hosts, path, query)| format!("{before}{login}{hosts}{path}{query}"))
}

/// All texts about a configuration: errors, its own values, and the log.
fn said(make: impl FnOnce() -> redlatch::Result<Config>) -> String {
    let lines = Lines::default();
    let outcome = tracing::subscriber::with_default(Log(lines.clone(), AtomicU64::new(1)), || match make() {
        Ok(config) => format!("{} {config:?} {:?}", config.server(), Client::with_config(config.clone())),
        Err(error) => chain(&error),
    });
    format!("{outcome} {lines:?}")
}

/// All texts of an error and of its sources.
fn chain(error: &redlatch::Error) -> String {
    let first = Some(error as &dyn std::error::Error);
    let all = std::iter::successors(first, |error| (**error).source());
    all.map(|error| format!("{error} {error:?} ")).collect()
}

fn is_kept(said: &str) -> Result<(), TestCaseError> {
    prop_assert!(!said.contains(SECRET), "{}", said);
    Ok(())
}

#[test]
fn a_password_is_in_no_error_about_its_url() {
    for url in [
        "default:hunter2@host:6379",
        "redis:/u:hunter2@h",
        "redis://u:12/hunter2@h",
        "redis://u:12?hunter2@h",
        "redis://u:12#hunter2@h",
        "redis+sentinel://u:12/hunter2@h",
        "http://h?sentinel_password=hunter2",
        "redis://h:x?password=hunter2",
    ] {
        let said = said(|| Config::from_url(url));
        assert!(!said.contains(SECRET), "{url}: {said}");
    }
}

/// An error shows helpful parts of a URL where they are certainly no secret.
#[test]
fn an_error_about_a_url_names_its_hosts_where_they_are_clear() {
    for (url, shown) in [
        ("http://user:hunter2@localhost:6379/0", "`http://…@localhost:6379/…`"),
        ("localhost:6379", "`localhost:6379`"),
        ("redis://localhost:0", "`redis://localhost:0`"),
        ("redis+what://a:1,[::1]:2", "`redis+what://a:1,[::1]:2`"),
        ("default:hunter2@host:6379", "`… (25 characters)`"),
        ("redis://u:12/hunter2@h", "`… (22 characters)`"),
    ] {
        let said = said(|| Config::from_url(url));
        assert!(said.contains(shown), "{url}: {said}");
    }
}

const YAML: [&str; 12] = [
    "password: hunter2",
    "password: 'hunter2'\nusername: [u]",
    "password: [hunter2]",
    "password: {a: hunter2}",
    "password: !hunter2 x",
    "password: !hunter2 [x]",
    "password: *hunter2",
    "password: \"hunter2",
    "password: | hunter2",
    "sslKeystorePassword: [hunter2]",
    "sslTruststore: https://u:hunter2@h/ca.pem",
    "credentialsResolver: {password: hunter2}",
];
const SERVER: [&str; 6] = [
    "",
    ", password: [hunter2]",
    ", database: x",
    ", password: hunter2, timeout: x",
    ", clientName: 'redis://:hunter2@h'",
    ", natMap: {'redis://:hunter2@h': x}",
];
const ELSE: [&str; 4] = ["", "lockWatchdogTimeout: x", "nameMapper: !<com.example.Mine> {}", "]"];

fn yaml() -> impl Strategy<Value = String> {
    let mode = select(
        &[
            ("singleServerConfig", "address"),
            ("sentinelServersConfig", "sentinelAddresses"),
            ("clusterServersConfig", "nodeAddresses"),
            ("clusterServersConfig", "nodeAdresses"),
        ][..],
    );
    (mode, url(), any::<bool>(), select(&SERVER[..]), select(&YAML[..]), select(&ELSE[..])).prop_map(
        |((mode, setting), url, is_list, server, top, other)| {
            let url = url.replace('\'', "''").replace('\n', "\\n");
            let url = if is_list { format!("['redis://first', '{url}']") } else { format!("'{url}'") };
            format!("{mode}: {{{setting}: {url}, masterName: m{server}}}\n{top}\n{other}\n")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn no_url_has_its_password_said(url in url()) {
        is_kept(&said(|| Config::from_url(&url)))?;
    }

    #[test]
    fn no_option_has_a_password_said(
        option in select(&["password", "sentinel_password", "username", "client_name", "database", "nat", "sync", "sharded", "quarantine", "watchdog",
            "tls_ca", "tls_cert", "tls_key", "tls_verify", "wachtdog"][..]),
        url in url(),
        is_long in any::<bool>(),
    ) {
        let text = if is_long { format!("{url}{}", SECRET.repeat(10_000)) } else { url };
        // Alone, the text is a password only where passwords are set. Elsewhere it comes with a login or as more than a
        // line.
        let text = if option.ends_with("password") || text.contains('@') { text } else { format!("{text}\n{SECRET}") };
        is_kept(&said(|| {
            let mut config = Config::from_url("redis://h")?;
            config.set(option, &text)?;
            Client::with_config(config.clone())?;
            Ok(config)
        }))?;
    }

    #[test]
    fn no_file_has_its_password_said(yaml in yaml()) {
        is_kept(&said(|| Config::from_redisson(&yaml)))?;
    }
}

#[test]
fn a_value_that_is_formatted_shows_its_server_and_no_password() {
    let url = "redis+sentinel://alice:hunter2@h/mymaster?sentinel_username=alice&sentinel_password=hunter2";
    let config = Config::from_url(url).expect("a good URL");
    let client = Client::with_config(config.clone()).expect("good options");
    client.set_credentials(Some("alice"), "hunter2").expect("they are short");
    let member = Member { client: client.clone(), kind: "plain", name: "n".into() };
    let group = Client::group(Rule::All, vec![member.clone()]).expect("one member");
    let own = PerProcess::new();
    own.get(|| client.clone());
    let finished = Completions::new();
    finished.push(1, Err(Client::connect("http://alice:hunter2@h").expect_err("no such scheme")));
    let request = Request::new(Op::Acquire, "plain", "n", 1);
    let values: [&dyn Debug; 8] = [&config, &client, &group, &member, &own, &finished, &request, &ALL];

    for value in values {
        for shown in [format!("{value:?}"), format!("{value:#?}")] {
            assert!(!shown.contains(SECRET) && !shown.contains("alice"), "{shown}");
        }
    }
    assert_eq!(format!("{client:?}"), r#"Client { server: "redis+sentinel://h:26379/mymaster", .. }"#);
    assert_eq!(format!("{group:?}"), r#"Client { group: "n", .. }"#);
    assert!(format!("{config:?}").contains("redis+sentinel://h:26379/mymaster"));
}

#[test]
fn a_password_that_is_refused_is_not_said() {
    let server = Server::with(Options { password: Some("right".into()), ..Options::default() });
    let renamed = Server::start();
    renamed.view().command::<()>(&["ACL", "SETUSER", "u", "on", ">hunter2", "~*", "&*", "+@all", "-eval", "-evalsha"]);
    for url in [
        format!("redis://:hunter2@127.0.0.1:{}", server.port()),
        format!("redis://u:hunter2@127.0.0.1:{}", renamed.port()),
    ] {
        let client = Client::connect(&format!("{url}?retry_for=0.1")).expect("a good URL");
        let refused = client.lock("n").blocking().acquire().map(drop).expect_err("it is refused");
        assert!(std::error::Error::source(&refused).is_some(), "the server's reply: {refused:?}");
        assert!(!chain(&refused).contains(SECRET), "{}", chain(&refused));
    }
}

/// As environment variables and secret stores spoil it: without its line breaks, or without the lines around it.
#[test]
fn no_error_shows_a_private_key() {
    let inside = format!("MIIEvQIBADAN{SECRET}BgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj");
    let key = format!("-----BEGIN PRIVATE KEY-----\n{inside}\n-----END PRIVATE KEY-----\n");
    let spoilt = [key.replace('\n', " "), key.replace('\n', "\\n"), key.replace('\n', ""), inside];
    // The bytes of the secret in a list.
    let bytes = format!("{:?}", SECRET.as_bytes());
    let hides = |error: redlatch::Error| {
        let said = format!("{error} {error:?}");
        assert!(!said.contains(SECRET) && !said.contains(bytes.trim_matches(['[', ']'])), "{said}");
        assert!(said.contains("tls_key"), "{said}");
    };
    for key in spoilt {
        let config = || Config::from_url("rediss://h").expect("a good URL");
        hides(Client::with_config(config().tls_key(key.clone())).map(drop).expect_err("no key"));
        hides(config().set("tls_key", &key).map(drop).expect_err("no key"));
        let text = key.replace(' ', "%20").replace('+', "%2B");
        hides(Config::from_url(&format!("rediss://h?tls_key={text}")).map(drop).expect_err("no key"));
    }
}
