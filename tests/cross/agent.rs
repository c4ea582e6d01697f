//! The agent of a language.

use std::ops::Deref;

pub use redlatch_tests::agent::{Pending, Refusal};

use crate::languages::Language;

pub struct Agent {
    pub language: &'static Language,
    agent: redlatch_tests::Agent,
}

impl Agent {
    /// Starts the agent, and returns once its client has answered.
    pub fn start(language: &'static Language, url: &str) -> Result<Self, String> {
        Ok(Agent { language, agent: redlatch_tests::Agent::start(language.name, language.program, url)? })
    }
}

impl Deref for Agent {
    type Target = redlatch_tests::Agent;

    fn deref(&self) -> &redlatch_tests::Agent {
        &self.agent
    }
}
