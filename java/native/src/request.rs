//! The way from Java: a configuration, and the fields of a request.

use std::sync::Arc;
use std::time::Duration;

use jni::Env;
use jni::objects::{JByteArray, JLongArray, JObjectArray, JString};
use redlatch::ffi::{Member, Op, Request, kinds};
use redlatch::{Client, Config, Error, Result};

use crate::{clients, packed};

/// The plain numbers of a request. Times are ms; `wait` below 0 waits for ever, `lease` 0 is renewed by the watchdog, a
/// `response_timeout` of 0 and a `retry_for` below 0 are as the client has them.
pub struct Fields {
    pub op: i32,
    pub owner: i64,
    pub wait: i64,
    pub lease: i64,
    pub hold: i64,
    pub response_timeout: i64,
    pub retry_for: i64,
}

/// Reads a URL and `option, value, …`. The inner error is the caller's, the outer one the JVM's.
pub fn config(env: &mut Env, url: &JString, options: &JObjectArray<JString>) -> jni::errors::Result<Result<Config>> {
    let url = url.try_to_string(env)?;
    let options = texts(env, options)?;
    Ok(Config::from_url(&url).and_then(|mut config| {
        for option in options.chunks_exact(2) {
            config.set(&option[0], &option[1])?;
        }
        // The package closes its clients itself, and a drop may come on any thread of the JVM.
        let config = config.flush(Duration::ZERO);
        // As Redisson does it: a program may be started before its server.
        Ok(config.retry_absent(true))
    }))
}

/// The texts of an array.
pub fn texts(env: &mut Env, array: &JObjectArray<JString>) -> jni::errors::Result<Vec<String>> {
    let mut texts = Vec::new();
    for index in 0..array.len(env)? {
        // A frame of its own per text: a long array must not fill the caller's table of local references.
        texts.push(env.with_local_frame(1, |env| array.get_element(env, index)?.try_to_string(env))?);
    }
    Ok(texts)
}

/// Reads the locks of a group. The inner error is the caller's, the outer one the JVM's.
pub fn members(
    env: &mut Env,
    clients: &JLongArray,
    kinds: &JObjectArray<JString>,
    names: &JObjectArray<JByteArray>,
) -> jni::errors::Result<Result<Vec<Member>>> {
    let mut members = Vec::new();
    for (index, client) in numbers(env, clients)?.into_iter().enumerate() {
        let kind = kinds.get_element(env, index)?.try_to_string(env)?;
        let name = names.get_element(env, index)?;
        let name = env.convert_byte_array(&name)?;
        members.push(member(client, &kind, name));
    }
    Ok(members.into_iter().collect())
}

fn member(client: i64, kind: &str, name: Vec<u8>) -> Result<Member> {
    Ok(Member { client: clients::get(client)?, kind: kinds::name_of(kind)?, name: text(name)? })
}

fn text(name: Vec<u8>) -> Result<Arc<str>> {
    let text = std::str::from_utf8(&name)
        .map_err(|_| Error::Config("the name of the lock is not UTF-8; use another".into()))?;
    Ok(text.into())
}

/// The numbers of an array.
pub fn numbers(env: &Env, array: &JLongArray) -> jni::errors::Result<Vec<i64>> {
    let mut numbers = vec![0; array.len(env)?];
    array.get_region(env, 0, &mut numbers)?;
    Ok(numbers)
}

/// The further texts of a request, packed; null where it has none.
pub fn unpacked(env: &Env, packed: &JByteArray) -> jni::errors::Result<Vec<Vec<u8>>> {
    if packed.is_null() {
        return Ok(Vec::new());
    }
    Ok(packed::read(&env.convert_byte_array(packed)?))
}

/// Finds the client and builds the request. The inner error is the caller's, the outer one the JVM's.
pub fn read(
    env: &Env,
    client: i64,
    fields: Fields,
    kind: &JString,
    name: &JByteArray,
    numbers: Vec<i64>,
    texts: Vec<Vec<u8>>,
) -> jni::errors::Result<Result<(Client, Request)>> {
    let kind = kind.try_to_string(env)?;
    let name = env.convert_byte_array(name)?;
    Ok(build(fields, &kind, name, numbers, texts).and_then(|request| Ok((clients::get(client)?, request))))
}

fn build(fields: Fields, kind: &str, name: Vec<u8>, numbers: Vec<i64>, texts: Vec<Vec<u8>>) -> Result<Request> {
    Ok(Request {
        op: Op::from_number(fields.op)?,
        kind: kinds::name_of(kind)?,
        name: text(name)?,
        owner: fields.owner,
        wait: u64::try_from(fields.wait).ok().map(Duration::from_millis),
        endless: false,
        member: false,
        last: false,
        lease: u64::try_from(fields.lease).ok().filter(|ms| *ms > 0).map(Duration::from_millis),
        hold: fields.hold as u64,
        numbers,
        texts,
        response_timeout: u64::try_from(fields.response_timeout).ok().filter(|ms| *ms > 0).map(Duration::from_millis),
        retry_for: u64::try_from(fields.retry_for).ok().map(Duration::from_millis),
    })
}
