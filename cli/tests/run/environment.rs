//! The variables by which the command knows its lock.

use redlatch_tests::Server;

use crate::process::Ended;
use crate::{Running, redlatch, run};

/// The variables of ours that the command has.
const SHOW: &str = "env | grep -E '^(REDLATCH_(NAME|OWNER|TOKEN|URL)|REDIS_URL)=' | sort";

fn variables(ended: &Ended) -> Vec<(String, String)> {
    let lines = ended.out.lines().filter_map(|line| line.split_once('='));
    lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn the_command_knows_its_lock_its_holder_and_its_token() {
    let server = Server::start();
    let mut last = 0;
    for _ in 0..3 {
        let ended = run(&server.url(), &["orders:42", "sh", "-c", SHOW]);
        let [name, owner, token] = &variables(&ended)[..] else { panic!("{ended:?}") };
        assert_eq!(*name, ("REDLATCH_NAME".into(), "orders:42".into()));
        assert_eq!(owner.0, "REDLATCH_OWNER");
        assert_eq!(token.0, "REDLATCH_TOKEN");
        let token = token.1.parse::<i64>().expect("a number");
        assert!(token > last, "{token} after {last}");
        last = token;
    }
}

#[test]
fn the_owner_of_a_permit_is_its_id_and_there_is_no_token() {
    let server = Server::start();
    let script = format!("{SHOW} > $DIR/variables; echo > $DIR/written; exec sleep 60");
    let running = Running::start(&server.url(), &["--permits", "2", "n", "sh", "-c", &script]);
    running.line("written");
    let out: Vec<Vec<u8>> = server.view().command(&["ZRANGE", "{n}:timeout", "0", "-1"]);
    let id: String = out.concat().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(running.read("variables"), format!("REDLATCH_NAME=n\nREDLATCH_OWNER={id}\n"));
}

#[test]
fn a_command_without_a_token_has_not_that_of_the_command_around_it() {
    let server = Server::start();
    let ended = Ended::of(
        redlatch(&server.url())
            .args(["--fair", "n", "sh", "-c", SHOW])
            .env("REDLATCH_TOKEN", "7")
            .output()
            .expect("it starts"),
    );
    assert_eq!(ended.code, 0, "{}", ended.told);
    assert!(!ended.out.contains("TOKEN"), "{}", ended.out);
}

#[test]
fn the_command_does_not_have_the_url() {
    let server = Server::start();
    let url = server.url();
    let ended = run(&url, &["n", "sh", "-c", SHOW]);
    assert_eq!(ended.code, 0, "{}", ended.told);
    assert!(!ended.out.contains(&url) && !ended.out.contains("REDLATCH_URL"), "{}", ended.out);
}

#[test]
fn the_option_url_is_more_than_the_environment() {
    let server = Server::start();
    let ended = run("redis://no-such-host.invalid", &["--url", &server.url(), "n", "echo", "ran"]);
    assert_eq!((ended.code, ended.out.as_str()), (0, "ran\n"), "{}", ended.told);
}

#[test]
fn the_folder_the_arguments_and_further_descriptors_are_the_commands() {
    let server = Server::start();
    let folder = crate::Folder::new();
    let script = r#"exec 3>"$1"; exec "$2" run n sh -c 'pwd; printf "%s|" "$@"; echo three >&3' sh "a b" -n --help ''"#;
    let file = folder.path("three");
    let ended = Ended::of(
        std::process::Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(&file)
            .arg(env!("CARGO_BIN_EXE_redlatch"))
            .env("REDLATCH_URL", server.url())
            .current_dir("/usr")
            .output()
            .expect("a shell starts"),
    );
    assert_eq!((ended.code, ended.out.as_str()), (0, "/usr\na b|-n|--help||"), "{}", ended.told);
    assert_eq!(folder.read("three"), "three\n");
}
