//! The way to Java: a finished request as one row of numbers (`ticket, status, number, item, item`) and texts
//! (`message, word`). Of a loss the number is that of its reason.

use jni::Env;
use jni::objects::{JLongArray, JObjectArray, JString};
use redlatch::ffi::{self, Answer};
use redlatch::{Error, Result};

use crate::packed;

/// Numbers in a row.
pub const NUMBERS: usize = 5;
/// Where the items of the first row are.
pub const ITEMS: i32 = 3;
/// Texts in a row; they are written only where there is an error, or an answer with texts, which go into the first
/// ([`packed`]).
pub const TEXTS: usize = 2;

pub const DONE: i64 = 0;
pub const NOT_NOW: i64 = 1;
pub const WITH_TEXTS: i64 = 2;

/// Writes one row. The word of an error is the server's own (`WRONGTYPE`) where the server refused, else the core's.
pub fn write(
    env: &mut Env,
    row: usize,
    ticket: i64,
    outcome: &Result<Answer>,
    numbers: &JLongArray,
    texts: &JObjectArray<JString>,
) -> jni::errors::Result<()> {
    let values = match outcome {
        Ok(answer) => {
            let status = match (answer.done, answer.texts.is_empty()) {
                (true, true) => DONE,
                (true, false) => WITH_TEXTS,
                (false, _) => NOT_NOW,
            };
            if status == WITH_TEXTS {
                put(env, texts, row * TEXTS, &packed::write(&answer.texts))?;
            }
            let item = |at: usize| answer.items.get(at).copied().unwrap_or_default();
            [ticket, status, answer.number, item(0), item(1)]
        }
        Err(error) => {
            let word = match error {
                Error::Refused { code, .. } => code.as_str(),
                other => other.code(),
            };
            put(env, texts, row * TEXTS, &error.to_string())?;
            put(env, texts, row * TEXTS + 1, word)?;
            let reason = match error {
                Error::Lost(loss) => loss.reason as i64,
                _ => 0,
            };
            [ticket, i64::from(ffi::number(error)), reason, 0, 0]
        }
    };
    numbers.set_region(env, (row * NUMBERS) as i32, &values)
}

fn put(env: &mut Env, texts: &JObjectArray<JString>, index: usize, text: &str) -> jni::errors::Result<()> {
    // A frame of its own per text: a long batch of errors must not fill the caller's table of local references.
    env.with_local_frame(1, |env| {
        let text = env.new_string(text)?;
        texts.set_element(env, index, text)
    })
}
