use proptest::prelude::*;
use redis::{RedisResult, Value};

use super::{LONGEST, Reader};

/// Reads all answers in `bytes`. The bytes come in pieces of these lengths, in order and again from the first.
fn read(bytes: &[u8], pieces: &[usize]) -> Vec<RedisResult<Value>> {
    let mut reader = Reader::default();
    let mut answers = Vec::new();
    let mut left = bytes;
    for length in pieces.iter().cycle() {
        let (piece, rest) = left.split_at((*length).clamp(1, left.len().max(1)).min(left.len()));
        reader.add(piece);
        answers.extend(std::iter::from_fn(|| reader.next()));
        left = rest;
        if left.is_empty() {
            return answers;
        }
    }
    answers
}

fn is_nonsense(bytes: &[u8]) -> bool {
    read(bytes, &[bytes.len().max(1)]).pop().is_some_and(|last| last.is_err())
}

#[test]
fn an_answer_is_taken_once_it_is_all_there() {
    let answers = b"*3\r\n:1\r\n:-2\r\n$3\r\na\r\n\r\n-NOSCRIPT No matching script\r\n+OK\r\n:7\r\n";
    let whole = Value::Array(vec![Value::Int(1), Value::Int(-2), Value::BulkString(b"a\r\n".to_vec())]);
    for cut in 0..22 {
        assert!(read(&answers[..cut], &[cut.max(1)]).is_empty(), "{cut}");
    }
    for piece in 1..answers.len() {
        let mut found = read(answers, &[piece]).into_iter().map(|answer| answer.and_then(Value::extract_error));
        assert_eq!(found.next(), Some(Ok(whole.clone())));
        assert_eq!(found.next().and_then(Result::err).as_ref().and_then(redis::RedisError::code), Some("NOSCRIPT"));
        assert_eq!([found.next(), found.next(), found.next()], [Some(Ok(Value::Okay)), Some(Ok(Value::Int(7))), None]);
    }
}

#[test]
fn bytes_that_are_no_answer_are_one_error_and_end_the_reading() {
    for bytes in [
        "\r\n",
        "\r\n:1\r\n",
        "*x\r\n",
        "$x\r\n",
        ":\r\n",
        "$-2\r\n",
        "*-2\r\n",
        "$9223372036854775807\r\n",
        "$1\r\nabc\r\n",
        "*1\r\n*1\r\n*1\r\n",
        "%1\r\n",
        ">1\r\n",
        "_\r\n",
        "HTTP/1.1 400 Bad Request\r\n",
        ":1111111111111111111111111",
    ] {
        assert!(is_nonsense(bytes.as_bytes()), "{bytes:?}");
        assert_eq!(read(format!("{bytes}:1\r\n:2\r\n").as_bytes(), &[1000]).len(), 1, "{bytes:?}");
    }
}

#[test]
fn an_error_whose_words_are_cut_off_inside_a_letter_is_the_servers_all_the_same() {
    let answer = read(b"-ERR unknown command 'x', with args beginning with: '\xc3\r\n:1\r\n", &[1000]);
    assert_eq!(answer.len(), 2);
    let said = answer.into_iter().next().and_then(|answer| answer.and_then(Value::extract_error).err());
    assert_eq!(said.as_ref().and_then(redis::RedisError::code), Some("ERR"));
}

#[test]
fn no_answer_takes_more_memory_than_the_longest_may() {
    let endless: [(&str, &[u8]); 5] = [
        ("", b"+a"),
        ("*9223372036854775807\r\n", b":1\r\n"),
        ("*9223372036854775807\r\n", b"*0\r\n"),
        ("$1048570\r\n", b"a"),
        ("", b"a"),
    ];
    for (head, again) in endless {
        let mut reader = Reader::default();
        reader.add(head.as_bytes());
        let mut said = head.len();
        while reader.next().is_none() {
            assert!(said <= 2 * LONGEST, "{head:?} and {again:?} go on");
            let piece = again.repeat(1000);
            reader.add(&piece);
            said += piece.len();
            assert!(reader.bytes.len() <= LONGEST + piece.len() + 2);
        }
    }
}

#[test]
fn many_answers_at_once_are_no_long_answer() {
    let answers = ":1\r\n".repeat(LONGEST);
    assert_eq!(read(answers.as_bytes(), &[64 * 1024]).into_iter().filter(Result::is_ok).count(), LONGEST);
}

/// The bytes come one by one, and the reader looks at each once: a reader that began anew with each piece would look at
/// some 10^11.
#[test]
fn a_long_list_that_comes_byte_by_byte_is_read_in_one_pass() {
    let list = format!("*200000\r\n{}", ":12\r\n".repeat(200_000));
    let answers = read(list.as_bytes(), &[1]);
    assert_eq!(answers.len(), 1);
    assert!(matches!(&answers[0], Ok(Value::Array(items)) if items.len() == 200_000));
}

/// A value in the form of a script's answer.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<i64>().prop_map(Value::Int),
        proptest::collection::vec(any::<u8>(), 0..20).prop_map(Value::BulkString),
        Just(Value::Nil),
        Just(Value::Okay),
    ];
    let list = |of: BoxedStrategy<Value>| proptest::collection::vec(of, 0..5).prop_map(Value::Array);
    let flat = leaf.boxed();
    let nested = prop_oneof![flat.clone(), list(flat.clone())].boxed();
    prop_oneof![flat, list(nested)]
}

fn written(value: &Value) -> Vec<u8> {
    match value {
        Value::Int(number) => format!(":{number}\r\n").into_bytes(),
        Value::BulkString(text) => [format!("${}\r\n", text.len()).as_bytes(), text, b"\r\n"].concat(),
        Value::Nil => b"$-1\r\n".to_vec(),
        Value::Okay => b"+OK\r\n".to_vec(),
        Value::Array(items) => {
            [format!("*{}\r\n", items.len()).into_bytes(), items.iter().flat_map(written).collect()].concat()
        }
        other => unreachable!("{other:?} is not made"),
    }
}

/// Random bytes that look like the protocol more often than by chance.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let token = prop_oneof![
        Just(b"\r\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b"\n".to_vec()),
        "[-+:$*>%~#_,(!|=][0-9]{0,3}(\r\n)?".prop_map(String::into_bytes),
        "[:$*]-?[0-9]{1,30}\r\n".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 0..8),
    ];
    proptest::collection::vec(token, 0..40).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_read_as_they_were_written_in_pieces_of_any_size(
        values in proptest::collection::vec(value(), 0..8),
        pieces in proptest::collection::vec(1..40usize, 1..8),
    ) {
        let bytes: Vec<u8> = values.iter().flat_map(written).collect();
        let found: Vec<Value> = read(&bytes, &pieces).into_iter().collect::<RedisResult<_>>().expect("they are answers");
        prop_assert_eq!(found, values);
    }

    #[test]
    fn any_bytes_are_read_alike_in_one_piece_and_in_many(bytes in noise(), pieces in proptest::collection::vec(1..9usize, 1..8)) {
        let whole = read(&bytes, &[bytes.len().max(1)]);
        let cut = read(&bytes, &pieces);
        prop_assert_eq!(format!("{whole:?}"), format!("{cut:?}"));
        let errors = whole.iter().filter(|answer| answer.is_err()).count();
        prop_assert!(errors == 0 || errors == 1 && whole.last().is_some_and(Result::is_err));
    }
}
