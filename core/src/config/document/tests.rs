use super::{Node, Value, read};

fn plain(text: &str) -> Node {
    Node { tag: None, value: Value::Plain(text.to_owned()) }
}

fn text(text: &str) -> Node {
    Node { tag: None, value: Value::Text(text.to_owned()) }
}

fn map<const N: usize>(entries: [(&str, Node); N]) -> Node {
    Node { tag: None, value: Value::Map(entries.into_iter().map(|(name, node)| (name.to_owned(), node)).collect()) }
}

fn list<const N: usize>(items: [Node; N]) -> Node {
    Node { tag: None, value: Value::List(items.into()) }
}

fn tagged(tag: &str, node: Node) -> Node {
    Node { tag: Some(tag.to_owned()), ..node }
}

fn of(yaml: &str) -> Node {
    read(yaml, |_| None).expect("it is YAML")
}

fn error(yaml: &str) -> String {
    read(yaml, |_| None).expect_err("it cannot be read").to_string()
}

#[test]
fn a_document_is_a_tree_of_texts() {
    let yaml = "# a comment\nserver:\n  address: redis://a:6379\n  name: \"7\"\n  nodes: [a, 'b']\nempty:\nlines: |\n  one\n  two\n";
    let server =
        map([("address", plain("redis://a:6379")), ("name", text("7")), ("nodes", list([plain("a"), text("b")]))]);
    assert_eq!(of(yaml), map([("server", server), ("empty", plain("")), ("lines", text("one\ntwo\n"))]));
}

#[test]
fn json_is_read_as_well() {
    let json = "{\n\t\"server\": {\"timeout\": 1000, \"address\": \"redis://a:1\"},\n\t\"on\": true, \"none\": null, \"slash\": \"a\\/b\"}";
    let server = map([("timeout", plain("1000")), ("address", text("redis://a:1"))]);
    assert_eq!(
        of(json),
        map([("server", server), ("on", plain("true")), ("none", plain("null")), ("slash", text("a/b"))])
    );
}

#[test]
fn a_tag_is_the_name_of_a_type_however_it_is_written() {
    let delay = || map([("delay", plain("PT1S"))]);
    for written in [
        "!<a.b.Delay> {delay: PT1S}",
        "!a.b.Delay {delay: PT1S}",
        "!!a.b.Delay {delay: PT1S}",
        "!<a.b.Delay>\n  delay: PT1S",
    ] {
        assert_eq!(of(&format!("retry: {written}")), map([("retry", tagged("a.b.Delay", delay()))]), "{written}");
    }
    assert_eq!(
        of("port: !!str 7\nlist: !<List> []"),
        map([("port", tagged("str", plain("7"))), ("list", tagged("List", list([])))])
    );
}

#[test]
fn an_alias_stands_for_its_anchor_and_a_merge_adds_missing_names() {
    let yaml =
        "base: &base {a: 1, b: 2}\nlist: [*base]\nboth:\n  <<: *base\n  b: 3\nlater: {b: 3, <<: [*base, {c: 4}]}";
    let base = || map([("a", plain("1")), ("b", plain("2"))]);
    let both = map([("a", plain("1")), ("b", plain("3"))]);
    let later = map([("b", plain("3")), ("a", plain("1")), ("c", plain("4"))]);
    assert_eq!(of(yaml), map([("base", base()), ("list", list([base()])), ("both", both), ("later", later)]));
}

#[test]
fn a_placeholder_is_filled_in_before_anything_is_read() {
    let known = |name: &str| (name == "REDIS.HOST_1").then(|| "db, more: yes".to_owned());
    let filled = read(
        "a: {${REDIS.HOST_1}}\nb: ${OTHER:-redis://h:1}/${OTHER:-}\nc: ${OTHER}\nd: $${${RED-IS:-x}\ne: '${'\nf: '${OTHER:-\n '",
        known,
    );
    let expected = map([
        ("a", map([("db", plain("")), ("more", plain("yes"))])),
        ("b", plain("redis://h:1/")),
        ("c", plain("${OTHER}")),
        ("d", plain("$${${RED-IS:-x}")),
        ("e", text("${")),
        ("f", text("${OTHER:- ")),
    ]);
    assert_eq!(filled.expect("it is YAML"), expected);
}

#[test]
fn an_empty_document_is_an_empty_map() {
    for nothing in ["", "# only a comment\n", "---\n", "{}"] {
        assert_eq!(of(nothing), map([]), "{nothing}");
    }
}

#[test]
fn a_refused_document_names_the_line_of_its_mistake() {
    for (yaml, words) in [
        ("a: 1\nb: [1, 2", "line 3"),
        ("a: 1\n\tb: 2", "a tab"),
        ("a: 1\n---\nb: 2", "more than one document"),
        ("a: 1\n[1, 2]: 3", "a name that is no text in line 2"),
        ("a: &a [*a]", "an alias of a value that contains it"),
        ("<<: 1", "a `<<` without a map"),
        ("*unknown", "unknown anchor"),
    ] {
        let error = error(yaml);
        assert!(error.contains(words), "{yaml}: {error}");
    }
}

#[test]
fn a_document_that_grows_beyond_reason_is_refused() {
    let deep = |levels| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(of(&deep(64)).tag, None);
    assert!(error(&deep(65)).contains("more than 64 levels in line 1"));
    assert!(error(&deep(100_000)).contains("the configuration "));
    let doublings: String = (1..40).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1)).collect();
    assert!(error(&format!("a0: &a0 x\n{doublings}")).contains("too many values"));
}

/// A file names a long text once, and 2,000 times more by aliases: reading it made 2 GB.
#[test]
fn aliases_cannot_make_a_file_too_large() {
    let long = "x".repeat(500_000);
    let bombs = [
        format!("a: &a {long}\nlist: [{}]", "*a,".repeat(2000)),
        format!("a: &a {{b: {long}}}\n{}", (0..2000).map(|i| format!("k{i}: *a\n")).collect::<String>()),
        format!("a: &a {{{long}: b}}\n{}", (0..2000).map(|i| format!("k{i}: *a\n")).collect::<String>()),
        format!("a: &a !<{long}> b\n{}", (0..2000).map(|i| format!("k{i}: *a\n")).collect::<String>()),
        (0..60).map(|i| format!("{}- &a{i}\n", " ".repeat(i))).collect::<String>()
            + &format!("{}- {long}", " ".repeat(60)),
        "a: &a0 [x]\n".to_owned()
            + &(1..40).map(|i| format!("b{i}: &a{i} [*a{0}, *a{0}]\n", i - 1)).collect::<String>(),
        format!("a: {}", "x".repeat(2_000_000)),
    ];
    for bomb in bombs {
        let said = error(&bomb);
        assert!(said.contains("too many values") || said.contains("bytes"), "{} … {said}", &bomb[..20]);
        assert!(said.len() < 200, "{}", said.len());
    }
}

/// Reading compared each name with all before it: 40,000 names took 5 s, and these would have taken a minute.
#[test]
fn a_file_of_many_names_is_read_in_one_pass() {
    let many: String = (0..45_000).map(|i| format!("k{i}: {i}\n")).collect();
    let again: String = (0..45_000).map(|i| format!("k{}: x\n", i % 3)).collect();
    let Value::Map(entries) = of(&many).value else { panic!("it is a map") };
    assert_eq!(entries.len(), 45_000);
    assert_eq!(of(&again), map([("k0", plain("x")), ("k1", plain("x")), ("k2", plain("x"))]));
}

mod fuzz {
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::{LONGEST, Node, Value, bytes, read};
    use crate::config::Config;

    /// The tokens that have a meaning in YAML, in JSON and in Redisson's files.
    const TOKENS: [&str; 48] = [
        "a",
        "b: ",
        "- ",
        "\n",
        "\n  ",
        "\n    ",
        "{",
        "}",
        "[",
        "]",
        ", ",
        ": ",
        "? ",
        "&a ",
        "*a",
        "&b ",
        "*b",
        "<<: ",
        "!t ",
        "!<t> ",
        "!!str ",
        "'",
        "\"",
        "|\n",
        ">\n",
        "#",
        "---\n",
        "...\n",
        "%YAML 1.2\n",
        "~",
        "${A}",
        "${A:-b}",
        "${",
        "}",
        "\t",
        "\r",
        "\u{feff}",
        "é",
        "\\u",
        "@",
        "`",
        "singleServerConfig: ",
        "address: redis://h",
        "clusterServersConfig: ",
        "nodeAddresses: ",
        "password: ",
        "timeout: 5",
        "retryDelay: ",
    ];

    fn made_of(node: &Node) -> usize {
        bytes(node)
            + match &node.value {
                Value::Plain(_) | Value::Text(_) => 0,
                Value::List(items) => items.iter().map(made_of).sum(),
                Value::Map(entries) => entries.iter().map(|(name, node)| name.len() + made_of(node)).sum(),
            }
    }

    fn is_read(text: &str) -> Result<(), TestCaseError> {
        if let Ok(node) = read(text, |name| Some(name.to_owned())) {
            prop_assert!(made_of(&node) <= 2 * LONGEST);
        }
        // Reading this as a file of Redisson must not panic either.
        let _ = Config::from_redisson(text);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

        #[test]
        fn a_file_of_any_tokens_is_read_or_refused(tokens in proptest::collection::vec(select(&TOKENS[..]), 0..40)) {
            is_read(&tokens.concat())?;
        }

        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,60}") {
            is_read(&text)?;
        }
    }
}
