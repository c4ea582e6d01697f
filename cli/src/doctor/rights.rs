//! The rights that a user of a Redis needs, as docs/deployments.md lists them.

use redlatch::Error;

use super::servers::Site;

const ALWAYS: &str = "+eval +evalsha +ping +time +publish +subscribe +unsubscribe +decr +decrby +del +exists +get +hdel +hexists +hget +hgetall +hkeys +hlen +hset +incr +incrby +lindex +llen +lrange +lrem +pexpire +pttl +rpush +set +type +zadd +zcard +zcount +zrange +zrem +zremrangebyscore +zscore";
const TOLD: &str = "+info +client|id +client|kill +client|setname +client|tracking +client|caching";
const LISTED: &str = "+client|setinfo";
const CLUSTER: &str = "+cluster|slots +cluster|info +pubsub|shardnumsub +asking";
const SHARDED: &str = "+ssubscribe +sunsubscribe +spublish";
const LISTS: &str =
    "+scan +hrandfield +strlen +pubsub|channels +pubsub|numsub +pubsub|shardchannels +pubsub|shardnumsub +client|list";
const COPIES: &str = "+wait";
/// Besides those for lists.
const ORPHANS: &str = "+object|idletime";

/// The first versions that know the rights.
const WITH_SETINFO: [u64; 2] = [7, 2];
const WITH_SHARDS: [u64; 2] = [7, 0];

/// Tells whether a right is missing.
pub fn is_missing(error: &Error) -> bool {
    matches!(error, Error::Refused { code, .. } if code == "NOPERM")
}

/// The command that gives the user every right that locks need.
pub fn for_locks(site: &Site, refused: &Error) -> String {
    if is_about_a_name(refused) {
        return format!("give --name a name that the user may use, as --name orders:doctor; {}", for_names(site));
    }
    let mut rights = vec![ALWAYS, TOLD];
    if site.version.as_slice() >= WITH_SETINFO.as_slice() {
        rights.push(LISTED);
    }
    if site.is_cluster {
        rights.push(CLUSTER);
        if site.version.as_slice() >= WITH_SHARDS.as_slice() {
            rights.push(SHARDED);
        }
    }
    format!("as an administrator: {}", command(site, &rights))
}

/// The remedy for a user that may not list locks.
pub fn for_lists(site: &Site, refused: &Error) -> String {
    match is_about_a_name(refused) {
        true => format!("list the names that the user may read alone, as redlatch ls 'orders:*'; {}", for_names(site)),
        false => format!("as an administrator: {}", command(site, &[LISTS])),
    }
}

/// The command that gives the user some names. Beside a lock there are keys and channels with its name in braces.
fn for_names(site: &Site) -> String {
    format!(
        "for names that begin with orders:, an administrator says: {}",
        command(site, &["~orders:* ~*{orders:* &*{orders:*"])
    )
}

/// The remedy for a user that may not look at some keys.
pub fn for_orphans(site: &Site, refused: &Error) -> String {
    match is_about_a_name(refused) {
        true => "look as a user that may read all keys".to_owned(),
        false => format!("as an administrator: {}", command(site, &[LISTS, ORPHANS])),
    }
}

/// Whether the server refuses a name, in its own words. The name itself, which the error has as well, may be anything.
fn is_about_a_name(refused: &Error) -> bool {
    matches!(refused, Error::Refused { message, .. } if message.contains("key") || message.contains("channel"))
}

/// The command that gives the user the right to ask for the confirmation of replicas.
pub fn for_copies(site: &Site) -> String {
    format!("as an administrator: {}", command(site, &[COPIES]))
}

fn command(site: &Site, rights: &[&str]) -> String {
    format!("ACL SETUSER {} {}", site.user, rights.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rights_are_those_of_the_guide() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/deployments.md");
        let guide = std::fs::read_to_string(guide).expect("the guide is there");
        for (rights, purpose) in [
            (format!("reset on >secret ~* &* {ALWAYS}"), "always"),
            (TOLD.to_owned(), "told of losses at once, and listed by name"),
            (LISTED.to_owned(), "listed with the library, from Redis 7.2 on"),
            (CLUSTER.to_owned(), "in a cluster"),
            (SHARDED.to_owned(), "in a cluster, from Redis 7.0 on"),
            (LISTS.to_owned(), "that lists locks"),
            (COPIES.to_owned(), "with a sync policy"),
        ] {
            let line = format!("ACL SETUSER locks {rights} # {purpose}");
            assert!(guide.lines().any(|said| said == line), "{line}");
        }
    }

    #[test]
    fn a_user_gets_the_names_in_braces_as_well() {
        let site = Site { user: "u".into(), version: vec![7], is_cluster: false, replicas: 0 };
        assert!(for_names(&site).ends_with("says: ACL SETUSER u ~orders:* ~*{orders:* &*{orders:*"));
    }

    #[test]
    fn a_server_gets_no_right_that_it_does_not_know() {
        let site =
            |version: &[u64], is_cluster| Site { user: "u".into(), version: version.to_vec(), is_cluster, replicas: 0 };
        let refused = Error::Unsupported("as if it were refused".into());
        let has = |site: &Site, rights: &str| for_locks(site, &refused).contains(rights);
        assert!(!has(&site(&[7, 0, 15], false), LISTED) && has(&site(&[8, 0], false), LISTED));
        assert!(!has(&site(&[6, 2], true), SHARDED) && has(&site(&[6, 2], true), CLUSTER));
        assert!(has(&site(&[7, 0], true), SHARDED) && !has(&site(&[], false), CLUSTER));
    }
}
