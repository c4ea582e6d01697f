//! The credentials of a client, which a program may change while the client runs. No code here takes a lock: a fork may
//! happen at any moment, and the child goes on with the credentials of its parent.

use once_cell::race::OnceBox;

use crate::request::error::{Error, Result};
use crate::request::names::NAME_MAX;

/// The latest credentials that a program has set; none at first.
#[derive(Default)]
pub struct Login(OnceBox<Set>);

struct Set {
    credentials: Credentials,
    later: Login,
}

/// A user, or none for the server's default one, and its password.
#[derive(Clone)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Credentials {
    pub username: Option<String>,
    pub password: Option<String>,
}

impl Credentials {
    /// Reads an empty text as none.
    pub fn new(username: Option<&str>, password: &str) -> Result<Self> {
        let text = |what, text: &str| {
            if text.len() > NAME_MAX {
                return Err(Error::config(format!(
                    "the {what} has {} bytes, the most is {NAME_MAX}; use a shorter one",
                    text.len()
                )));
            }
            Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
        };
        let credentials = Credentials {
            username: text("username", username.unwrap_or_default())?,
            password: text("password", password)?,
        };
        check("the user", credentials.username.as_deref(), credentials.password.as_deref())?;
        Ok(credentials)
    }
}

/// Refuses a user without a password: the client would send neither, and the server would take it for its default user.
/// The text in the place of the user may be the password, so the error does not show it.
///
/// # Errors
/// `Config` for a user without a password.
pub fn check(user: &str, username: Option<&str>, password: Option<&str>) -> Result<()> {
    match (username, password) {
        (Some(_), None) => Err(Error::config(format!(
            "{user} has no password, and would not be logged in; give the password too (redis://user:password@host), or leave the user \
             out (redis://:password@host for a password alone)"
        ))),
        _ => Ok(()),
    }
}

impl Login {
    pub fn latest(&self) -> Option<&Credentials> {
        let mut set = self.0.get()?;
        while let Some(later) = set.later.0.get() {
            set = later;
        }
        Some(&set.credentials)
    }

    pub fn set(&self, credentials: Credentials) {
        let mut login = self;
        let mut set = Box::new(Set { credentials, later: Login::default() });
        while let Err(back) = login.0.set(set) {
            set = back;
            login = &login.0.get().expect("it was set before").later;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl PartialEq for Login {
        fn eq(&self, other: &Login) -> bool {
            self.latest() == other.latest()
        }
    }

    #[test]
    fn the_latest_counts() {
        let login = Login::default();
        assert!(login.latest().is_none());
        for password in ["one", "two", "three"] {
            login.set(Credentials::new(None, password).expect("it is short"));
            assert_eq!(login.latest().and_then(|latest| latest.password.as_deref()), Some(password));
        }
    }
}
