//! Two kinds on one key. Kinds with the same form in Redis share the key as Redisson's do; every other pair is told of
//! the mix-up.

use redlatch::ffi::kinds::{ALL, KindRow, Traits};
use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Client, Error};
use redlatch_tests::kinds::Form;
use redlatch_tests::{Server, View, kinds};

fn form(traits: &Traits) -> Form {
    kinds::row(traits.name).form
}

fn words(form: Form) -> &'static str {
    match form {
        Form::Lock => "a lock",
        Form::ReadWrite => "a read-write lock",
        Form::Group => "a group of values",
        Form::Token => "a text",
        Form::Number => "a number",
    }
}

/// Whether one owner's hold keeps all others out.
fn exclusive(form: Form) -> bool {
    matches!(form, Form::Lock | Form::Group | Form::Token)
}

fn ask(client: &Client, op: Op, kind: &Traits, name: &str) -> Result<Answer, Error> {
    let numbers = if form(kind) == Form::Number { vec![1] } else { Vec::new() };
    // One value alone: the server may move the fields of a greater hash at any time, and the test compares dumps.
    let name = if form(kind) == Form::Group { format!("{name}\0one") } else { name.to_owned() };
    client.run_blocking(Request { numbers, ..Request::new(op, kind.name, name, 1) })
}

/// Puts the first of the two kinds there: held, or with more than one permit or count.
fn put(client: &Client, kind: &Traits, name: &str) {
    kinds::set_up(client, kind.name, name, 3);
    if kind.name != "latch" {
        assert!(ask(client, Op::Acquire, kind, name).expect("answered").done, "{}", kind.name);
    }
}

/// All keys with their contents.
fn stored(view: &mut View, name: &str) -> Vec<(String, Vec<u8>)> {
    let keys = view.keys(&format!("*{name}*")).into_iter().filter(|key| !key.starts_with("redlatch_request"));
    keys.map(|key| {
        let dump = view.command(&["DUMP", &key]);
        (key, dump)
    })
    .collect()
}

fn assert_told(error: &Error, name: &str, first: &Traits, second: &Traits) {
    let Error::Refused { code, .. } = error else { panic!("{error:?}") };
    let said = error.to_string();
    let found = match (form(first), first.name) {
        (Form::Number, "latch") => "the number 3",
        (Form::Number, _) => "the number 2",
        (form, _) => words(form),
    };
    assert!(
        code == "WRONGTYPE" && said.contains(&format!("`{name}")) && said.contains(&format!("has {found}")),
        "{said}"
    );
    assert!(said.contains(&format!("the kind {} keeps {}", second.name, words(form(second)))), "{said}");
    assert!(said.contains("use another name"), "{said}");
}

#[test]
fn every_pair_of_kinds_on_one_key_shares_it_or_is_told() {
    let server = Server::start();
    let client = || Client::connect(&server.url()).expect("a good URL");
    let one = client();
    let two = client();
    let mut view = server.view();
    let changes = [Op::TrySet, Op::Set, Op::Add, Op::Drain, Op::CountDown, Op::ReleaseIfExists];
    let operations = [&[Op::Acquire, Op::ForceRelease, Op::Inspect][..], &changes].concat();
    for (first, second) in ALL.iter().flat_map(|first| ALL.iter().map(move |second| (&first.traits, &second.traits))) {
        let name = format!("{}-{}", first.name, second.name);
        let forms = (form(first), form(second));
        put(&one, first, &name);
        let before = stored(&mut view, &name);
        for &op in &operations {
            let answer = ask(&two, op, second, &name);
            let because = format!("{op:?} of {} where {} is: {answer:?}", second.name, first.name);
            match (forms, op) {
                // The kind has no such operation.
                _ if matches!(answer, Err(Error::Unsupported(_))) => {
                    assert!(![Op::Acquire, Op::Inspect].contains(&op), "{because}")
                }
                _ if op == Op::Acquire
                    && (forms.0 == forms.1 && exclusive(forms.0) || forms == (Form::Number, Form::Token)) =>
                {
                    assert!(!answer.expect("answered").done, "{because}");
                }
                ((Form::ReadWrite, Form::ReadWrite), Op::Acquire) => {
                    assert_eq!(
                        answer.expect("answered").done,
                        (first.name, second.name) == ("read", "read"),
                        "{because}"
                    );
                }
                ((Form::Number, Form::Number), Op::Acquire) => {
                    assert_eq!(answer.expect("answered").done, second.name != "latch", "{because}")
                }
                ((Form::Lock | Form::ReadWrite | Form::Group, Form::Lock | Form::ReadWrite), Op::Inspect) => {
                    drop(answer.expect("answered"));
                }
                ((a, b), Op::ForceRelease | Op::Inspect) if a == b || (a, b) == (Form::Number, Form::Token) => {
                    drop(answer.expect("answered"))
                }
                ((Form::Number, Form::Number), _) => drop(answer.expect("answered")),
                _ => {
                    assert_told(&answer.expect_err(&because), &name, first, second);
                    assert_eq!(stored(&mut view, &name), before, "{because}");
                }
            }
        }
    }
}

#[test]
fn a_latch_is_no_semaphore_of_which_more_was_taken_for_good_than_there_was() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    assert_eq!(client.semaphore("n").remove_permits(3).blocking().expect("answered"), 0);
    let latch = client.latch("n");
    for refused in [
        latch.wait().blocking().map(drop),
        latch.count_down().blocking().map(drop),
        latch.try_set_count(1).blocking().map(drop),
    ] {
        let said = refused.expect_err("it is no latch").to_string();
        assert!(said.contains("`n`") && said.contains("the number -3") && said.contains("zero or more"), "{said}");
    }
}

#[test]
fn a_key_of_any_other_type_is_told_to_every_kind() {
    let server = Server::start();
    let client = Client::connect(&server.url()).expect("a good URL");
    let mut view = server.view();
    for write in
        [&["RPUSH", "n", "x"][..], &["SADD", "n", "x"], &["ZADD", "n", "1", "x"], &["XADD", "n", "*", "f", "x"]]
    {
        view.command::<()>(&["DEL", "n"]);
        view.command::<Option<String>>(write);
        for KindRow { traits: kind, .. } in ALL {
            let said = ask(&client, Op::Acquire, kind, "n").expect_err("refused").to_string();
            let found = format!("has a {}", view.kind("n"));
            assert!(
                said.contains("`n") && said.contains(&found) && said.contains(&format!("the kind {} keeps", kind.name)),
                "{said}"
            );
        }
    }
}
