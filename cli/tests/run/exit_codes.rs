//! The exit codes.

use std::time::Instant;

use redlatch::Client;
use redlatch_tests::{Options, Server, ms, ports};

use crate::process::Ended;
use crate::run;

/// Takes the lock by the library, as another client.
fn taken(server: &Server, name: &str) -> redlatch::BlockingGuard {
    let client = Client::connect(&server.url()).expect("a client");
    client.lock(name).blocking().acquire().expect("the lock is free")
}

#[test]
fn the_code_of_the_command_is_passed_on() {
    let server = Server::start();
    for code in [0, 1, 3, 64, 75, 76, 126, 127, 255] {
        let ended = run(&server.url(), &["n", "sh", "-c", &format!("exit {code}")]);
        assert_eq!((ended.code, ended.told.as_str()), (code, ""));
    }
}

#[test]
fn the_code_of_a_command_that_a_signal_ended_is_128_and_its_number() {
    let server = Server::start();
    for (signal, number) in [("TERM", 15), ("KILL", 9), ("INT", 2), ("SEGV", 11)] {
        let ended = run(&server.url(), &["n", "sh", "-c", &format!("kill -{signal} $$")]);
        assert_eq!(ended.code, 128 + number, "{signal}: {}", ended.told);
    }
}

#[test]
fn a_lock_of_another_client_is_75_and_the_option_e_changes_that() {
    let server = Server::start();
    let _taken = taken(&server, "n");
    let ended = run(&server.url(), &["-n", "n", "echo", "ran"]);
    assert_eq!((ended.code, ended.out.as_str()), (75, ""));
    assert!(ended.told.contains("`n` was not acquired now: another client has it; nothing was run"), "{}", ended.told);

    for code in [0, 1, 255] {
        let ended = run(&server.url(), &["-n", "-E", &code.to_string(), "n", "true"]);
        assert_eq!((ended.code, ended.told.is_empty()), (code, code == 0), "a success is silent: {}", ended.told);
    }
}

#[test]
fn a_wait_ends_after_its_time() {
    let server = Server::start();
    let _taken = taken(&server, "n");
    let begun = Instant::now();
    let ended = run(&server.url(), &["-w", "0.3", "n", "echo", "ran"]);
    assert_eq!((ended.code, ended.out.as_str()), (75, ""));
    assert!(begun.elapsed() >= ms(300), "after {:?}", begun.elapsed());
    assert!(ended.told.contains("`n` was not acquired within 300 ms"), "{}", ended.told);
}

#[test]
fn an_unreachable_server_is_69() {
    let nothing = format!("redis://127.0.0.1:{}", ports::free());
    for url in [nothing.as_str(), "redis://no-such-host.invalid:6379", "zookeeper://no-such-host.invalid"] {
        let ended = run(url, &["n", "echo", "ran"]);
        assert_eq!((ended.code, ended.out.as_str()), (69, ""), "{url}: {}", ended.told);
        let host = url.split("//").nth(1).expect("it has a host");
        assert!(ended.told.contains(host), "{}", ended.told);
        assert!(ended.told.contains("`n` was not acquired, and nothing was run"), "{}", ended.told);
    }
}

#[test]
fn a_wrong_password_and_a_missing_right_are_77() {
    let server = Server::with(Options { password: Some("right".into()), ..Options::default() });
    let port = server.port();
    let wrong = run(&format!("redis://:wrong@127.0.0.1:{port}"), &["n", "echo", "ran"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (77, ""), "{}", wrong.told);
    let none = run(&format!("redis://127.0.0.1:{port}"), &["n", "echo", "ran"]);
    assert_eq!((none.code, none.out.as_str()), (77, ""), "{}", none.told);

    server.view().command::<()>(&["ACL", "SETUSER", "reader", "on", ">secret", "~*", "&*", "+@read", "+ping"]);
    let reader = run(&format!("redis://reader:secret@127.0.0.1:{port}"), &["n", "echo", "ran"]);
    assert_eq!((reader.code, reader.out.as_str()), (77, ""), "{}", reader.told);
    assert!(reader.told.contains("`n`"), "{}", reader.told);
    assert!(!server.view().exists("n"));
}

#[test]
fn words_without_sense_are_64() {
    let server = Server::start();
    for words in [
        vec!["n"],
        vec![],
        vec!["--wat", "n", "true"],
        vec!["-n", "-w", "1", "n", "true"],
        vec!["--shared", "--fair", "n", "true"],
        vec!["--grace", "1", "--on-lost", "kill", "n", "true"],
        vec!["-n", "-E", "600", "n", "true"],
        vec!["", "true"],
        vec!["--lease", "10ms", "n", "true"],
        vec!["--lease", "20000d", "n", "true"],
        vec!["--url", "nonsense", "n", "true"],
        vec!["--url", "redis://h?wat=1", "n", "true"],
    ] {
        let ended = run(&server.url(), &words);
        assert_eq!(ended.code, 64, "{words:?}: {}", ended.told);
        assert!(!ended.told.is_empty(), "{words:?}");
    }
    assert_eq!(server.view().keys("*"), Vec::<String>::new());
}

#[test]
fn a_lock_of_another_kind_is_64_and_the_options_of_kinds_are_named() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a client");
    let _reader = client.read_write_lock("n").read().blocking().acquire().expect("it is free");
    let ended = run(&server.url(), &["n", "echo", "ran"]);
    assert_eq!((ended.code, ended.out.as_str()), (64, ""), "{}", ended.told);
    assert!(ended.told.contains("`n`") && ended.told.contains("--shared"), "{}", ended.told);
}

#[test]
fn help_and_version_are_0_and_on_standard_output() {
    for words in [vec!["--help"], vec!["--version"], vec!["run", "--help"]] {
        let output =
            std::process::Command::new(env!("CARGO_BIN_EXE_redlatch")).args(&words).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{words:?}");
        assert!(!output.stdout.is_empty() && output.stderr.is_empty(), "{words:?}");
    }
}

/// With each limit something else cannot be had: a pipe, a connection, a process. None of that is the command's fault.
#[test]
fn what_the_system_refuses_redlatch_is_71_or_69_and_leaves_no_lock_behind() {
    let server = Server::start();
    let limited = |limit: u32| {
        let script = format!("ulimit -n {limit}; exec {} run n echo ran", env!("CARGO_BIN_EXE_redlatch"));
        let mut shell = std::process::Command::new("sh");
        Ended::of(shell.args(["-c", &script]).env("REDLATCH_URL", server.url()).output().expect("a shell starts"))
    };
    let mut released = 0;
    for limit in 6..100 {
        let ended = limited(limit);
        assert!(!server.view().exists("n"), "{limit}: {}", ended.told);
        if ended.code == 0 {
            assert!(released > 0, "no limit stood between the lock and the command");
            return;
        }
        assert!([71, 69].contains(&ended.code) && ended.out.is_empty(), "{limit}: {ended:?}");
        assert!(ended.told.contains("`n`") && ended.told.contains("nothing was run"), "{limit}: {}", ended.told);
        released += u32::from(ended.told.contains("`n` is released"));
    }
    panic!("100 descriptors are not enough");
}
