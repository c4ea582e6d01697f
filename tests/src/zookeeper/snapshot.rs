//! The file in which a server of ZooKeeper keeps all nodes.

use std::path::Path;

/// The end of the file: its check sum, and the text `/`.
const END: usize = 13;

/// Changes the number of the next child of a node, in the newest of the files in the server's folder.
pub fn count_from(data: &Path, path: &str, number: i32) {
    let files = std::fs::read_dir(data.join("version-2")).expect("the server has a folder");
    let files = files.map(|file| file.expect("a file").path());
    let newest = files.filter_map(|file| {
        let digits = file.file_name()?.to_str()?.strip_prefix("snapshot.")?.to_owned();
        Some((u64::from_str_radix(&digits, 16).ok()?, file))
    });
    let (_, file) = newest.max().expect("the server has written one");
    let mut bytes = std::fs::read(&file).expect("the file can be read");
    let named = [&(path.len() as u32).to_be_bytes(), path.as_bytes()].concat();
    let at = bytes.windows(named.len()).position(|window| window == named).expect("the node is there") + named.len();
    let length = u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    // Behind the data: the rights, two transactions, two times, the version of the data.
    let at = at + 4 + if length == u32::MAX { 0 } else { length as usize } + 8 + 4 * 8 + 4;
    bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
    let end = bytes.len() - END;
    let sum = u64::from(sum(&bytes[..end]));
    bytes[end..end + 8].copy_from_slice(&sum.to_be_bytes());
    std::fs::write(file, bytes).expect("the file can be written");
}

/// Adler-32.
fn sum(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (low, high) = bytes.iter().fold((1, 0), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % MODULUS;
        (low, (high + low) % MODULUS)
    });
    high << 16 | low
}
