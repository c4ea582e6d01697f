//! The cases that once failed a random test. `proptest` looks for them at a path that it makes from the path of the
//! test's source file, and says nothing if it finds none there.

use std::path::{Path, PathBuf};

use super::{read, root};

/// The files below a folder, from the folder on.
fn below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
}

#[test]
fn the_saved_cases_of_a_random_test_are_where_it_looks_for_them() {
    let root = root();
    let suites = std::fs::read_dir(root.join("tests")).expect("the tests are there").flatten();
    let mut sources: Vec<PathBuf> =
        suites.map(|entry| entry.path()).filter(|path| path.join("main.rs").is_file()).collect();
    sources.push(root.join("core/src"));
    let mut found = 0;
    for (saved, sources) in [
        (root.join("core/proptest-regressions"), &sources[sources.len() - 1..]),
        (root.join("tests/proptest-regressions"), &sources[..]),
    ] {
        for case in below(&saved) {
            let source = case.strip_prefix(&saved).expect("it is below").with_extension("rs");
            let reads = |text: &str| text.contains("proptest!") || text.contains("source_file: Some(file!())");
            let mut sources = sources.iter().map(|sources| sources.join(&source));
            let is_read = sources.any(|source| source.is_file() && reads(&read(&source)));
            assert!(is_read, "no random test reads {}", case.display());
            found += 1;
        }
    }
    assert!(found >= 3, "{found} files of saved cases are found");
}
