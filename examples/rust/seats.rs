//! Sells seats of one show at several tills: a booking locks all of its seats, in one call, or none. Needs a server at
//! REDLATCH_URL.

use std::collections::HashMap;
use std::sync::Mutex;
use std::thread;

use redlatch::{Client, Config, Holds};

const WISHES: [(&str, &[&str]); 4] =
    [("ann", &["A1", "A2"]), ("ben", &["A2", "A3"]), ("cleo", &["B7"]), ("dan", &["A3", "A1"])];

static OWNERS: Mutex<Option<HashMap<&str, &str>>> = Mutex::new(None);

fn book(client: &Client, guest: &'static str, seats: &'static [&str]) -> redlatch::Result<()> {
    let guard = client.multi_lock_group("example:show", seats).blocking().acquire()?;
    let free = OWNERS.lock().expect("no till panics").get_or_insert_default().keys().all(|seat| !seats.contains(seat));
    if free {
        guard.ensure()?; // Error::Lost if it was lost meanwhile
        OWNERS.lock().expect("no till panics").get_or_insert_default().extend(seats.iter().map(|seat| (*seat, guest)));
    }
    guard.release()
}

fn main() -> redlatch::Result<()> {
    let client = Client::with_config(Config::from_env()?)?;
    thread::scope(|scope| {
        let tills: Vec<_> = WISHES
            .map(|(guest, seats)| {
                scope.spawn({
                    let client = &client;
                    move || book(client, guest, seats)
                })
            })
            .into();
        tills.into_iter().try_for_each(|till| till.join().expect("no till panics"))
    })?;
    let owners = OWNERS.lock().expect("no till panics").take().unwrap_or_default();
    for (guest, seats) in WISHES {
        let got = seats.iter().filter(|seat| owners.get(*seat) == Some(&guest)).count();
        println!("{guest} has {got} of {seats:?}");
        assert!(got == 0 || got == seats.len());
    }
    client.close_blocking(Holds::Release);
    Ok(())
}
