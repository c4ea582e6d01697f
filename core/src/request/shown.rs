//! What a message may show of a text that a program or a file gave: a password may stand where it does not belong, so that only what is
//! certainly none is shown.

/// As much of a text as a message has room for.
const MOST: usize = 100;

/// A URL, or what should be one: its scheme and its hosts, if they can be told from a password for certain; else how long it is.
pub fn url(text: &str) -> String {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), text),
    };
    let (authority, behind) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let (login, hosts) = match authority.rsplit_once('@') {
        Some((_, hosts)) => ("…@", hosts),
        None => ("", authority),
    };
    let more = if matches!(behind, "" | "/") { behind } else { "/…" };
    let is_named = scheme.trim_end_matches("://").bytes().all(|letter| letter.is_ascii_lowercase() || letter == b'+');
    // Without a scheme, or with an `@` behind it, what looks like a host may be the half of a password.
    let is_plain = if scheme.is_empty() { login.is_empty() && behind.is_empty() } else { is_named && !behind.contains('@') };
    if is_plain && hosts.split(',').all(is_place) { short(&format!("{scheme}{login}{hosts}{more}")) } else { hidden(text) }
}

/// The value of an option, or of a setting of a file.
pub fn value(option: &str, text: &str) -> String {
    // An address with a login, a URL with options, or the content of a file where its name belongs.
    let may_have_one = text.contains('@') || text.contains('\n') || is_secret(text);
    if is_secret(option) || may_have_one { hidden(text) } else { short(text) }
}

/// Whether an option, or a setting of a file, is a password whatever it is set to.
pub fn is_secret(option: &str) -> bool {
    option.to_ascii_lowercase().contains("password")
}

/// How long it is.
pub fn hidden(text: &str) -> String {
    format!("… ({} characters)", text.chars().count())
}

/// The beginning of what has no room; for what holds no secret.
pub fn short(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `host`, `host:port`, `[ip6]:port`; or nothing.
fn is_place(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (text, ""),
    };
    let is_ip6 = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|ip| ip.bytes().all(|b| b.is_ascii_hexdigit() || b":.".contains(&b)));
    let is_name = host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b));
    (is_ip6 || is_name) && port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit())
}
