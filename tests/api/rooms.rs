//! The rooms of `core/src`. A room imports only from itself and from rooms below it, so that no circle of modules
//! crosses rooms.

/// The rooms from the top down. A module belongs to the longest of these names that its own name begins with.
const ROOMS: [&str; 11] =
    ["ffi", "api", "client", "redis", "redis::link", "redis::kinds", "sessions", "engine", "config", "request", "base"];

/// How far down a module is; `None`: it is in no room.
fn floor(module: &str) -> Option<usize> {
    let is_in = |room: &str| module.strip_prefix(room).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"));
    (0..ROOMS.len()).filter(|at| is_in(ROOMS[*at])).max_by_key(|at| ROOMS[*at].len())
}

/// The modules, or their items, that a line of a module's code imports or names.
fn named(module: &str, line: &str) -> Vec<String> {
    let code = line.split("//").next().unwrap_or_default();
    let path = |text: &str| {
        let end = text.find(|letter: char| !letter.is_alphanumeric() && !"_:".contains(letter)).unwrap_or(text.len());
        text[..end].trim_end_matches(':').to_owned()
    };
    let mut found: Vec<_> = code.split("crate::").skip(1).map(path).collect();
    if let Some(rest) = code.trim_start().strip_prefix("use super::") {
        // An indented line is inside a module of the same file.
        let mut here =
            if code.starts_with(' ') { Some(module) } else { module.rsplit_once("::").map(|(parent, _)| parent) };
        let mut rest = rest;
        while let Some(further) = rest.strip_prefix("super::") {
            here = here.and_then(|here| here.rsplit_once("::")).map(|(parent, _)| parent);
            rest = further;
        }
        let rest = path(rest);
        let inside =
            here.map_or(rest.clone(), |here| if rest.is_empty() { here.to_owned() } else { format!("{here}::{rest}") });
        found.push(inside);
    }
    found
}

/// The imports of these modules that go upwards, or to no room.
fn upward(modules: &[(String, String)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (path, text) in modules {
        let module = path.replace('/', "::");
        let Some(here) = floor(&module) else { continue };
        for name in text.lines().flat_map(|line| named(&module, line)) {
            if floor(&name).is_none_or(|there| there < here) {
                wrong.push(format!("{module} -> {name}"));
            }
        }
    }
    wrong
}

#[test]
fn every_file_is_in_a_room() {
    let outside: Vec<_> = super::modules()
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| floor(&path.replace('/', "::")).is_none())
        .collect();
    assert_eq!(outside, ["lib"]);
}

#[test]
fn a_room_imports_only_from_itself_and_from_rooms_below_it() {
    let wrong = upward(&super::modules());

    assert!(
        wrong.is_empty(),
        "{} imports go upwards; the rooms are, from the top down, {ROOMS:?}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn an_import_that_goes_upwards_is_found_however_it_is_written() {
    let find = |module: &str, line: &str| upward(&[(module.to_owned(), line.to_owned())]).len();
    assert_eq!(find("engine/line", "use crate::redis::link::Link;"), 1);
    assert_eq!(find("engine/line", "    held.then(|| crate::client::Client::close)"), 1);
    assert_eq!(find("redis/kinds/plain", "use super::super::settle;"), 1);
    assert_eq!(find("engine/line", "use crate::Client;"), 1, "a name of lib.rs says nothing of its room");
    assert_eq!(find("redis/wait/lines", "use crate::engine::line::Line; // crate::api is above"), 0);
    assert_eq!(find("redis/kinds/mod", "    use super::*;"), 0);
}
