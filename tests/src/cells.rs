//! The choice of cells of a table, such as kind × operation × trouble.

use std::collections::BTreeSet;

/// The title of the cell with a name in each dimension of the table.
pub fn title<const N: usize>(names: [&str; N]) -> String {
    names.join(" × ")
}

/// The places of the cells that an environment variable chooses: `all`, or words with `,` between them. A cell is chosen if its
/// title has all the words; a name, such as that of a kind, stands for exactly that. Further choices follow
/// after `;`. Without the variable these are the cells of `spread`.
pub fn chosen<const N: usize>(variable: &str, cells: &[[&str; N]], spread: BTreeSet<usize>) -> BTreeSet<usize> {
    let wanted = std::env::var(variable).unwrap_or_default();
    match wanted.as_str() {
        "" => spread,
        "all" => (0..cells.len()).collect(),
        choices => choices.split(';').flat_map(|words| called(variable, cells, words)).collect(),
    }
}

/// The cells that have all these words.
fn called<const N: usize>(variable: &str, cells: &[[&str; N]], words: &str) -> Vec<usize> {
    let words: Vec<&str> = words.split(',').map(str::trim).collect();
    let is_name = |word: &&str| cells.iter().any(|cell| cell.contains(word));
    let (names, parts): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| is_name(word));
    let is_one = |cell: &[&str; N]| {
        names.iter().all(|name| cell.contains(name)) && parts.iter().all(|part| title(*cell).contains(part))
    };
    let found: Vec<usize> = cells.iter().enumerate().filter(|(_, cell)| is_one(cell)).map(|(at, _)| at).collect();
    assert!(!found.is_empty(), "{variable}: no cell is called `{}`", words.join(", "));
    found
}
