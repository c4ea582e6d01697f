//! The table of open clients: Java holds a number, so that a call after close is an error and not a crash.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use jni::errors::ThrowRuntimeExAndDefault;
use jni::objects::{JClass, JString};
use jni::sys::jlong;
use jni::{EnvUnowned, jni_str};
use redlatch::{Client, Result, ffi};

#[derive(Default)]
struct Table {
    last: i64,
    open: HashMap<i64, Client>,
}

static TABLE: LazyLock<RwLock<Table>> = LazyLock::new(Default::default);

/// Takes a client in and gives its number: above 0 and never used before.
pub fn add(client: Client) -> i64 {
    let mut table = TABLE.write().unwrap_or_else(PoisonError::into_inner);
    table.last += 1;
    let number = table.last;
    table.open.insert(number, client);
    number
}

/// The client of a number, or `Error::Closed`.
pub fn get(number: i64) -> Result<Client> {
    let table = TABLE.read().unwrap_or_else(PoisonError::into_inner);
    table.open.get(&number).cloned().ok_or_else(|| ffi::closed(format!("number {number}")))
}

/// Takes a client out, if it is still there.
pub fn remove(number: i64) -> Option<Client> {
    TABLE.write().unwrap_or_else(PoisonError::into_inner).open.remove(&number)
}

/// Has connections that are opened from now on log in with these.
#[unsafe(no_mangle)]
pub extern "system" fn Java_io_redlatch_internal_Native_credentials<'a>(
    mut env: EnvUnowned<'a>,
    _: JClass<'a>,
    client: jlong,
    username: JString<'a>,
    password: JString<'a>,
) {
    env.with_env(|env| -> jni::errors::Result<()> {
        let username = if username.is_null() { None } else { Some(username.try_to_string(env)?) };
        let password = password.try_to_string(env)?;
        if let Some(Err(error)) = get(client).ok().map(|client| client.set_credentials(username.as_deref(), &password))
        {
            env.throw_new(
                jni_str!("java/lang/IllegalArgumentException"),
                jni::strings::JNIString::new(error.to_string()),
            )?;
        }
        Ok(())
    })
    .resolve::<ThrowRuntimeExAndDefault>()
}
