//! The credentials of a client, which a program may change while the client runs.
//!
//! A fork may happen at any moment, also while another thread is in here, and the child goes on with its parent's
//! credentials. A lock that was taken at the fork stays locked in the child for ever. So each process that sets
//! credentials has a [`Copies`] of its own, and changes no other. It stores them twice, one copy after the other: at any
//! moment one of the two can be read. A reader waits for neither, but takes the one that it can read.
//!
//! Superseded credentials are dropped at once. A program may set a token every minute for months, so nothing here grows
//! with the number of calls; the list of processes grows with the depth of forks.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use once_cell::race::OnceBox;

use crate::request::error::{Error, Result};
use crate::request::names::NAME_MAX;

/// The latest credentials that a program has set; none at first.
#[derive(Default)]
pub struct Login(OnceBox<Copies>);

/// The credentials that one process has set.
struct Copies {
    process: u32,
    /// The process changes these first.
    spare: RwLock<Arc<Credentials>>,
    latest: RwLock<Arc<Credentials>>,
    /// Locked during a change: two changes at once could keep both copies from readers.
    changing: Mutex<()>,
    /// The credentials of its child.
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
    pub fn latest(&self) -> Option<Arc<Credentials>> {
        let mut set = self.0.get()?;
        while let Some(later) = set.later.0.get() {
            set = later;
        }
        Some(set.get())
    }

    pub fn set(&self, credentials: Credentials) {
        self.set_in(std::process::id(), Arc::new(credentials));
    }

    fn set_in(&self, process: u32, credentials: Arc<Credentials>) {
        let mut login = self;
        loop {
            let set = login.0.get_or_init(|| Box::new(Copies::new(process, credentials.clone())));
            if set.process == process {
                return set.set(credentials);
            }
            login = &set.later;
        }
    }
}

impl Copies {
    fn new(process: u32, credentials: Arc<Credentials>) -> Self {
        Copies {
            process,
            spare: RwLock::new(credentials.clone()),
            latest: RwLock::new(credentials),
            changing: Mutex::default(),
            later: Login::default(),
        }
    }

    /// Only for its own process.
    fn set(&self, credentials: Arc<Credentials>) {
        let _one_by_one = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        for copy in [&self.spare, &self.latest] {
            *copy.write().unwrap_or_else(PoisonError::into_inner) = credentials.clone();
        }
    }

    /// For any process.
    fn get(&self) -> Arc<Credentials> {
        loop {
            if let Some(credentials) = [&self.latest, &self.spare].into_iter().find_map(|copy| copy.try_read().ok()) {
                return credentials.clone();
            }
            // The process itself has changed both since this looked at the first. Its copies in a child do not change.
            std::hint::spin_loop();
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

    fn token(number: u32) -> Credentials {
        Credentials::new(None, &format!("token {number}")).expect("it is short")
    }

    fn latest(login: &Login) -> Option<String> {
        login.latest()?.password.clone()
    }

    #[test]
    fn the_latest_counts() {
        let login = Login::default();
        assert!(login.latest().is_none());
        for number in 1..=3 {
            login.set(token(number));
            assert_eq!(latest(&login), token(number).password);
        }
    }

    #[test]
    fn a_token_a_minute_for_months_leaves_only_the_latest_behind() {
        let login = Login::default();
        login.set(token(0));
        let first = login.latest().map(|first| Arc::downgrade(&first)).expect("it is set");
        for number in 1..=200_000 {
            login.set(token(number));
        }
        assert!(first.upgrade().is_none(), "the first one is kept");
        assert_eq!(latest(&login), token(200_000).password);
        drop(login);
    }

    /// The locks of a parent are in its child as they were at the fork.
    #[test]
    fn a_child_has_its_parents_credentials_whatever_its_parent_was_doing() {
        let login = Login::default();
        let parent = 1;
        let child = 2;
        login.set_in(parent, Arc::new(token(1)));
        let set = login.0.get().expect("it is set");
        let changing = set.changing.lock().expect("nothing panics");
        let spare = set.spare.write().expect("nothing panics");
        let reader = set.latest.read().expect("nothing panics");
        assert_eq!(latest(&login), token(1).password, "between a reader and a change of the spare copy");
        drop((spare, reader));
        let newest = set.latest.write().expect("nothing panics");
        assert_eq!(latest(&login), token(1).password, "during a change of the latest copy");
        login.set_in(child, Arc::new(token(2)));
        assert_eq!(latest(&login), token(2).password);
        login.set_in(child, Arc::new(token(3)));
        assert_eq!(latest(&login), token(3).password);
        drop((newest, changing));
    }

    #[test]
    fn readers_always_find_credentials_during_changes() {
        let login = Login::default();
        login.set(token(0));
        std::thread::scope(|scope| {
            let changes = [0, 1].map(|_| scope.spawn(|| (0..2000).for_each(|number| login.set(token(number)))));
            while !changes.iter().all(|change| change.is_finished()) {
                assert!(login.latest().is_some());
            }
        });
    }
}
