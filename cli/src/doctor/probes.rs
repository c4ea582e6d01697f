//! Real locks, of each kind that the system has: taken, waited for, handed over, renewed, and taken away.

use std::time::Duration;

use redlatch::ffi::{Border, Op, Request};
use redlatch::{Client, Error, Loss};
use tokio::time::{sleep, timeout};

use super::finding::Finding;
use super::servers::{Site, shown};
use super::{LEASE, PATIENCE, rights};
use crate::clock;

/// A hand-over takes longer if no message wakes the waiter.
const LATE: Duration = Duration::from_secs(1);
/// From this age on a hold is one of whose end the server tells the client.
const SETTLED: Duration = Duration::from_millis(300);
/// The time after which the server removes what a doctor that was killed has left.
const LEFT: i64 = 60_000;

/// `site`: the servers of a Redis. False: there was no answer.
pub async fn examine(
    first: &Client,
    second: &Client,
    name: &str,
    site: Option<&Site>,
    mut add: impl FnMut(Finding),
) -> bool {
    if !each_kind(first, name, site, &mut add).await {
        return false;
    }
    match life(first, second, &name_of(first, name, "life")).await {
        Ok(findings) => findings.into_iter().for_each(&mut add),
        Err(error) => add(failed("locks", &error, site)),
    }
    if let Some(site) = site {
        list(first, name, site).await.into_iter().for_each(add);
    }
    true
}

/// A name that no program has.
fn name_of(client: &Client, name: &str, kind: &str) -> String {
    format!("{name}:{}:{kind}", client.id())
}

fn failed(about: &'static str, error: &Error, site: Option<&Site>) -> Finding {
    match (error, site) {
        (Error::NotAcquired { .. }, _) => {
            Finding::doubtful(about, error.to_string(), "it may be another doctor, or one that was killed: try again")
        }
        (_, Some(site)) if rights::is_missing(error) => {
            Finding::bad(about, error.to_string(), rights::for_locks(site, error))
        }
        (Error::Unavailable { .. }, _) => Finding::bad(
            about,
            error.to_string(),
            "look whether the server runs, at its load, and at the network in between",
        ),
        _ => Finding::bad(about, error.to_string(), "mend that first, and try again"),
    }
}

/// The kind of the library behind the word for it.
fn kind_of(word: &str) -> &str {
    match word {
        "read-write" => "write",
        "semaphore" => "permit_semaphore",
        word => word,
    }
}

/// A kind that the server lacks something for, such as a table. `why` has the remedy.
fn lacking(kind: &'static str, why: &str) -> Finding {
    let (what, remedy) = why.split_once("; ").unwrap_or((why, "use another kind, or another system"));
    Finding::doubtful(kind, what, remedy)
}

/// Takes and releases one of each kind. The server keeps the latest token of a name: those of all runs have one name. False: there
/// was no answer, and no further lock was tried.
async fn each_kind(client: &Client, name: &str, site: Option<&Site>, mut add: impl FnMut(Finding)) -> bool {
    let [fenced, led] = ["fenced", "leader"].map(|kind| format!("{name}:{kind}"));
    let name = |kind: &str| name_of(client, name, kind);
    let locks = [
        ("plain", client.lock(&name("plain"))),
        ("fair", client.fair_lock(&name("fair"))),
        ("fenced", client.fenced_lock(&fenced)),
        ("read-write", client.read_write_lock(&name("rw")).write()),
        ("token", client.token_lock(&name("token"))),
    ];
    let mut works = Vec::new();
    let mut wrong = Vec::new();
    let mut note = |kind, done: Result<(), Error>| {
        let is_silent = matches!(done, Err(Error::Unavailable { .. }));
        match done {
            Ok(()) => works.push(kind),
            // The system has no such kind; or it has, and this server lacks something for it.
            Err(Error::Unsupported(_)) if client.supports(kind_of(kind)).is_err() => {}
            Err(Error::Unsupported(why)) => wrong.push(lacking(kind, &why)),
            Err(error) => wrong.push(failed(kind, &error, site)),
        }
        !is_silent
    };
    let answers = async {
        for (kind, lock) in locks {
            let done = match lock.wait(PATIENCE).lease(LEASE).acquire().await {
                Ok(guard) => guard.release().await,
                Err(error) => Err(error),
            };
            if !note(kind, done) {
                return false;
            }
        }
        // Another system has no way to delete what is made here.
        if site.is_some() {
            let permits = name("permits");
            if !note("semaphore", counted(client, "permit_semaphore", &permits, semaphore(client, &permits)).await) {
                return false;
            }
            let latch = name("latch");
            if !note("latch", counted(client, "latch", &latch, open(client, &latch)).await) {
                return false;
            }
        }
        note("leader", leader(client, &led).await)
    }
    .await;
    if !works.is_empty() {
        let work = if works.len() == 1 { "works" } else { "work" };
        add(Finding::good("kinds", format!("{} {work}", works.join(", "))));
    }
    wrong.into_iter().for_each(add);
    answers
}

/// Sets one permit or a count of one, uses it and deletes it. A key that cannot be deleted ends by itself.
async fn counted(
    client: &Client,
    kind: &'static str,
    name: &str,
    used: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    let about = |op, numbers: &[i64]| Request { numbers: numbers.to_vec(), ..Request::new(op, kind, name, 0) };
    let set = client.run(about(Op::TrySet, &[1])).await;
    // Even without an answer it may be there.
    let ends = client.run(about(Op::LiveFor, &[LEFT])).await;
    let used = if set.is_ok() { used.await } else { Ok(()) };
    let deleted = client.run(about(Op::Delete, &[])).await;
    set.and(ends).map(drop).and(used).and(deleted.map(drop))
}

async fn semaphore(client: &Client, name: &str) -> Result<(), Error> {
    client.permit_semaphore(name).acquire().wait(PATIENCE).lease(LEASE).await?.release().await
}

async fn open(client: &Client, name: &str) -> Result<(), Error> {
    client.latch(name).count_down().await.map(drop)
}

async fn leader(client: &Client, name: &str) -> Result<(), Error> {
    client.leader(name).value("redlatch doctor").lead().wait(PATIENCE).await?.release().await
}

/// Whether the user may list locks, which takes rights of its own: the first two pages use them all.
async fn list(client: &Client, name: &str, site: &Site) -> Option<Finding> {
    let mut next = Vec::new();
    for _ in 0..2 {
        let question = Request { texts: vec![next], ..Request::new(Op::Inventory, "plain", format!("{name}*"), 0) };
        match client.run(question).await {
            Ok(page) => next = page.texts.into_iter().next().unwrap_or_default(),
            Err(refused) if rights::is_missing(&refused) => {
                let text = format!("locks cannot be listed (redlatch ls, client.locks): {refused}");
                return Some(Finding::doubtful("lists", text, rights::for_lists(site, &refused)));
            }
            Err(_) => return None,
        }
        if next.is_empty() {
            return None;
        }
    }
    None
}

/// The life of a lock, and the time that each step takes.
async fn life(first: &Client, second: &Client, name: &str) -> Result<Vec<Finding>, Error> {
    let asked = clock::now();
    let guard = first.lock(name).wait(PATIENCE).acquire().await?;
    let taken = clock::now().saturating_sub(asked);

    let asked = clock::now();
    guard.extend(2 * PATIENCE).await?;
    let extended = clock::now().saturating_sub(asked);

    // The waiter sleeps by then. One that is later finds the lock free, which is as good.
    let waiter = second.lock(name).wait(PATIENCE);
    let waits = tokio::spawn(async move { (waiter.try_acquire().await, clock::now()) });
    sleep(Duration::from_millis(100)).await;
    let asked = clock::now();
    guard.release().await?;
    let (next, at) = waits.await.expect("the task does not panic");
    let Some(next) = next? else {
        let text = format!("a waiter did not get a lock within {} of its release", shown(PATIENCE));
        return Ok(vec![Finding::bad(
            "hand-over",
            text,
            "look for a proxy that swallows messages (PUBLISH) or connections",
        )]);
    };
    let handed = at.saturating_sub(asked);

    // A client looks at a hold soon after it has begun anyway. From then on the server has to tell.
    sleep(SETTLED + 4 * taken).await;
    let asked = clock::now();
    let lost = next.lost();
    first.lock(name).force_release().await?;
    let told: Option<Option<Loss>> = timeout(PATIENCE, lost).await.ok();
    let loss = clock::now().saturating_sub(asked);
    drop(next);
    let steps = format!("a lock was taken in {}, renewed in {}", shown(taken), shown(extended));
    let mut findings = vec![Finding::good("locks", steps)];
    let text = format!("a waiter had the lock {} after its release", shown(handed));
    findings.push(match handed > LATE {
        true => Finding::bad(
            "hand-over",
            text,
            "look for a proxy or a right that keeps messages (PUBLISH, SUBSCRIBE) from waiters",
        ),
        false => Finding::good("hand-over", text),
    });
    findings.push(match told {
        Some(Some(_)) if loss < LATE => {
            Finding::good("loss", format!("a holder was told of its loss after {}", shown(loss)))
        }
        _ => Finding::doubtful(
            "loss",
            format!("a holder was not told of its loss within {}; it hears of it by its next renewal", shown(loss)),
            "allow CLIENT TRACKING (Redis 6 or later) and see that no proxy stands in between",
        ),
    });
    Ok(findings)
}
