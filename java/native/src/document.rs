//! A configuration file on its way to Java: a row of texts, two for each step through the tree. The first is a mark and
//! the tag, the second what is there: `{` and `}` around a map, `[` and `]` around a list, `.` a name in a map, `=` a
//! plain value, `"` a text.

use std::collections::HashMap;

use jni::Env;
use jni::objects::{JObjectArray, JString};
use redlatch::ffi::document::{Node, Value};

/// Reads a file, with `name, value, …` for its placeholders. The inner error is the caller's, the outer one the JVM's.
pub fn read(
    env: &mut Env,
    text: &JString,
    known: &JObjectArray<JString>,
) -> jni::errors::Result<redlatch::Result<Vec<String>>> {
    let text = text.try_to_string(env)?;
    let mut values = HashMap::new();
    for pair in crate::request::texts(env, known)?.chunks_exact(2) {
        values.entry(pair[0].clone()).or_insert_with(|| pair[1].clone());
    }
    let root = redlatch::ffi::document::read(&text, |name| values.get(name).cloned());
    Ok(root.map(|root| {
        let mut steps = Vec::new();
        walk(root, &mut steps);
        steps
    }))
}

pub fn write<'a>(env: &mut Env<'a>, texts: &[String]) -> jni::errors::Result<JObjectArray<'a, JString<'a>>> {
    let array = env.new_object_type_array::<JString>(texts.len(), JString::null())?;
    for (index, text) in texts.iter().enumerate() {
        env.with_local_frame(1, |env| {
            let text = env.new_string(text)?;
            array.set_element(env, index, text)
        })?;
    }
    Ok(array)
}

fn walk(node: Node, steps: &mut Vec<String>) {
    let tag = node.tag.unwrap_or_default();
    let mut step = |mark: char, tag: &str, text: String| steps.extend([format!("{mark}{tag}"), text]);
    match node.value {
        Value::Plain(text) => step('=', &tag, text),
        Value::Text(text) => step('"', &tag, text),
        Value::List(items) => {
            step('[', &tag, String::new());
            items.into_iter().for_each(|item| walk(item, steps));
            steps.extend(["]".to_owned(), String::new()]);
        }
        Value::Map(entries) => {
            step('{', &tag, String::new());
            for (name, node) in entries {
                steps.extend([".".to_owned(), name]);
                walk(node, steps);
            }
            steps.extend(["}".to_owned(), String::new()]);
        }
    }
}
