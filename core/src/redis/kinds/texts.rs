//! Many short texts, or other bytes, in one allocation.

use std::fmt::Display;
use std::io::Write;

pub struct Texts {
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    pub fn with_capacity(texts: usize, bytes: usize) -> Self {
        Texts { text: Vec::with_capacity(bytes), ends: Vec::with_capacity(texts) }
    }

    pub fn reserve(&mut self, texts: usize, bytes: usize) {
        self.text.reserve(bytes);
        self.ends.reserve(texts);
    }

    pub fn push(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.ends.push(self.text.len());
    }

    pub fn print(&mut self, value: impl Display) {
        write!(self.text, "{value}").expect("memory takes everything");
        self.ends.push(self.text.len());
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The size of all of them together.
    pub fn size(&self) -> usize {
        self.text.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start..*end])
    }
}
