//! The native methods of `io.redlatch.internal.Native`: types across, nothing decided.
//!
//! A client crosses as a number, see [`clients`]; a request as its fields, see [`request`]; its outcome as a row of
//! numbers and texts, see [`rows`]. No thread of this library ever attaches to the JVM: finished requests wait in one
//! queue until Java's one daemon thread fetches them with `drain`.
//!
//! Every method runs inside `with_env`, which stops a panic at the border and makes it a Java exception.

mod clients;
mod document;
mod log;
#[cfg(test)]
mod numbers;
mod packed;
mod request;
mod rows;

use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use jni::errors::{Result, ThrowRuntimeExAndDefault};
use jni::objects::{JByteArray, JClass, JLongArray, JObjectArray, JString};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, EnvUnowned, jni_str};
use redlatch::ffi::{self, Answer, Border, Completions, Look, Op, Request, Rule, Seat, WaitEnd};

/// How long a thread waits inside: the owners of a client that hand a lock on get it within microseconds, and each wake
/// of another thread in between would cost as much again. Then the thread waits in Java, where an interrupt reaches it.
/// No user notices that an interrupt ends a wait so much later.
const MOMENT: Duration = Duration::from_millis(10);

static FINISHED: LazyLock<Arc<Completions>> = LazyLock::new(Completions::new);
/// The finished requests that are on their way to Java. They stay here until all are written, which may fail for want
/// of the JVM's memory.
static FETCHED: Mutex<Vec<(u64, redlatch::Result<Answer>)>> = Mutex::new(Vec::new());

/// Readies a client for a URL and `option, value, …`, and gives its number. Sends nothing.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_connect<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    url: JString<'a>,
    options: JObjectArray<'a, JString<'a>>,
) -> jlong {
    env.with_env(|env| -> Result<jlong> {
        log::begin();
        let client = ready(env, &url, &options)?;
        added(env, client)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Readies a client that is closed, and gives its number. It stands for a client that was closed, whose number is gone,
/// as a member of a group.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_standIn<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    url: JString<'a>,
    options: JObjectArray<'a, JString<'a>>,
) -> jlong {
    env.with_env(|env| -> Result<jlong> {
        let client = ready(env, &url, &options)?;
        added(env, client.inspect(|client| client.close_blocking(redlatch::Holds::Keep)))
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Reads a configuration file, with `name, value, …` for its placeholders, of which the first of a name counts; see
/// [`document`].
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_document<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    text: JString<'a>,
    known: JObjectArray<'a, JString<'a>>,
) -> JObjectArray<'a, JString<'a>> {
    env.with_env(|env| match document::read(env, &text, &known)? {
        Ok(tokens) => document::write(env, &tokens),
        Err(error) => {
            env.throw_new(
                jni_str!("java/lang/IllegalArgumentException"),
                jni::strings::JNIString::new(error.to_string()),
            )?;
            Ok(JObjectArray::<JString>::null())
        }
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Readies a client whose one lock is all of these, or with `majority` more than half of them; each is a client, a kind
/// and a name.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_group<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    majority: jboolean,
    clients: JLongArray<'a>,
    kinds: JObjectArray<'a, JString<'a>>,
    names: JObjectArray<'a, JByteArray<'a>>,
) -> jlong {
    env.with_env(|env| -> Result<jlong> {
        let rule = if majority { Rule::Majority } else { Rule::All };
        let members = request::members(env, &clients, &kinds, &names)?;
        added(env, members.and_then(|members| redlatch::Client::group(rule, members)))
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// A client for a URL and its options.
fn ready(env: &mut Env, url: &JString, options: &JObjectArray<JString>) -> Result<redlatch::Result<redlatch::Client>> {
    Ok(request::config(env, url, options)?.and_then(redlatch::Client::with_config))
}

/// The number of a client that is made; an error in its configuration is thrown.
fn added(env: &mut Env, client: redlatch::Result<redlatch::Client>) -> Result<jlong> {
    match client {
        Ok(client) => Ok(clients::add(client)),
        Err(error) => {
            env.throw_new(
                jni_str!("java/lang/IllegalArgumentException"),
                jni::strings::JNIString::new(error.to_string()),
            )?;
            Ok(0)
        }
    }
}

/// Closes a client and then forgets its number; with `release` its holds are given back first. A second call meanwhile
/// waits for the same end.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_close<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    client: jlong,
    release: jboolean,
) {
    env.with_env(|_| -> Result<()> {
        if let Ok(open) = clients::get(client) {
            open.close_blocking(if release { redlatch::Holds::Release } else { redlatch::Holds::Keep });
            drop(clients::remove(client));
        }
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// The client's uuid, or null once it is closed.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_id<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    client: jlong,
) -> JString<'a> {
    env.with_env(|env| match clients::get(client) {
        Ok(client) => env.new_string(client.id()),
        Err(_) => Ok(JString::null()),
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Fills in the figures of the client, see `Border::stats_numbers`. False: it is closed.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_stats<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    client: jlong,
    numbers: JLongArray<'a>,
) -> jboolean {
    env.with_env(|env| -> Result<jboolean> {
        let Ok(client) = clients::get(client) else { return Ok(false) };
        let counted: Vec<jlong> = client.stats_numbers().into_iter().map(|number| number as jlong).collect();
        numbers.set_region(env, 0, &counted)?;
        Ok(true)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Throws if the client's servers do not have a kind of lock. A client that was closed is passed over: its locks refuse
/// every call.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_require<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    client: jlong,
    kind: JString<'a>,
) {
    env.with_env(|env| -> Result<()> {
        let kind = kind.try_to_string(env)?;
        if let Some(Err(error)) = clients::get(client).ok().map(|client| client.supports(&kind)) {
            throw_unsupported(env, &error)?;
        }
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// The holder that alone is to lose a lock of a listing. `holders`: of each its client, its owner, and 1 if it writes. Throws if
/// a lock of that kind has no such holder.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_evictee<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    kind: JString<'a>,
    name: JString<'a>,
    holders: JObjectArray<'a, JString<'a>>,
) -> JString<'a> {
    env.with_env(|env| -> Result<JString<'a>> {
        let kind = kind.try_to_string(env)?;
        let name = name.try_to_string(env)?;
        let holders = request::texts(env, &holders)?;
        let listed = holders.chunks_exact(3).map(|words| (words[0].as_str(), words[1].as_str(), words[2] == "1"));
        match ffi::evictee(&kind, &name, listed) {
            Ok(holder) => env.new_string(holder),
            Err(error) => {
                throw_unsupported(env, &error)?;
                Ok(JString::null())
            }
        }
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

fn throw_unsupported(env: &mut Env, error: &redlatch::Error) -> Result<()> {
    env.throw_new(jni_str!("java/lang/UnsupportedOperationException"), jni::strings::JNIString::new(error.to_string()))
}

/// Tries one bounded round trip on this thread, an acquire for `inside` ms at most unless that is 0, and waits for a
/// moment for what then is not finished yet. True: finished, and the row is filled in. False: it comes
/// out of `drain`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_start<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    client: jlong,
    ticket: jlong,
    op: jint,
    kind: JString<'a>,
    name: JByteArray<'a>,
    owner: jlong,
    wait: jlong,
    lease: jlong,
    hold: jlong,
    response_timeout: jlong,
    retry_for: jlong,
    inside: jlong,
    numbers: JLongArray<'a>,
    texts: JByteArray<'a>,
    row_numbers: JLongArray<'a>,
    row_texts: JObjectArray<'a, JString<'a>>,
) -> jboolean {
    env.with_env(|env| -> Result<jboolean> {
        let fields = request::Fields { op, owner, wait, lease, hold, response_timeout, retry_for };
        let numbers = request::numbers(env, &numbers)?;
        let texts = request::unpacked(env, &texts)?;
        let prepared = request::read(env, client, fields, &kind, &name, numbers, texts)?;
        let outcome = match prepared {
            Ok((client, request)) => {
                let inside =
                    u64::try_from(inside).ok().filter(|ms| *ms > 0).map_or(Duration::MAX, Duration::from_millis);
                let seat = Seat::new(ticket as u64, |ticket, outcome| FINISHED.push(ticket, outcome));
                client.start(inside, &seat, request).or_else(|| wait_inside(&client, &seat))
            }
            Err(error) => Some(Err(error)),
        };
        let Some(outcome) = outcome else { return Ok(false) };
        // A grant must not get lost here: its row has no texts, so the JVM needs no memory for it. An error and an answer
        // with texts bring nothing that would have to go back.
        rows::write(env, 0, ticket, &outcome, &row_numbers, &row_texts)?;
        Ok(true)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Waits for an outcome for a moment. `None`: it comes out of `drain`.
fn wait_inside(client: &redlatch::Client, seat: &Seat) -> Option<redlatch::Result<Answer>> {
    let wait = match seat.wait(Some(MOMENT)) {
        WaitEnd::NotYet => seat.leave(),
        wait => wait,
    };
    match wait {
        WaitEnd::Over(outcome) => Some(outcome),
        WaitEnd::NotYet => None,
        WaitEnd::Gone => Some(Err(redlatch::ffi::closed(client.server()))),
    }
}

/// Hands a request to the I/O thread; it comes out of `drain`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_submit<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    client: jlong,
    ticket: jlong,
    op: jint,
    kind: JString<'a>,
    name: JByteArray<'a>,
    owner: jlong,
    wait: jlong,
    lease: jlong,
    hold: jlong,
    response_timeout: jlong,
    retry_for: jlong,
    numbers: JLongArray<'a>,
    texts: JByteArray<'a>,
) {
    env.with_env(|env| -> Result<()> {
        let fields = request::Fields { op, owner, wait, lease, hold, response_timeout, retry_for };
        let done = move |outcome| FINISHED.push(ticket as u64, outcome);
        let numbers = request::numbers(env, &numbers)?;
        let texts = request::unpacked(env, &texts)?;
        match request::read(env, client, fields, &kind, &name, numbers, texts)? {
            Ok((client, request)) => client.submit(ticket as u64, request, done),
            Err(error) => done(Err(error)),
        }
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Looks at a hold without asking the server; `hold` 0 is the owner's latest. A row that is done has the remaining ms
/// for its number; one that is not done is about a hold that was released. Its ticket is the hold's number, its first
/// item a fenced hold's token, and its second one 1 if another client has asked for its release.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_look<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    client: jlong,
    kind: JString<'a>,
    name: JByteArray<'a>,
    owner: jlong,
    hold: jlong,
    row_numbers: JLongArray<'a>,
    row_texts: JObjectArray<'a, JString<'a>>,
) {
    env.with_env(|env| -> Result<()> {
        let op = Op::Watch as jint;
        let fields = request::Fields { op, owner, wait: 0, lease: 0, hold, response_timeout: 0, retry_for: -1 };
        let prepared = request::read(env, client, fields, &kind, &name, Vec::new(), Vec::new())?;
        let seen = match prepared {
            Ok((client, request)) => look(&client, &request),
            Err(error) => Seen { hold, token: 0, is_wanted: false, outcome: Err(error) },
        };
        rows::write(env, 0, seen.hold, &seen.outcome, &row_numbers, &row_texts)?;
        row_numbers.set_region(env, rows::ITEMS, &[seen.token, seen.is_wanted.into()])
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// What a client knows of a hold.
struct Seen {
    /// Its number; 0 if there is none.
    hold: jlong,
    /// The token of a fenced hold, else 0.
    token: jlong,
    /// Another client has asked for its release.
    is_wanted: bool,
    outcome: redlatch::Result<Answer>,
}

fn look(client: &redlatch::Client, request: &Request) -> Seen {
    let hold = if request.hold == 0 {
        client.latest(request.kind, &request.name, request.owner).unwrap_or_default()
    } else {
        request.hold
    };
    let answer = |done, number| Answer { done, number, ..Default::default() };
    let outcome = match client.look(hold) {
        Look::Held { remaining } => Ok(answer(true, remaining.as_millis() as i64)),
        Look::Lost(loss) => Err(redlatch::Error::Lost(Box::new(loss))),
        Look::Gone => Ok(answer(false, 0)),
    };
    let token = client.token(hold).unwrap_or_default();
    Seen { hold: hold as jlong, token, is_wanted: client.is_wanted(hold), outcome }
}

/// Asks for a request to be given up; it still comes out of `drain`.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_cancel<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    client: jlong,
    ticket: jlong,
) {
    env.with_env(|_| -> Result<()> {
        if let Ok(client) = clients::get(client) {
            client.cancel(ticket as u64);
        }
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}

/// Waits for finished requests, writes as many rows as there are and fit, and gives their count. After an error the
/// next call writes the same ones.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_drain<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    row_numbers: JLongArray<'a>,
    row_texts: JObjectArray<'a, JString<'a>>,
) -> jint {
    env.with_env(|env| -> Result<jint> {
        let room = row_numbers.len(env)? / rows::NUMBERS;
        let mut fetched = FETCHED.lock().unwrap_or_else(PoisonError::into_inner);
        if fetched.is_empty() {
            *fetched = FINISHED.drain(room);
        }
        for (row, (ticket, outcome)) in fetched.iter().enumerate() {
            rows::write(env, row, *ticket as jlong, outcome, &row_numbers, &row_texts)?;
        }
        let count = fetched.len() as jint;
        fetched.clear();
        Ok(count)
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}
