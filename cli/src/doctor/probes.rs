//! Real locks, of each kind that the system has: taken, waited for, handed over, renewed, and taken away.

use std::time::Duration;

use redlatch::{Client, Error, Loss};

use super::finding::Finding;
use super::servers::shown;
use crate::clock;
use crate::ending::Failure;

/// The longest wait for a lock that its holder has released, and for the news of a loss.
const PATIENCE: Duration = Duration::from_secs(5);
/// A hand-over takes longer if no message wakes the waiter.
const LATE: Duration = Duration::from_secs(1);

/// One call that reaches a server; it changes nothing.
pub async fn reach(client: &Client, name: &str) -> Result<(), Failure> {
    match client.lock(&name_of(client, name, "reach")).is_locked().await {
        Ok(_) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// `has_counts`: the system can delete semaphores and latches again.
pub async fn examine(first: &Client, second: &Client, name: &str, has_counts: bool) -> Vec<Finding> {
    let mut findings = each_kind(first, name, has_counts).await;
    findings.extend(life(first, second, name).await);
    findings
}

/// A name that no program has.
fn name_of(client: &Client, name: &str, kind: &str) -> String {
    format!("{name}:{}:{kind}", client.id())
}

/// Takes and releases one of each kind. The server keeps the latest token of a name: those of all runs have one name.
async fn each_kind(client: &Client, name: &str, has_counts: bool) -> Vec<Finding> {
    let [fenced, led] = ["fenced", "leader"].map(|kind| format!("{name}:{kind}"));
    let name = |kind: &str| name_of(client, name, kind);
    let locks = [
        ("plain", client.lock(&name("plain"))),
        ("fair", client.fair_lock(&name("fair"))),
        ("fenced", client.fenced_lock(&fenced)),
        ("read-write", client.read_write_lock(&name("rw")).write()),
        ("token", client.token_lock(&name("token"))),
    ];
    let mut tried = Vec::new();
    for (kind, lock) in locks {
        let done = match lock.wait(PATIENCE).acquire().await {
            Ok(guard) => guard.release().await,
            Err(error) => Err(error),
        };
        tried.push((kind, done));
    }
    if has_counts {
        tried.push(("semaphore", semaphore(client, &name("permits")).await));
        tried.push(("latch", latch(client, &name("latch")).await));
    }
    tried.push(("leader", leader(client, &led).await));
    let works: Vec<&str> = tried.iter().filter(|(_, done)| done.is_ok()).map(|(kind, _)| *kind).collect();
    let mut findings = Vec::new();
    if !works.is_empty() {
        let work = if works.len() == 1 { "works" } else { "work" };
        findings.push(Finding::good("kinds", format!("{} {work}", works.join(", "))));
    }
    for (kind, done) in &tried {
        match done {
            Ok(()) | Err(Error::Unsupported(_)) => {}
            Err(error) => findings.push(Finding::bad(
                kind,
                error.to_string(),
                "give the user the rights of docs/deployments.md, or use the kinds that work",
            )),
        }
    }
    findings
}

async fn semaphore(client: &Client, name: &str) -> Result<(), Error> {
    let semaphore = client.permit_semaphore(name);
    semaphore.try_set_permits(1).await?;
    let done = match semaphore.acquire().wait(PATIENCE).lease(PATIENCE).await {
        Ok(permit) => permit.release().await,
        Err(error) => Err(error),
    };
    semaphore.delete().await?;
    done
}

async fn latch(client: &Client, name: &str) -> Result<(), Error> {
    let latch = client.latch(name);
    latch.try_set_count(1).await?;
    let done = latch.count_down().await.map(drop);
    latch.delete().await?;
    done
}

async fn leader(client: &Client, name: &str) -> Result<(), Error> {
    client.leader(name).value("redlatch doctor").lead().wait(PATIENCE).await?.release().await
}

/// The life of a lock, and the time that each step takes.
async fn life(first: &Client, second: &Client, name: &str) -> Vec<Finding> {
    match timed(first, second, &name_of(first, name, "life")).await {
        Ok(findings) => findings,
        Err(error) => vec![Finding::bad("locks", error.to_string(), "see the kinds above, and the server's log")],
    }
}

async fn timed(first: &Client, second: &Client, name: &str) -> Result<Vec<Finding>, Error> {
    let asked = clock::now();
    let guard = first.lock(name).wait(PATIENCE).acquire().await?;
    let taken = clock::now().saturating_sub(asked);

    let asked = clock::now();
    guard.extend(2 * PATIENCE).await?;
    let extended = clock::now().saturating_sub(asked);

    // The waiter sleeps by then. One that is later finds the lock free, which is as good.
    let waiter = second.lock(name).wait(PATIENCE);
    let waits = tokio::spawn(async move { (waiter.try_acquire().await, clock::now()) });
    tokio::time::sleep(Duration::from_millis(100)).await;
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

    let asked = clock::now();
    let lost = next.lost();
    first.lock(name).force_release().await?;
    let told: Option<Option<Loss>> = tokio::time::timeout(PATIENCE, lost).await.ok();
    let loss = clock::now().saturating_sub(asked);
    drop(next);
    let steps = format!("a lock was taken in {}, renewed in {}", shown(taken), shown(extended));
    let mut findings = vec![Finding::good("locks", steps)];
    findings.push(match handed > LATE {
        true => Finding::bad(
            "hand-over",
            format!("a waiter had the lock {} after its release", shown(handed)),
            "look for a proxy or a right that keeps messages (PUBLISH, SUBSCRIBE) from waiters",
        ),
        false => Finding::good("hand-over", format!("a waiter had the lock {} after its release", shown(handed))),
    });
    findings.push(match told {
        Some(Some(_)) => Finding::good("loss", format!("a holder was told of its loss after {}", shown(loss))),
        _ => Finding::doubtful(
            "loss",
            format!("a holder was not told of its loss within {}; it hears of it by its next renewal", shown(PATIENCE)),
            "allow CLIENT TRACKING (Redis 6 or later) and see that no proxy stands in between",
        ),
    });
    Ok(findings)
}
