//! A client of MariaDB by another library: a program that uses the server's own locks and has never heard of ours.

use std::time::Duration;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, OptsBuilder, Row, Value};
use tokio::runtime::Runtime;

/// One session.
pub struct Sql {
    conn: Option<Conn>,
    runtime: Runtime,
}

impl Sql {
    /// Logs in as that user.
    ///
    /// # Errors
    /// The words of the library.
    pub fn connect(port: u16, user: &str) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let options = OptsBuilder::default()
            .ip_or_hostname("127.0.0.1")
            .tcp_port(port)
            .prefer_socket(false)
            .user(Some(user))
            .pass(Some("secret"))
            .db_name(Some("app"));
        let conn = runtime.block_on(async {
            tokio::time::timeout(Duration::from_secs(2), Conn::new(options)).await.map_err(|_| "no answer".to_owned())
        })?;
        Ok(Sql { conn: Some(conn.map_err(|error| error.to_string())?), runtime })
    }

    /// The first value of the first row, as a text; `None`: `NULL`, or no row.
    ///
    /// # Errors
    /// The words of the server or of the library.
    pub fn try_ask(&mut self, statement: &str) -> Result<Option<String>, String> {
        let conn = self.conn.as_mut().expect("it is open");
        let row: Option<Row> = self.runtime.block_on(conn.query_first(statement)).map_err(|error| error.to_string())?;
        Ok(row.and_then(|row| row.unwrap().into_iter().next().and_then(text)))
    }

    /// All rows, each with its values as texts; `None`: `NULL`.
    ///
    /// # Errors
    /// The words of the server or of the library.
    pub fn try_rows(&mut self, statement: &str) -> Result<Vec<Vec<Option<String>>>, String> {
        let conn = self.conn.as_mut().expect("it is open");
        let rows: Vec<Row> = self.runtime.block_on(conn.query(statement)).map_err(|error| error.to_string())?;
        Ok(rows.into_iter().map(|row| row.unwrap().into_iter().map(text).collect()).collect())
    }

    /// The same of a statement that must succeed.
    ///
    /// # Panics
    /// When it does not.
    pub fn ask(&mut self, statement: &str) -> Option<String> {
        self.try_ask(statement).unwrap_or_else(|error| panic!("{statement}: {error}"))
    }

    /// Waits so many seconds for a lock, as a hand-written program does. Tells whether it has it.
    pub fn lock(&mut self, name: &str, seconds: u32) -> bool {
        self.ask(&format!("SELECT GET_LOCK('{name}', {seconds})")).as_deref() == Some("1")
    }

    pub fn unlock(&mut self, name: &str) -> bool {
        self.ask(&format!("SELECT RELEASE_LOCK('{name}')")).as_deref() == Some("1")
    }

    /// The session that has a lock.
    pub fn holder(&mut self, name: &str) -> Option<u64> {
        self.ask(&format!("SELECT IS_USED_LOCK('{name}')")).and_then(|id| id.parse().ok())
    }

    /// The number of its session.
    pub fn id(&mut self) -> u64 {
        self.ask("SELECT CONNECTION_ID()").and_then(|id| id.parse().ok()).expect("each session has one")
    }

    /// The number of sessions that wait for a lock of the server.
    pub fn waiting(&mut self) -> u64 {
        let count = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'";
        self.ask(count).and_then(|count| count.parse().ok()).expect("a number")
    }

    /// The number of sessions of the users of tests, without this one.
    pub fn sessions(&mut self) -> u64 {
        let count = "SELECT COUNT(*) FROM information_schema.processlist WHERE user IN ('app', 'other') AND id <> CONNECTION_ID()";
        self.ask(count).and_then(|count| count.parse().ok()).expect("a number")
    }
}

/// A value as a text; `None`: `NULL`.
fn text(value: Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        other => Some(other.as_sql(true)),
    }
}

impl Drop for Sql {
    fn drop(&mut self) {
        if let Some(conn) = self.conn.take() {
            let _ =
                self.runtime.block_on(async { tokio::time::timeout(Duration::from_secs(1), conn.disconnect()).await });
        }
    }
}
