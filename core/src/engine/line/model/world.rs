//! The world of the model: two clients, each with the task of its line, and the calls and messages in flight.

use std::time::Duration;

use super::super::{Line, Place, Returned, Step};
use super::server::{Call, Flying, Reply};
use crate::base::clock::Instant;

const LEASE: Duration = Duration::from_secs(30);

#[derive(Default)]
pub struct Client {
    pub line: Option<Line<()>>,
    pub working: bool,
    pub subscribed: bool,
    pub heard: u64,
    pub unheard: u64,
}

pub struct World {
    pub now: Instant,
    pub field: Option<u64>,
    pub clients: [Client; 2],
    pub flying: Vec<Flying>,
    /// The client and the waiter that believe to hold the lock.
    pub holder: Option<(usize, u64)>,
    pub joined: u64,
    pub answers: Vec<u64>,
    pub order: [Vec<u64>; 2],
}

impl World {
    pub fn new() -> Self {
        World {
            now: Instant::now(),
            field: None,
            clients: Default::default(),
            flying: Vec::new(),
            holder: None,
            joined: 0,
            answers: Vec::new(),
            order: Default::default(),
        }
    }

    pub fn join(&mut self, client: usize, deadline: Option<Duration>) {
        self.joined += 1;
        let id = self.joined;
        let now = self.now;
        let near = self.holder.is_some_and(|(holder, _)| holder == client);
        let deadline = deadline.map(|wait| now + wait);
        let place = Place { id, deadline, joined: now, wants: 1, number: 0, owner: id as i64, waiter: () };
        let line = self.clients[client].line.get_or_insert_with(|| Line::new(near, now));
        if !line.is_waited_in(now) {
            if near { line.pace.near(None, now) } else { line.pace.hurry(now) }
        }
        line.join(place);
    }

    pub fn cancel(&mut self, client: usize, id: u64) {
        let left = self.clients[client].line.as_mut().and_then(|line| line.leave(id));
        self.answers.extend(left.map(|place| place.id));
    }

    /// The work of the line's task.
    pub fn tick(&mut self, client: usize) {
        let now = self.now;
        let Some(line) = &mut self.clients[client].line else { return };
        self.answers.extend(line.expired(now).into_iter().map(|place| place.id));
        let call = match line.step(now) {
            Step::End => {
                self.clients[client] = Client::default();
                self.flying.retain(|flying| flying.client != client || flying.call != Call::Listen);
                return;
            }
            Step::Listen if !self.clients[client].working => Some(Call::Listen),
            Step::Try if !self.clients[client].working => line.take_head(now).map(|place| Call::Try { id: place.id }),
            _ => None,
        };
        if let Some(call) = call {
            self.clients[client].working = true;
            self.flying.push(Flying { client, call, reply: None });
        }
    }

    pub fn release(&mut self) {
        let Some((client, id)) = self.holder.take() else { return };
        let now = self.now;
        let side = &mut self.clients[client];
        let heir = side.line.as_mut().and_then(|line| line.pass(now, now)).map(|(place, _)| place.id);
        let call = Call::Release { id, heir, heard: side.heard };
        self.flying.push(Flying { client, call, reply: None });
    }

    pub fn deliver(&mut self, at: usize) {
        let Flying { client, call, reply: Some(reply) } = self.flying.remove(at) else {
            unreachable!("only answered calls end")
        };
        let now = self.now;
        let side = &mut self.clients[client];
        side.working &= matches!(call, Call::Release { .. });
        match (call, reply, &mut side.line) {
            (Call::Listen, _, Some(line)) => line.pace.listening(),
            (Call::Try { id }, Reply::Taken, Some(line)) => {
                line.pace.near(Some(LEASE), now);
                let returned = line.returned();
                self.hand_out(client, id, returned);
            }
            (Call::Try { .. }, _, Some(line)) => {
                line.pace.busy(Some(LEASE), true, now);
                self.answers.extend(line.put_back().map(|place| place.id));
            }
            (Call::Release { heir: Some(heir), .. }, Reply::Passed, Some(line)) => {
                line.pace.near(Some(LEASE), now);
                let returned = line.returned();
                self.hand_out(client, heir, returned);
            }
            (Call::Release { heir, heard, .. }, Reply::Freed(listeners), Some(line)) => {
                if heir.is_some() {
                    line.pace.hurry(now);
                    self.answers.extend(line.put_back().map(|place| place.id));
                } else {
                    line.pace.freed(listeners, heard + listeners, now);
                }
            }
            (Call::Release { heir: None, .. }, _, None) => {}
            other => panic!("no line for {other:?}"),
        }
    }

    fn hand_out(&mut self, client: usize, id: u64, returned: Returned<()>) {
        assert_eq!(self.holder, None, "two hold it");
        self.holder = Some((client, id));
        match returned {
            Returned::Wants(place) => {
                assert_eq!(place.id, id);
                self.answers.push(id);
                self.order[client].push(id);
            }
            Returned::Cancelled(place) => {
                self.answers.push(place.id);
                self.release();
            }
            Returned::Late => self.release(),
        }
    }

    pub fn hear(&mut self, client: usize) {
        let now = self.now;
        let side = &mut self.clients[client];
        if side.unheard > 0 {
            side.unheard -= 1;
            side.heard += 1;
            let heard = side.heard;
            side.line.iter_mut().for_each(|line| line.pace.heard(heard, now));
        }
    }

    /// The connection is cut and made anew: the messages in flight are lost, and the line hears of that as of one
    /// message.
    pub fn disconnect(&mut self, client: usize) {
        self.clients[client].unheard =
            self.clients[client].unheard.min(1).max(u64::from(self.clients[client].subscribed));
    }

    /// Nothing more goes wrong, and every holder releases.
    pub fn settle(&mut self) {
        for _ in 0..100_000 {
            (0..2).for_each(|client| self.tick(client));
            (0..2).for_each(|client| self.hear(client));
            if !self.flying.is_empty() {
                self.run(0);
                self.deliver(0);
            } else if self.holder.is_some() {
                self.release();
            } else if self.clients.iter().all(|client| client.line.is_none()) {
                return;
            } else {
                self.now += Duration::from_millis(1);
            }
        }
        panic!(
            "a waiter waits for ever: field {:?}, holder {:?}, lines {:?}",
            self.field,
            self.holder,
            self.clients.each_ref().map(|client| &client.line)
        );
    }
}
