//! A proxy before a server, behind which it is as far away as in another building: `open delay=500` answers the port to
//! connect to, where everything arrives so many microseconds later, each way. Packets overtake no other, and none waits
//! for the one before to arrive.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use crate::order::Order;

/// `url` ends with the server's host and port.
pub fn program(url: &str) -> Box<dyn FnMut(&Order) -> String> {
    let server = url.rsplit('/').next().unwrap_or(url).to_owned();
    Box::new(move |order| {
        let delay = Duration::from_micros(order.number("delay"));
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let server = server.clone();
        spawn(move || {
            for client in listener.incoming().flatten() {
                if let Ok(server) = TcpStream::connect(&server) {
                    line(&client, &server, delay);
                    line(&server, &client, delay);
                }
            }
        });
        format!("port={port}")
    })
}

/// Carries bytes one way, with a thread that takes them and one that hands them on.
fn line(from: &TcpStream, to: &TcpStream, delay: Duration) {
    let _ = to.set_nodelay(true);
    let mut from = from.try_clone().expect("a socket");
    let mut to = to.try_clone().expect("a socket");
    let (arrives, arrived) = channel::<(Instant, Vec<u8>)>();
    spawn(move || {
        let mut packet = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = from.read(&mut packet) {
            let _ = arrives.send((Instant::now() + delay, packet[..length].to_vec()));
        }
    });
    spawn(move || {
        for (due, packet) in arrived {
            sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&packet).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}
