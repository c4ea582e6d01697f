//! `redlatch serve`: a web page of the locks that are held, and the same as JSON and as metrics.

mod board;
mod connections;
mod groups;
mod metrics;
mod row;
#[cfg(test)]
mod tests;
mod web;

use std::env::VarError;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::{MissedTickBehavior, interval};
use uuid::Uuid;

use crate::arguments::Serve;
use crate::ending::{Failure, SYSTEM};
use crate::list::ended;
use crate::lock::client;
use crate::reports::{Style, one_line};
use crate::signals::Signals;
use crate::watch::{Feed, Watch, reach};

use board::{Board, Moment};
use web::Web;

/// Pages hear of changes so often at most.
const TICK: Duration = Duration::from_millis(250);
/// The token of those that may release locks; without it a new one is made.
const TOKEN: &str = "REDLATCH_SERVE_TOKEN";
/// A shorter token could be guessed.
const SHORTEST_TOKEN: usize = 16;

pub fn serve(arguments: &Serve) -> ExitCode {
    let style = Style::of(arguments.json, false);
    ended(show(arguments, style), &arguments.pattern, style)
}

fn show(arguments: &Serve, style: Style) -> Result<u8, Failure> {
    let token = if arguments.allow_release { Some(token()?) } else { None };
    let client = client(arguments.url.as_deref(), None)?;
    reach(&client, &arguments.pattern)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::system)?;
    let ended = runtime.block_on(async {
        let mut signals = Signals::listen().map_err(Failure::system)?;
        let listener = TcpListener::bind(arguments.listen).await.map_err(|error| taken(arguments.listen, &error))?;
        let address = listener.local_addr().map_err(Failure::system)?;
        let watch = Arc::new(Mutex::new(Watch::new(arguments.interval)));
        let board = Board::new(client.server(), &arguments.pattern, token.is_some());
        // A page whose address is lost is of no use.
        tell(style, address, token.as_deref())
            .map_err(|error| Failure::unwritten("the address of the page", &error))?;
        let web = Arc::new(Web::new(client.clone(), watch.clone(), board, token, arguments.hosts.clone()));
        let feed = Feed {
            client: &client,
            pattern: &arguments.pattern,
            interval: arguments.interval,
            watch: &watch,
            // The board looks at the watch by itself.
            told: || {},
        };
        let ticks = async {
            let mut ticks = interval(TICK);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                web.look(Moment::now());
            }
        };
        tokio::select! {
            failure = feed.run() => Err(failure),
            never = connections::serve(listener, web::router(web.clone())) => match never {},
            () = ticks => Ok(0),
            _ = signals.next() => Ok(0),
        }
    });
    // A release that is under way waits for its server: the end does not.
    runtime.shutdown_background();
    ended
}

/// The token of the environment, or a new one.
fn token() -> Result<String, Failure> {
    let can_stand_in_address = |letter: u8| letter.is_ascii_alphanumeric() || b"-._~".contains(&letter);
    match std::env::var(TOKEN) {
        Ok(token) if token.len() < SHORTEST_TOKEN || !token.bytes().all(can_stand_in_address) => {
            // It may be a good secret of another program: it is not shown.
            Err(Failure::usage(format!(
                "the token in {TOKEN} has {} letters, or one that cannot stand in an address; it needs {SHORTEST_TOKEN} or more of a-z, A-Z, \
                 0-9 and -._~; leave {TOKEN} out, and redlatch makes one",
                token.chars().count()
            )))
        }
        Ok(token) => Ok(token),
        Err(VarError::NotUnicode(_)) => Err(Failure::usage(format!(
            "the token in {TOKEN} is no text; it needs {SHORTEST_TOKEN} or more of a-z, A-Z, 0-9 and -._~"
        ))),
        Err(VarError::NotPresent) => Ok(Uuid::new_v4().simple().to_string()),
    }
}

fn taken(address: SocketAddr, error: &io::Error) -> Failure {
    let text = format!(
        "redlatch cannot listen on {address}: {error}; choose another address with --listen, port 0 for a free one"
    );
    Failure::new(SYSTEM, "failed", text)
}

/// Tells the address of the page. Browsers send no server the words behind `#`.
fn tell(style: Style, address: SocketAddr, token: Option<&str>) -> io::Result<()> {
    let secret = token.map_or(String::new(), |token| format!("#token={token}"));
    let url = format!("http://{address}/{secret}");
    let object = json!({ "event": "serves", "url": url, "address": address.to_string(), "token": token });
    let line = if style == Style::Json { one_line(&object) } else { url };
    writeln!(io::stdout(), "{line}")
}
