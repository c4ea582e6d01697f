//! The public API of the crate is under review as text: every change of it shows in `rust.txt`, and every change of the
//! border of languages in `ffi.txt`.

mod rooms;
mod saved_cases;
mod scan;

use std::path::{Path, PathBuf};

use scan::Item;

/// The module that is the border of languages.
const BORDER: &str = "ffi";
const RENEW: &str = "REDLATCH_RENEW_API=1 cargo test --workspace --profile ci --test api";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The source files of the core, in order, each with its module: `api/guard`.
fn modules() -> Vec<(String, String)> {
    let source = root().join("core/src");
    let mut folders = vec![source.clone()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the crate is there").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension() == Some("rs".as_ref()) {
                let module =
                    path.strip_prefix(&source).expect("it is in there").with_extension("").display().to_string();
                found.push((module.trim_end_matches("/mod").to_owned(), read(&path)));
            }
        }
    }
    found.sort();
    found
}

/// The names that a file exports: items by `pub use crate::module::{…}`, and everything public in a module that it
/// names.
fn exported(file: &str, modules: &[(String, String)], items: &[Item]) -> Vec<(String, String)> {
    let mut names = Vec::new();
    for line in scan::statements(&read(&root().join(file))) {
        let Some((module, last)) =
            line.strip_prefix("pub use crate::").and_then(|path| path.trim_end_matches(';').rsplit_once("::"))
        else {
            continue;
        };
        let module = module.replace("::", "/");
        let inside = format!("{module}/{last}");
        if modules.iter().any(|(module, _)| *module == inside) {
            names.extend(
                items.iter().filter(|item| item.module == inside).map(|item| (inside.clone(), item.name.clone())),
            );
        } else {
            names.extend(last.trim_matches(['{', '}']).split(", ").map(|name| (module.clone(), name.to_owned())));
        }
    }
    names
}

/// The part of the crate that a Rust program sees.
fn api() -> String {
    let modules = modules();
    let items = items(modules.iter().filter(|(module, _)| module != BORDER));
    surface(exported("core/src/lib.rs", &modules, &items), &items)
}

/// The part of the crate that is hidden from a Rust program.
fn border() -> String {
    let modules = modules();
    let items = items(&modules);
    let own = items.iter().filter(|item| item.module == BORDER && !item.is_impl());
    let mut names: Vec<_> = own.map(|item| (BORDER.to_owned(), item.name.clone())).collect();
    names.extend(exported("core/src/ffi.rs", &modules, &items));
    surface(names, &items)
}

fn items<'a>(modules: impl IntoIterator<Item = &'a (String, String)>) -> Vec<Item> {
    modules.into_iter().flat_map(|(module, text)| scan::items(text, module)).collect()
}

/// The declarations of these names, and their implementations.
fn surface(mut names: Vec<(String, String)>, items: &[Item]) -> String {
    names.sort_by(|(_, one), (_, other)| one.cmp(other));
    names.dedup();
    let mut text = String::new();
    for (module, name) in names {
        // Another module may have a private type of the same name, whose implementations are no part of the API. They are
        // in that module or in modules inside it.
        let is_declared_elsewhere = |item: &&Item| {
            let declares = |it: &Item| it.name == name && !it.is_impl() && it.module != module;
            items.iter().any(|it| declares(it) && item.module.starts_with(&it.module))
        };
        let named =
            items.iter().filter(|item| item.name == name && (item.module == module || !is_declared_elsewhere(item)));
        let (mut parts, mut lines): (Vec<_>, Vec<_>) = named.partition(|item| item.is_impl());
        parts.sort_by_key(|item| item.module != module);
        assert!(!lines.is_empty(), "the crate exports {name} of {module}, which the scan does not find");
        lines.extend(parts);
        lines.iter().for_each(|item| text += &format!("{}\n", item.lines.join("\n")));
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}

fn is_under_review(now: &str, file: &str) {
    let path = root().join("tests/api").join(file);
    if std::env::var_os("REDLATCH_RENEW_API").is_some() {
        std::fs::write(&path, now).expect("the text can be written");
    }
    let reviewed = read(&path);
    let only = |these: &str, those: &str, sign: &str| -> String {
        these
            .lines()
            .filter(|line| !those.lines().any(|other| other == *line))
            .map(|line| format!("{sign} {line}\n"))
            .collect()
    };
    let differs = only(&reviewed, now, "-") + &only(now, &reviewed, "+");
    assert!(
        reviewed == now,
        "the API is not the one of tests/api/{file}:\n{differs}if that is meant, renew the text:\n    {RENEW}\n"
    );
}

#[test]
fn the_public_api_is_the_one_under_review() {
    is_under_review(&api(), "rust.txt");
}

#[test]
fn the_border_of_languages_is_the_one_under_review() {
    is_under_review(&border(), "ffi.txt");
}

/// With a request or the number of a hold a caller could release the hold of another one.
#[test]
fn the_public_api_takes_and_gives_nothing_of_the_border() {
    let lib = read(&root().join("core/src/lib.rs"));
    assert!(lib.contains("#[doc(hidden)]\npub mod ffi;"), "the documentation shows the border");
    let word = |line: &str, name: &str| {
        line.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == name)
    };
    let modules = modules();
    let items = items(&modules);
    let mut names: Vec<_> = exported("core/src/ffi.rs", &modules, &items).into_iter().map(|(_, name)| name).collect();
    names.retain(|name| name.starts_with(char::is_uppercase));
    names.extend(["Border", "hold", "ticket"].map(str::to_owned));
    let api = api();
    let found: Vec<_> = names
        .iter()
        .flat_map(|name| api.lines().filter(|line| word(line, name)).map(move |line| (name, line)))
        .collect();
    assert!(found.is_empty(), "the API has names of the border: {found:?}");
}
