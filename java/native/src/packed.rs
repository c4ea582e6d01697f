//! Texts of any bytes in one row of bytes: each behind its length in four bytes, the highest first.

/// As far as they are whole.
pub fn read(mut packed: &[u8]) -> Vec<Vec<u8>> {
    let mut texts = Vec::new();
    while let Some((length, rest)) = packed.split_first_chunk::<4>() {
        let Some((text, rest)) = rest.split_at_checked(u32::from_be_bytes(*length) as usize) else { break };
        texts.push(text.to_vec());
        packed = rest;
    }
    texts
}

/// As a text with one character for each byte, which is what a row has room for.
pub fn write(texts: &[Vec<u8>]) -> String {
    let packed = texts.iter().flat_map(|text| [&(text.len() as u32).to_be_bytes()[..], text].concat());
    packed.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_written_can_be_read() {
        let texts = [b"a".to_vec(), Vec::new(), (0..=255).collect()];
        let bytes: Vec<u8> =
            super::write(&texts).chars().map(|each| u8::try_from(each).expect("it is a byte")).collect();
        assert_eq!(super::read(&bytes), texts);
        assert_eq!(super::read(&bytes[..bytes.len() - 1]), texts[..2]);
    }
}
