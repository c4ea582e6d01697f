//! An HTTP service that charges each order once at a time, in however many processes it runs: `POST /orders/42/charge`.
//! Needs a server at REDLATCH_URL. It serves the address that is its argument until Ctrl-C; without one it sends requests
//! to itself, and ends.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use redlatch::{Client, Config, Error, Holds};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// If the caller hangs up, axum drops this future, and with it the guard: the lock is free again.
async fn charge(State(locks): State<Client>, Path(order): Path<u64>) -> Result<String, Failure> {
    let guard = locks.lock(&format!("example:order:{order}")).wait(Duration::from_secs(2)).acquire().await?;
    guard.run(tokio::time::sleep(Duration::from_millis(20))).await?; // stops at a loss
    guard.release().await?;
    Ok(format!("order {order} is charged\n"))
}

struct Failure(Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure(error)
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let status = match &self.0 {
            Error::NotAcquired { .. } => StatusCode::CONFLICT,
            error if error.is_transient() => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        (status, format!("{}\n", self.0)).into_response()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let locks = Client::with_config(Config::from_env()?)?;
    let service = Router::new().route("/orders/{order}/charge", post(charge)).with_state(locks.clone());
    let address = std::env::args().nth(1);
    let listener = TcpListener::bind(address.as_deref().unwrap_or("127.0.0.1:0")).await?;
    let here = listener.local_addr()?;
    let end = async move {
        match address {
            Some(_) => drop(tokio::signal::ctrl_c().await),
            None => try_it(here).await.expect("the service answers"),
        }
    };
    // First the requests under way end, then the client, which gives back what is left.
    axum::serve(listener, service).with_graceful_shutdown(end).await?;
    locks.close(Holds::Release).await;
    Ok(())
}

async fn try_it(service: SocketAddr) -> std::io::Result<()> {
    let (one, two) = tokio::try_join!(send(service), send(service))?;
    for answer in [one, two] {
        assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("order 42 is charged\n"), "{answer}");
        println!("{}", answer.lines().last().unwrap_or_default());
    }
    Ok(())
}

async fn send(service: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(service).await?;
    stream.write_all(b"POST /orders/42/charge HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
