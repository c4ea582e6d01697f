//! The answers to browsers and other programs. None of them asks the server of the locks, except the release of one.

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use axum::extract::{DefaultBodyLimit, FromRequest, Query, Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::{Event, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream::{Stream, unfold};
use redlatch::Client;
use rustix::system::uname;
use serde_json::{Value, json};
use subtle::ConstantTimeEq;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use uuid::Uuid;

use super::board::{Board, Moment};
use super::connections::PATIENCE;
use super::metrics;
use crate::clock;
use crate::ending::{Failure, NOT_ALLOWED, UNREACHABLE};
use crate::list::find;
use crate::release::Chosen;
use crate::reports::one_line;
use crate::table::in_one_line;
use crate::times;
use crate::watch::{Sight, Watch};

const PAGE: &str = include_str!("page.html");
/// A page that is so many changes behind has all anew.
const BEHIND: usize = 64;
/// So many pages hear of changes.
const MOST_PAGES: usize = 100;
/// A name of a lock has 64 KiB at most, and each of its bytes may be written as `\u0000`.
const LONGEST_BODY: usize = 512 * 1024;

/// The word before the token in a request for a release.
const SCHEME: &[u8] = b"Bearer ";

pub struct Web {
    client: Client,
    watch: Arc<Mutex<Watch>>,
    board: Mutex<Board>,
    changes: Sender<Arc<str>>,
    /// The secret of those that may release locks; `None`: no page may.
    token: Option<String>,
    /// The names by which browsers may call this server.
    hosts: Vec<String>,
}

impl Web {
    pub fn new(
        client: Client,
        watch: Arc<Mutex<Watch>>,
        board: Board,
        token: Option<String>,
        hosts: Vec<String>,
    ) -> Self {
        Web { client, watch, board: Mutex::new(board), changes: channel(BEHIND).0, token, hosts }
    }

    /// Tells all pages of what has happened since the last call.
    pub fn look(&self, moment: Moment) {
        let change = self.with(|board, watch| board.look(watch, moment));
        if let Some(change) = change {
            // Without a page there is no receiver.
            let _ = self.changes.send(change.to_string().into());
        }
    }

    fn with<T>(&self, look: impl FnOnce(&mut Board, &mut Watch) -> T) -> T {
        let mut board = self.board.lock().expect("nothing panics while it is held");
        let mut watch = self.watch.lock().expect("nothing panics while it is held");
        look(&mut board, &mut watch)
    }

    /// All that a page shows, and the changes from then on.
    fn subscribe(&self) -> (Event, Receiver<Arc<str>>) {
        let board = self.board.lock().expect("nothing panics while it is held");
        let changes = self.changes.subscribe();
        (Event::default().event("all").data(board.all(Moment::now()).to_string()), changes)
    }

    /// Whether a browser may call this server by that name. The name of a stranger's site could be made to lead here, and its page
    /// could then read all locks. It can't have an address as its name.
    fn is_known(&self, host: &str) -> bool {
        let name = without_port(host);
        let is_address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        is_address
            || is("localhost")
            || is(&uname().nodename().to_string_lossy())
            || self.hosts.iter().any(|known| is(known))
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    }
}

pub fn router(web: Arc<Web>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/events", get(events))
        .route("/locks", get(locks))
        .route("/metrics", get(measured))
        .route("/health", get(health))
        .route("/release", post(release))
        .fallback(|| async { (StatusCode::NOT_FOUND, "there is /, /events, /locks, /metrics, /health and /release\n") })
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(from_fn_with_state(web.clone(), guard))
        .with_state(web)
}

/// Answers calls by a known name alone, and lets nothing be kept.
async fn guard(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response {
    let host = request.headers().get(HOST).map(|host| String::from_utf8_lossy(host.as_bytes()).into_owned());
    // Every browser names its host. A probe may not.
    let mut response = match host.filter(|host| !web.is_known(host)) {
        None => next.run(request).await,
        Some(host) => {
            let text = format!(
                "this redlatch does not serve `{}`; call it by its address, or start it with --host and that name\n",
                in_one_line(without_port(&host))
            );
            (StatusCode::MISDIRECTED_REQUEST, text).into_response()
        }
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

async fn page() -> Response {
    let nonce = Uuid::new_v4().simple().to_string();
    let policy = format!(
        "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; img-src data:; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    );
    ([(CONTENT_SECURITY_POLICY, policy)], Html(PAGE.replace("NONCE", &nonce))).into_response()
}

async fn events(State(web): State<Arc<Web>>) -> Response {
    if web.changes.receiver_count() >= MOST_PAGES {
        let text = format!("{MOST_PAGES} pages are open already; close one of them\n");
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    }
    // A proxy that collects an answer before it passes it on would show a page nothing.
    ([("x-accel-buffering", "no")], Sse::new(changes(web))).into_response()
}

fn changes(web: Arc<Web>) -> impl Stream<Item = Result<Event, Infallible>> {
    unfold((web, None::<Receiver<Arc<str>>>), |(web, changes)| async move {
        let heard = match changes {
            None => None,
            Some(mut changes) => match changes.recv().await {
                Ok(change) => Some((Event::default().event("change").data(change), changes)),
                Err(RecvError::Lagged(_)) => None,
                Err(RecvError::Closed) => return None,
            },
        };
        let (event, changes) = heard.unwrap_or_else(|| web.subscribe());
        Some((Ok(event), (web, Some(changes))))
    })
}

#[derive(serde::Deserialize)]
struct Asked {
    name: Option<String>,
}

async fn locks(State(web): State<Arc<Web>>, Query(asked): Query<Asked>) -> Response {
    let object = web.with(|board, watch| board.locks(watch, asked.name.as_deref(), Moment::now()));
    ([(CONTENT_TYPE, "application/json")], one_line(&object) + "\n").into_response()
}

async fn measured(State(web): State<Arc<Web>>) -> Response {
    let text = web.with(|board, watch| metrics::text(watch, &mut board.tally));
    ([(CONTENT_TYPE, metrics::TYPE)], text).into_response()
}

async fn health(State(web): State<Arc<Web>>) -> (StatusCode, Json<Value>) {
    web.with(|_, watch| match watch.silence() {
        None => (StatusCode::OK, Json(json!({ "status": "ok" }))),
        Some((since, why)) => {
            let silent = clock::now().saturating_sub(since).as_millis() as u64;
            let object = json!({ "status": "silent", "silent_ms": silent, "message": why });
            (StatusCode::SERVICE_UNAVAILABLE, Json(object))
        }
    })
}

/// The hold that the user chose.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Shown {
    /// One permit of a semaphore. No other one ever has its id.
    Permit { name: String, permit: String },
    /// The lock, as the user saw it.
    Lock { name: String, stamp: String },
}

impl Shown {
    fn name(&self) -> &str {
        match self {
            Shown::Permit { name, .. } | Shown::Lock { name, .. } => name,
        }
    }
}

async fn release(State(web): State<Arc<Web>>, request: Request) -> (StatusCode, Json<Value>) {
    let told = |code: StatusCode, text: String| (code, Json(json!({ "message": text })));
    let Some(token) = &web.token else {
        let text = "this redlatch releases no locks; start it with --allow-release";
        return told(StatusCode::FORBIDDEN, text.to_owned());
    };
    if !is_same(request.headers(), token) {
        let text = "the token is wrong: it stands behind `#token=` in the address that `redlatch serve` has printed";
        return told(StatusCode::UNAUTHORIZED, text.to_owned());
    }
    let shown = match timeout(PATIENCE, Json::<Shown>::from_request(request, &())).await {
        Ok(Ok(Json(shown))) => shown,
        Ok(Err(error)) => {
            let text = format!(
                "send an object with the name of a lock and its stamp, or of a semaphore and one of its permits: {}",
                error.body_text()
            );
            return told(error.status(), text);
        }
        Err(_) => {
            let text = format!("the request did not come to its end within {}; send it again", times::shown(PATIENCE));
            return told(StatusCode::REQUEST_TIMEOUT, text);
        }
    };
    // Without this page the work goes on to its end.
    let taken = spawn_blocking(move || take(&web, &shown)).await;
    match taken {
        Ok(Ok(text)) => told(StatusCode::OK, text),
        Ok(Err(failure)) => {
            let code = match failure.code {
                UNREACHABLE => StatusCode::BAD_GATEWAY,
                NOT_ALLOWED => StatusCode::FORBIDDEN,
                _ => StatusCode::CONFLICT,
            };
            told(code, failure.text)
        }
        Err(_) => told(StatusCode::INTERNAL_SERVER_ERROR, "the release has failed; look at redlatch".to_owned()),
    }
}

fn is_same(headers: &HeaderMap, token: &str) -> bool {
    let said = headers.get(AUTHORIZATION).and_then(|value| value.as_bytes().split_at_checked(SCHEME.len()));
    said.is_some_and(|(scheme, said)| scheme.eq_ignore_ascii_case(SCHEME) && said.ct_eq(token.as_bytes()).into())
}

/// Takes the lock from the holder that the user saw, and gives the sentence about that.
fn take(web: &Web, shown: &Shown) -> Result<String, Failure> {
    let name = in_one_line(shown.name());
    let is_shown = web.with(|_, watch| watch.known(shown.name()).is_some());
    if !is_shown {
        return Err(Failure::usage(format!(
            "`{name}` is none of the locks that this redlatch shows; use `redlatch release`"
        )));
    }
    let Some(lock) = find(&web.client, shown.name())? else {
        return Err(Failure::usage(format!("`{name}` is free by now")));
    };
    let chosen = match shown {
        Shown::Permit { permit, .. } => Chosen::of(lock, Some(permit.parse()?))?,
        Shown::Lock { stamp, .. } if *stamp == Sight::from(lock.clone()).stamp() => Chosen::of(lock, None)?,
        Shown::Lock { .. } => {
            let text = format!("`{name}` was not released: its holders have changed since; look again");
            return Err(Failure::usage(text));
        }
    };
    let text = chosen.take_at_once(&web.client)?;
    chosen.note_in(&web.watch);
    Ok(text)
}
