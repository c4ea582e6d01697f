//! `redlatch completions` and `redlatch man`: what shells and `man` know of the command, made from its own words.

use std::fs::{create_dir_all, write};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::arguments::{Completions, Manual, Redlatch};
use crate::ending::{Failure, SYSTEM};
use crate::list::ended;
use crate::reports::Style;

pub fn completions(arguments: &Completions) -> ExitCode {
    // A reader that has gone wants no more.
    let _ = io::stdout().write_all(&script(arguments.shell));
    ExitCode::SUCCESS
}

fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    generate(shell, &mut Redlatch::command(), "redlatch", &mut script);
    script
}

pub fn manual(arguments: &Manual) -> ExitCode {
    let folder = &arguments.folder;
    let refused = |error: io::Error| {
        let text = format!(
            "the pages cannot be written to `{}`: {error}; give a folder that this user may write to",
            folder.display()
        );
        Failure::new(SYSTEM, "failed", text)
    };
    ended(pages(folder).map(|()| 0).map_err(refused), "man", Style::Text)
}

/// Writes a page for the command and one for each subcommand.
fn pages(folder: &Path) -> io::Result<()> {
    create_dir_all(folder)?;
    let mut command = Redlatch::command();
    command.build();
    page(folder, "redlatch", &command)?;
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        let name = format!("redlatch-{}", subcommand.get_name());
        page(folder, &name, subcommand)?;
    }
    Ok(())
}

fn page(folder: &Path, name: &str, command: &Command) -> io::Result<()> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    write(folder.join(format!("{name}.1")), page)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn each_shell_completes_each_subcommand() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell)).expect("it is text");
            for subcommand in Redlatch::command().get_subcommands() {
                assert!(script.contains(subcommand.get_name()), "{shell} does not know {}", subcommand.get_name());
            }
        }
    }

    #[test]
    fn each_subcommand_has_a_page_with_its_options() {
        let folder = std::env::temp_dir().join(format!("redlatch-man-{}", std::process::id()));
        pages(&folder).expect("it may be written");
        let read =
            |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let all = read("redlatch.1");
        for subcommand in Redlatch::command().get_subcommands() {
            let name = subcommand.get_name();
            assert!(all.contains(name), "redlatch.1 does not name {name}");
            let page = read(&format!("redlatch-{name}.1"));
            assert!(
                page.contains(&format!("redlatch\\-{name}")) || page.contains(&format!("redlatch-{name}")),
                "{page}"
            );
        }
        assert!(read("redlatch-run.1").contains("on\\-lost"));
        std::fs::remove_dir_all(folder).expect("it was made");
    }
}
