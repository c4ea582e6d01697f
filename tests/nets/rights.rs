//! The commands that the scripts of a kind use, read from the scripts.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use redlatch_tests::kinds;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/scripts");

/// Every command that a script of the kind calls, in lower case.
pub fn commands(kind: &str) -> BTreeSet<String> {
    let files = kinds::row(kind).scripts.iter().flat_map(|folder| lua_files(&Path::new(SCRIPTS).join(folder)));
    let shared = lua_files(Path::new(SCRIPTS)).into_iter().filter(|file| is_shared(file));
    let text: String =
        files.chain(shared).map(|file| std::fs::read_to_string(&file).expect("it is in the tree")).collect();
    let calls = ["redis.call('", "redis.pcall('", "look('"].into_iter().flat_map(|call| text.split(call).skip(1));
    let commands: BTreeSet<String> = calls.filter_map(|rest| rest.split('\'').next()).map(str::to_lowercase).collect();
    // The name of the publishing command is an argument.
    commands.into_iter().chain(["publish".to_owned()]).collect()
}

fn is_shared(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with('_') && !["_once.lua", "_undo.lua"].contains(&name)
}

fn lua_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let files = entries.flatten().map(|entry| entry.path());
    files.filter(|path| path.extension().is_some_and(|extension| extension == "lua")).collect()
}
