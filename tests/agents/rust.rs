//! The Rust agent: it runs lock commands that arrive as JSON lines. Each runs as a task of its own, so that a wait
//! blocks no other command.

use std::io::BufRead;
use std::time::Duration;

use redlatch::ffi::{Border, Look, Member, Op, Request, Rule, kinds};
use redlatch::{Client, PermitId, PermitSemaphore};
use redlatch_tests::clock;
use serde_json::{Value, json};

fn main() {
    let url = std::env::args().nth(1).expect("the first argument is the server's URL");
    let client = Client::connect(&url).expect("the URL is good");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    for line in std::io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line.expect("the input is text")).expect("each line is JSON");
        let client = client.clone();
        runtime.spawn(async move {
            let mut answer = match run(&client, &command).await {
                Ok((value, until)) => json!({ "ok": value, "until": until }),
                Err(e) => json!({ "error": e.code(), "message": e.to_string() }),
            };
            answer["id"] = command["id"].clone();
            println!("{answer}");
        });
    }
    runtime.shutdown_background();
}

/// The result of a command, and for a new hold until when it is certain, in ns of the machine's clock.
async fn run(client: &Client, command: &Value) -> redlatch::Result<(Value, Option<u64>)> {
    let ms = |key: &str| command[key].as_u64().map(Duration::from_millis);
    let (client, kind) = match command["kind"].as_str().unwrap_or("plain") {
        "all" => (&three(client, Rule::All, command)?, "plain"),
        "majority" => (&three(client, Rule::Majority, command)?, "plain"),
        kind => (client, kinds::name_of(kind)?),
    };
    let name = match command["name"].as_str().unwrap_or_default() {
        group if kind == "multi" && group.starts_with("kryo") => format!("{group}\0\u{1}one\0\u{1}zwölf"),
        group if kind == "multi" => kinds::multi::name(group, &["one", "zwölf"])?,
        name => name.to_owned(),
    };
    let request = |op| Request {
        wait: Some(ms("wait").unwrap_or_default()),
        lease: ms("lease"),
        ..Request::new(op, kind, name.as_str(), command["owner"].as_i64().unwrap_or_default())
    };
    let what = command["do"].as_str().unwrap_or_default();
    let ids = command["ids"].as_str().unwrap_or_default().split(',').filter(|id| !id.is_empty());
    let ids: Vec<PermitId> = ids.map(str::parse).collect::<redlatch::Result<_>>()?;
    if kind == "permit_semaphore" {
        let n = command["n"].as_u64().unwrap_or(1);
        let semaphore = client.permit_semaphore(command["name"].as_str().unwrap_or_default());
        return Ok((permits(semaphore, what, n, &ids, ms("wait"), ms("lease")).await?, None));
    }
    if ["lock", "try_lock"].contains(&what) {
        let acquire = request(Op::Acquire);
        let wait = if what == "lock" { None } else { acquire.wait };
        let answer = client.run(Request { wait, ..acquire }).await?;
        let now = clock::now();
        let until = match client.look(answer.number as u64) {
            Look::Held { remaining } => now + clock::ns(remaining),
            Look::Lost(_) | Look::Gone => now,
        };
        return Ok((answer.done.into(), answer.done.then_some(until)));
    }
    let counting = |op| Request { wait: ms("wait"), numbers: vec![command["n"].as_i64().unwrap_or(1)], ..request(op) };
    let value = match what {
        "id" => client.id().into(),
        "unlock" => client.run(request(Op::Release)).await?.done.into(),
        "force_unlock" => (client.run(request(Op::ForceRelease)).await?.number == 1).into(),
        "is_locked" => (client.run(request(Op::Inspect)).await?.number != -2).into(),
        "is_held" => (client.run(request(Op::Inspect)).await?.items[0] > 0).into(),
        "try_set" => (client.run(counting(Op::TrySet)).await?.number == 1).into(),
        "take" => client.run(counting(Op::Acquire)).await?.done.into(),
        "give" => client.run(counting(Op::Release)).await?.done.into(),
        "add" => client.run(counting(Op::Add)).await?.done.into(),
        "drain" => client.run(counting(Op::Drain)).await?.number.into(),
        "count_down" => client.run(counting(Op::CountDown)).await?.done.into(),
        "count" => client.run(counting(Op::Inspect)).await?.number.into(),
        "token" => client.run(request(Op::Inspect)).await?.items[1].into(),
        "ttl" => client.run(request(Op::Inspect)).await?.number.into(),
        _ => return Err(redlatch::Error::Config(format!("no command `{what}`"))),
    };
    Ok((value, None))
}

/// One lock of three.
fn three(client: &Client, rule: Rule, command: &Value) -> redlatch::Result<Client> {
    let name = command["name"].as_str().unwrap_or_default();
    let member = |letter| Member { client: client.clone(), kind: "plain", name: format!("{name}{letter}").into() };
    Client::group(rule, ["a", "b", "c"].map(member).into())
}

async fn permits(
    semaphore: PermitSemaphore,
    what: &str,
    n: u64,
    ids: &[PermitId],
    wait: Option<Duration>,
    lease: Option<Duration>,
) -> redlatch::Result<Value> {
    Ok(match what {
        "take" => {
            let lasting = lease.map_or(semaphore.acquire_many(n), |lease| semaphore.acquire_many(n).lease(lease));
            let taking = match wait {
                Some(wait) => lasting.wait(wait),
                None => lasting,
            };
            let taken = match taking.await {
                Err(redlatch::Error::NotAcquired { .. }) => Vec::new(),
                taken => taken?,
            };
            taken.into_iter().map(|permit| permit.keep().to_string()).collect::<Vec<_>>().join(",").into()
        }
        "give" => semaphore.try_release_many(ids).await?.into(),
        "extend" => semaphore.update_lease(ids[0], lease.unwrap_or(PermitSemaphore::NO_END)).await?.into(),
        "left" => match semaphore.lease_left(ids[0]).await? {
            Some(PermitSemaphore::NO_END) => (-1).into(),
            left => left.map(|left| left.as_millis() as u64).into(),
        },
        "try_set" => semaphore.try_set_permits(n).await?.into(),
        "set" => semaphore.set_permits(n).await.map(|()| true)?.into(),
        "add" => semaphore.add_permits(n).await.map(|_| true)?.into(),
        "count" => semaphore.available().await?.into(),
        "out" => semaphore.acquired().await?.into(),
        "all" => semaphore.permits().await?.into(),
        _ => return Err(redlatch::Error::Config(format!("no command `{what}`"))),
    })
}
