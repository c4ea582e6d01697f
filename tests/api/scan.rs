//! Finds the public items of a source file that rustfmt has laid out: the lines at the margin, and one step in.

pub struct Item {
    pub module: String,
    /// The type to which the lines belong, or the function or constant itself.
    pub name: String,
    pub lines: Vec<String>,
}

impl Item {
    pub fn is_impl(&self) -> bool {
        self.lines[0].starts_with("impl")
    }
}

/// The statements of a file, each on one line: without comments, the insides of bodies, and tests.
pub fn statements(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().lines() {
        let code = line.split("//").next().unwrap_or_default().trim_end();
        let depth = code.len() - code.trim_start().len();
        if code.is_empty() || (depth > 4 && !open) {
            continue;
        }
        match all.last_mut().filter(|_| open) {
            Some(last) => *last = join(last, code.trim_start()),
            None => all.push(code.to_owned()),
        }
        let last = all.last().expect("it has just been pushed");
        open = !last.ends_with(['{', '}', ';', ',', ']']) || unbalanced(last);
    }
    all
}

fn join(left: &str, right: &str) -> String {
    let is_end = right.starts_with(')') || (right.starts_with('}') && !is_variant(left));
    let tight = left.ends_with('(') || left.ends_with("::{") || is_end;
    let left = if right.starts_with([')', '}']) { left.trim_end_matches(',') } else { left };
    if tight { format!("{left}{right}") } else { format!("{left} {right}") }
}

/// Whether a line begins a variant with named fields.
fn is_variant(line: &str) -> bool {
    line.starts_with("    ") && line.trim_start().starts_with(char::is_uppercase) && line.contains(" {")
}

/// Whether a list of arguments, names or fields goes on in the next line.
fn unbalanced(line: &str) -> bool {
    line.matches('(').count() > line.matches(')').count()
        || line.ends_with("::{")
        || ((line.contains("::{") || is_variant(line)) && !line.contains('}'))
}

pub fn items(text: &str, module: &str) -> Vec<Item> {
    let mut found: Vec<Item> = Vec::new();
    let mut attributes: Vec<String> = Vec::new();
    let mut inside = "";
    let mut mark = "";
    for line in statements(text) {
        let code = line.trim_start();
        let at_margin = !line.starts_with(' ');
        if code.starts_with("#[") {
            if at_margin {
                attributes.push(code.to_owned());
            } else if code == "#[non_exhaustive]" {
                mark = "#[non_exhaustive] ";
            }
            continue;
        }
        if at_margin {
            inside = "";
            let hidden = attributes.iter().any(|attribute| attribute == "#[doc(hidden)]");
            if let (Some((kind, name)), false) = (declared(code), hidden) {
                let mut lines: Vec<_> =
                    attributes.drain(..).filter(|it| it.starts_with("#[derive") || it == "#[non_exhaustive]").collect();
                lines.push(head(code).to_owned());
                found.push(Item { module: module.to_owned(), name, lines });
                inside = if code.ends_with('{') { kind } else { "" };
            }
            attributes.clear();
        } else if let Some(item) = found.last_mut() {
            let public = code.starts_with("pub ") || ["enum", "trait"].contains(&inside);
            if !inside.is_empty() && inside != "impl for" && public && code != "}" {
                let part = if inside == "enum" || inside == "struct" { code.trim_end_matches(',') } else { head(code) };
                item.lines.push(format!("    {mark}{part}"));
            }
            mark = "";
        }
    }
    found.retain(|item| !item.is_impl() || item.lines.len() > 1 || item.lines[0].contains(" for "));
    found
}

/// The sort and the name of the item that a line at the margin declares.
fn declared(code: &str) -> Option<(&'static str, String)> {
    let name = |rest: &str| rest.split(['<', '(', ' ', ':', ';', '{']).next().unwrap_or_default().to_owned();
    if let Some(rest) = code.strip_prefix("impl") {
        let whom = rest.trim_end_matches([' ', '{', '}']).rsplit(' ').next().unwrap_or_default();
        let kind = if code.contains(" for ") { "impl for" } else { "impl" };
        return Some((kind, name(whom.rsplit("::").next().unwrap_or_default())));
    }
    let rest = code.strip_prefix("pub ")?;
    let kinds = ["struct", "enum", "trait", "fn", "const", "static", "type"];
    kinds.iter().find_map(|kind| Some((*kind, name(rest.strip_prefix(kind)?.trim_start()))))
}

/// A declaration without its body, value or private fields.
fn head(code: &str) -> &str {
    if code.starts_with("pub type") {
        return code;
    }
    if code.contains("fn ") {
        return code.split(" {").next().unwrap_or_default().trim_end_matches(';');
    }
    let end = [" {", ";", " = "].iter().filter_map(|end| code.find(end)).min().unwrap_or(code.len());
    let tuple = code.strip_prefix("pub struct ").and_then(|_| code.find('('));
    &code[..tuple.unwrap_or(end).min(end)]
}
