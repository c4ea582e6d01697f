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
    let server = map([("address", plain("redis://a:6379")), ("name", text("7")), ("nodes", list([plain("a"), text("b")]))]);
    assert_eq!(of(yaml), map([("server", server), ("empty", plain("")), ("lines", text("one\ntwo\n"))]));
}

#[test]
fn json_is_read_as_well() {
    let json = "{\n\t\"server\": {\"timeout\": 1000, \"address\": \"redis://a:1\"},\n\t\"on\": true, \"none\": null, \"slash\": \"a\\/b\"}";
    let server = map([("timeout", plain("1000")), ("address", text("redis://a:1"))]);
    assert_eq!(of(json), map([("server", server), ("on", plain("true")), ("none", plain("null")), ("slash", text("a/b"))]));
}

#[test]
fn a_tag_is_the_name_of_a_type_however_it_is_written() {
    let delay = || map([("delay", plain("PT1S"))]);
    for written in ["!<a.b.Delay> {delay: PT1S}", "!a.b.Delay {delay: PT1S}", "!!a.b.Delay {delay: PT1S}", "!<a.b.Delay>\n  delay: PT1S"] {
        assert_eq!(of(&format!("retry: {written}")), map([("retry", tagged("a.b.Delay", delay()))]), "{written}");
    }
    assert_eq!(of("port: !!str 7\nlist: !<List> []"), map([("port", tagged("str", plain("7"))), ("list", tagged("List", list([])))]));
}

#[test]
fn an_alias_stands_for_its_anchor_and_a_merge_for_what_is_missing() {
    let yaml = "base: &base {a: 1, b: 2}\nlist: [*base]\nboth:\n  <<: *base\n  b: 3\nlater: {b: 3, <<: [*base, {c: 4}]}";
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
fn nothing_is_an_empty_map() {
    for nothing in ["", "# only a comment\n", "---\n", "{}"] {
        assert_eq!(of(nothing), map([]), "{nothing}");
    }
}

#[test]
fn what_cannot_be_read_is_named_with_its_line() {
    for (yaml, words) in [
        ("a: 1\nb: [1, 2", "line 3"),
        ("a: 1\n\tb: 2", "a tab"),
        ("a: 1\n---\nb: 2", "more than one document"),
        ("a: 1\n[1, 2]: 3", "a name that is no text in line 2"),
        ("a: &a [*a]", "an alias of what contains it"),
        ("<<: 1", "a `<<` without a map"),
        ("*unknown", "unknown anchor"),
    ] {
        let error = error(yaml);
        assert!(error.contains(words), "{yaml}: {error}");
    }
}

#[test]
fn what_grows_beyond_reason_is_refused() {
    let deep = |levels| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(of(&deep(64)).tag, None);
    assert!(error(&deep(65)).contains("more than 64 levels in line 1"));
    assert!(error(&deep(100_000)).contains("the configuration "));
    let doublings: String = (1..40).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}]\n", n - 1)).collect();
    assert!(error(&format!("a0: &a0 x\n{doublings}")).contains("too many values"));
}
