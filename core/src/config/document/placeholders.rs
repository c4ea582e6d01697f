//! `${NAME}` and `${NAME:-default}` in a text.

/// Replaces each placeholder by the value that `lookup` has for the name, else by the default; without both it stays.
pub fn fill_in(text: &str, lookup: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        let found = parse(from)
            .and_then(|(name, default, length)| Some((lookup(name).or(default.map(str::to_owned))?, length)));
        let (value, length) = found.unwrap_or_else(|| ("${".to_owned(), 2));
        filled.push_str(&value);
        rest = &from[length..];
    }
    filled + rest
}

/// The name, the default and the length of the placeholder that the text begins with.
fn parse(text: &str) -> Option<(&str, Option<&str>, usize)> {
    let end = text.find(['}', '\n']).filter(|end| text[*end..].starts_with('}'))?;
    let inner = &text[2..end];
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
    is_name.then_some((name, default, end + 1))
}
