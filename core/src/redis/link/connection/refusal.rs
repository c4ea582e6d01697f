//! The words of a server's refusal, and the remedy.

use std::collections::BTreeSet;

use crate::redis::kinds::script::Call;

/// The code and the words of an error. The errors of scripts also name a place in the script. It is behind the words;
/// or, on servers before 7, which call all of them `ERR`, before the words and the real code.
pub fn of_script<'a>(code: &'a str, detail: &'a str) -> (&'a str, &'a str) {
    let renamed = |code: &'a str, said: &'a str| match said.strip_prefix("ERR ").unwrap_or(said) {
        said if code == "ERR" && is_of_acl(said) => ("NOPERM", said),
        said => (code, said),
    };
    if let Some((said, place)) = detail.rsplit_once(" script: ")
        && place.contains("@user_script:")
    {
        return renamed(code, said);
    }
    let place = match (code, detail.rsplit_once("@user_script:")) {
        ("ERR", Some((_, place))) => place,
        ("@user_script:", _) => detail,
        _ => return renamed(code, detail),
    };
    let said = place.split_once(": ").map_or(place, |(_, said)| said).trim_start_matches('-');
    match said.split_once(' ') {
        Some((code, words)) if code.bytes().all(|letter| letter.is_ascii_uppercase()) => (code, words),
        _ => renamed("ERR", said),
    }
}

/// Removes the arguments from an error: servers repeat commands that they do not know, and a login may be among them.
pub fn without_arguments(said: &str) -> &str {
    said.split_once(", with args beginning with").map_or(said, |(said, _)| said)
}

/// Tells whether the server denied a script a right, in the words of Redis 6 and 7, or of Valkey and Redis 8.
fn is_of_acl(said: &str) -> bool {
    let denied = ["run this command", "access at least one of the keys", "publish to the channel"];
    said.starts_with("ACL failure")
        || said.split_once("can't ").is_some_and(|(_, what)| denied.iter().any(|denied| what.starts_with(denied)))
}

/// The remedy to put behind the server's words, if there is one. `call`: the call that the server refused.
pub fn remedy(code: &str, said: &str, call: Option<&Call>) -> String {
    match (code, call) {
        // The error is about a key beside the lock's own: a script reports a wrong key of the lock itself.
        ("WRONGTYPE", _) => "; use another name, or delete the key if it is of no use".into(),
        ("NOPERM", Some(call)) if said.contains("channel") => match channel(call) {
            Some(channel) => format!("; give the user its channel by ACL SETUSER: {channel}"),
            None => "; give the user that channel by ACL SETUSER".into(),
        },
        ("NOPERM", Some(call)) if said.contains(" key") => {
            format!("; give the user its keys by ACL SETUSER: {}", keys(call))
        }
        ("NOPERM", Some(call)) if said.contains("command or subcommand") => {
            format!("; give the user all that the script runs by ACL SETUSER: {}", rights(call))
        }
        ("NOPERM", _) => "; give the user that right by ACL SETUSER".into(),
        ("ERR", _) if said.contains("cluster support disabled") => {
            "; it is no cluster: use it as a single server, by redis:// or rediss://".into()
        }
        _ => String::new(),
    }
}

/// The keys that the call names, and those that its script makes of the first one. A call without keys that uses some has their pattern as
/// its first argument.
fn keys(call: &Call) -> String {
    let pattern = call.args.iter().next().filter(|_| call.keys.len() == 0 && call.beside.is_some());
    let named: Vec<_> = call.keys.iter().chain(pattern).map(String::from_utf8_lossy).collect();
    let beside = call.beside.and_then(|beside| Some(beside(named.first()?)));
    named.iter().map(AsRef::as_ref).chain(beside.as_deref()).map(|key| format!("~{key}")).collect::<Vec<_>>().join(" ")
}

fn channel(call: &Call) -> Option<String> {
    let channel = String::from_utf8_lossy(call.channel()?);
    // Each waiter of a fair lock has a channel of its own.
    let each = if call.script.name.starts_with("fair/") { ":*" } else { "" };
    Some(format!("&{channel}{each}"))
}

fn rights(call: &Call) -> String {
    commands(call.script.text)
        .iter()
        .map(|command| format!("+{}", command.to_lowercase()))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The commands that a script may run, in order; the command that wakes waiters is an input.
fn commands(script: &'static str) -> BTreeSet<&'static str> {
    let publishes = script.contains("call(publish,").then_some("PUBLISH");
    let quoted = |text: &'static str| text.strip_prefix('\'')?.split_once('\'').map(|(command, _)| command);
    let named = ["call(", "look("].iter().flat_map(|by| script.split(by).skip(1)).filter_map(quoted);
    named.chain(publishes).collect()
}

#[cfg(test)]
mod tests {
    use super::{commands, of_script};

    #[test]
    fn an_error_of_a_script_has_its_own_code_on_every_server() {
        for (detail, code, words) in [
            (
                "Error running script (call to f_1): @user_script:1: WRONGTYPE Operation against",
                "WRONGTYPE",
                "Operation against",
            ),
            (
                "Error running script (call to f_1): @user_script:9: @user_script: 9: -OOM command not",
                "OOM",
                "command not",
            ),
            (
                "Error running script (call to f_1): @user_script:9: @user_script: 9: The user can't run this command",
                "NOPERM",
                "The user can't run this command",
            ),
            ("Error running script (call to f_1): @user_script:2: attempt to index", "ERR", "attempt to index"),
        ] {
            assert_eq!(of_script("ERR", detail), (code, words));
        }
        let older = "The user executing the script can't run this command or subcommand";
        let newer = "ACL failure in script: User u has no permissions";
        assert_eq!(of_script("ERR", &format!("{older} script: a03f, on @user_script:41.")), ("NOPERM", older));
        assert_eq!(of_script("ERR", &format!("{newer} script: on @user_script:1.")), ("NOPERM", newer));
        assert_eq!(
            of_script("WRONGTYPE", "Operation against script: a03f, on @user_script:1."),
            ("WRONGTYPE", "Operation against")
        );
        assert_eq!(of_script("@user_script:", "9: -OOM command not"), ("OOM", "command not"));
        assert_eq!(of_script("OOM", "command not allowed"), ("OOM", "command not allowed"));
        assert_eq!(of_script("ERR", older), ("NOPERM", older));
        assert_eq!(of_script("ERR", newer), ("NOPERM", newer));
        assert_eq!(of_script("ERR", &format!("ERR {newer} script: on @user_script:1.")), ("NOPERM", newer));
    }

    #[test]
    fn the_rights_that_a_script_needs_are_those_to_all_that_it_runs() {
        let script = "look('HEXISTS', lock)\nif redis.call('TIME') then redis.call(publish, channel) end";
        assert_eq!(commands(script).into_iter().collect::<Vec<_>>(), ["HEXISTS", "PUBLISH", "TIME"]);
    }
}
