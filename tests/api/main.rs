//! The public API of the crate is under review as text: whatever changes it shows in `rust.txt`.

mod scan;

use std::path::{Path, PathBuf};

use scan::Item;

const RENEW: &str = "REDLATCH_RENEW_API=1 cargo test --workspace --profile ci --test api";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What `lib.rs` names: types by `pub use`, and all that is public in a `pub mod`.
fn exported(items: &[Item]) -> Vec<String> {
    let lib = read(&root().join("core/src/lib.rs"));
    let statements = scan::statements(&lib);
    let used = statements.iter().filter_map(|line| line.strip_prefix("pub use ")?.split_once("::"));
    let names = used.flat_map(|(_, names)| names.trim_matches([';', '{', '}']).split(", ").map(str::to_owned));
    let modules = statements.iter().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    names.chain(modules.flat_map(|module| items.iter().filter(move |item| item.module == module).map(|item| item.name.clone()))).collect()
}

fn api() -> String {
    let folder = |path: &str| std::fs::read_dir(root().join(path)).expect("the crate is there").flatten().map(|entry| entry.path());
    let mut files: Vec<_> =
        folder("core/src").chain(folder("core/src/kinds")).filter(|path| path.extension() == Some("rs".as_ref())).collect();
    files.sort();
    let module = |path: &Path| path.strip_prefix(root().join("core/src")).expect("it is in there").with_extension("").display().to_string();
    let items: Vec<_> = files.iter().flat_map(|path| scan::items(&read(path), module(path).trim_end_matches("/mod"))).collect();
    let mut names = exported(&items);
    names.sort();
    names.dedup();
    let mut text = String::new();
    for name in names {
        let (parts, mut lines): (Vec<_>, Vec<_>) = items.iter().filter(|item| item.name == name).partition(|item| item.is_impl());
        assert!(!lines.is_empty(), "lib.rs exports {name}, which the scan does not find");
        lines.extend(parts);
        lines.iter().for_each(|item| text += &format!("{}\n", item.lines.join("\n")));
        text.push('\n');
    }
    text.trim_end().to_owned() + "\n"
}

#[test]
fn the_public_api_is_the_one_under_review() {
    let (path, now) = (root().join("tests/api/rust.txt"), api());
    if std::env::var_os("REDLATCH_RENEW_API").is_some() {
        std::fs::write(&path, &now).expect("the text can be written");
    }
    let reviewed = read(&path);
    let only = |these: &str, those: &str, sign: &str| -> String {
        these.lines().filter(|line| !those.lines().any(|other| other == *line)).map(|line| format!("{sign} {line}\n")).collect()
    };
    let differs = only(&reviewed, &now, "-") + &only(&now, &reviewed, "+");
    assert!(reviewed == now, "the API is not the one of tests/api/rust.txt:\n{differs}if that is meant, renew the text:\n    {RENEW}\n");
}
