//! The part that a message may show of a text from a program or a file. A password may stand in the wrong place, so a
//! message shows only text that is certainly not one.

/// The most characters of a text that a message shows.
const MOST: usize = 100;
/// The least length of a private key in Base64.
const SHORTEST_KEY: usize = 44;

/// A URL, or a text in its place: its scheme and its hosts, if they are certainly no part of a password; else its
/// length.
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
    // Without a scheme, or with an `@` behind the hosts, a seeming host may be half of a password.
    let is_plain =
        if scheme.is_empty() { login.is_empty() && behind.is_empty() } else { is_named && !behind.contains('@') };
    if is_plain && hosts.split(',').all(is_place) {
        short(&format!("{scheme}{login}{hosts}{more}"))
    } else {
        hidden(text)
    }
}

/// The value of an option, or of a setting of a file.
pub fn value(option: &str, text: &str) -> String {
    // The value may be an address with a login, a URL with options, or the content of a file instead of its name.
    let may_have_one = text.contains('@') || text.contains('\n') || is_secret(text) || may_be_a_key(text);
    if is_secret(option) || may_have_one { hidden(text) } else { short(text) }
}

/// Tells whether a text may be a private key without its line breaks, or without the lines around it, instead of the name
/// of its file.
fn may_be_a_key(text: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/= ".contains(&byte);
    text.contains("-----BEGIN") || (text.len() >= SHORTEST_KEY && text.bytes().all(is_base64))
}

/// Tells whether an option, or a setting of a file, is always a password.
pub fn is_secret(option: &str) -> bool {
    option.to_ascii_lowercase().contains("password")
}

/// The length of a text.
pub fn hidden(text: &str) -> String {
    format!("… ({} characters)", text.chars().count())
}

/// The beginning of a long text; only for texts without a secret.
pub fn short(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Tells whether a text is `host`, `host:port`, `[ip6]:port` or empty.
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
