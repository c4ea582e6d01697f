//! Every operation of every kind, abandoned by its caller at every moment. The caller drops the future or the guard,
//! cancels, or closes the client. A moment is a poll of the future, a packet on its way, or an answer that the caller
//! has not read.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use redlatch::ffi::kinds::{ALL, KindRow, Traits};
use redlatch::ffi::{Answer, Border, Op, Request};
use redlatch::{Error, Holds};

use super::*;

type End = Result<Answer, Error>;

/// The operation under way when the caller goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Doing {
    Acquire,
    /// An acquire of a lock that is not free.
    Wait,
    Release,
    Extend,
    Force,
}

/// How the caller goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Going {
    DropsTheFuture,
    Cancels,
    DropsTheGuard,
    Closes,
}

/// When the caller goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    /// Before the first poll.
    NotPolled,
    Polled,
    Packet(Direction, usize),
    /// After the answer, before the caller reads it.
    Answered,
}

const DOING: [Doing; 5] = [Doing::Acquire, Doing::Wait, Doing::Release, Doing::Extend, Doing::Force];
const GOING: [Going; 4] = [Going::DropsTheFuture, Going::Cancels, Going::DropsTheGuard, Going::Closes];
/// More packets each way than any operation has.
const MOST: usize = 32;

/// The operations of a kind: a latch is not held, a kind without holders has no leases to extend, and permits and
/// latches have no holder to evict.
fn doing(traits: &Traits) -> impl Iterator<Item = Doing> {
    let can_be = |doing: &Doing| match doing {
        Doing::Acquire | Doing::Wait => true,
        Doing::Release => traits.name != "latch",
        Doing::Extend => traits.held,
        Doing::Force => traits.held && traits.name != "permit",
    };
    DOING.into_iter().filter(can_be)
}

/// How a caller can leave the operation. An acquire has no guard yet. Permits without ids never have one, so a second
/// release would give back more.
fn going(traits: &Traits, doing: Doing) -> impl Iterator<Item = Going> {
    let has_guard = !matches!(doing, Doing::Acquire | Doing::Wait) && traits.name != "semaphore";
    GOING.into_iter().filter(move |going| *going != Going::DropsTheGuard || has_guard)
}

/// A kind on a server of its own, and a client that stays.
struct Stage {
    traits: &'static Traits,
    server: Server,
    other: Client,
    runs: AtomicUsize,
}

/// A lock of its own, and a client of its own behind a proxy.
struct Run<'a> {
    stage: &'a Stage,
    name: String,
    proxy: Proxy,
    client: Client,
}

/// Notes that a future asks to be polled again.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

/// The operation under way.
enum Flight {
    Future {
        future: Pin<Box<dyn Future<Output = End> + Send>>,
        woken: Arc<Woken>,
    },
    Request {
        ticket: u64,
        end: Receiver<End>,
        ended: Option<End>,
    },
    /// The answer was there at the first poll: the caller has it, and its moment has passed.
    AnsweredAtOnce(End),
}

impl Flight {
    fn begin(client: &Client, request: Request, going: Going) -> Self {
        if going == Going::DropsTheFuture {
            let client = client.clone();
            return Flight::Future {
                future: Box::pin(async move { client.run(request).await }),
                woken: Arc::default(),
            };
        }
        let ticket = client.ticket();
        let (sender, end) = mpsc::channel();
        client.submit(ticket, request, move |result| drop(sender.send(result)));
        Flight::Request { ticket, end, ended: None }
    }

    fn poll(&mut self) {
        if let Flight::Future { future, woken } = self
            && let Poll::Ready(end) = future.as_mut().poll(&mut Context::from_waker(&Waker::from(woken.clone())))
        {
            *self = Flight::AnsweredAtOnce(end);
        }
    }

    fn is_answered(&mut self) -> bool {
        match self {
            Flight::Future { woken, .. } => woken.0.load(SeqCst),
            Flight::Request { end, ended, .. } => {
                *ended = ended.take().or_else(|| end.try_recv().ok());
                ended.is_some()
            }
            Flight::AnsweredAtOnce(_) => true,
        }
    }

    /// The result for a caller that still listens.
    fn end(mut self) -> Option<End> {
        eventually("the end", || self.is_answered().then_some(()));
        match self {
            Flight::Request { ended, .. } => ended,
            Flight::AnsweredAtOnce(end) => Some(end),
            Flight::Future { .. } => None,
        }
    }
}

impl Stage {
    fn new(traits: &'static Traits) -> Self {
        let server = Server::start();
        Stage { traits, other: connect(&server.url()), server, runs: AtomicUsize::new(0) }
    }

    fn has_permits(&self) -> bool {
        ["semaphore", "permit_semaphore", "permit"].contains(&self.traits.name)
    }

    /// Plays one moment. False: the moment never came.
    fn play(&self, doing: Doing, going: Going, moment: Moment) -> bool {
        let proxy = Proxy::start(&self.server);
        let number = self.runs.fetch_add(1, SeqCst);
        let client = connect(&self.server.url_at(proxy.port()));
        let run = Run { stage: self, name: format!("n{number}"), proxy, client };
        if self.has_permits() {
            self.server.view().command::<()>(&["SET", &run.name, "1"]);
        }
        run.play(doing, going, moment)
    }
}

impl Run<'_> {
    fn request(&self, op: Op, owner: i64) -> Request {
        let traits = self.stage.traits;
        let name = kinds::name(traits.name, &self.name);
        let numbers = if self.stage.has_permits() && !traits.held { vec![1] } else { Vec::new() };
        let lease = traits.held.then_some(LONG);
        Request { numbers, lease, wait: Some(PATIENCE), ..Request::new(op, traits.name, name, owner) }
    }

    fn take(&self, client: &Client, request: Request) -> Answer {
        let taken = client.run_blocking(request).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        assert!(taken.done, "{}: it is not free", self.name);
        taken
    }

    /// The request with which any client gives back what was taken.
    fn back(&self, taken: &Answer, owner: i64) -> Request {
        let release = self.request(Op::Release, owner);
        match self.stage.traits.name {
            "permit_semaphore" => Request { numbers: taken.items.clone(), ..release },
            "semaphore" => release,
            _ => Request { hold: taken.number as u64, ..release },
        }
    }

    /// Lets another owner take the lock. Returns the request that releases it.
    fn occupy(&self, by: &'static str) -> Request {
        if by == "latch" {
            self.stage.server.view().command::<()>(&["SET", &self.name, "1"]);
            return Request::new(Op::CountDown, by, &*self.name, 1);
        }
        let taken = self.take(&self.stage.other, Request { kind: by, ..self.request(Op::Acquire, 1) });
        Request { kind: by, ..self.back(&taken, 1) }
    }

    fn play(&self, doing: Doing, going: Going, moment: Moment) -> bool {
        let kind = self.stage.traits.name;
        let other = &self.stage.other;
        let mut in_the_way = match doing {
            Doing::Wait => Some(self.occupy(if kind == "read" { "write" } else { kind })),
            Doing::Force => Some(self.occupy(kind)),
            _ => None,
        };
        let own = match doing {
            Doing::Release | Doing::Extend => {
                Some(self.back(&self.take(&self.client, self.request(Op::Acquire, 2)), 2))
            }
            _ => None,
        };
        let request = match (doing, &own) {
            (Doing::Release, Some(own)) => own.clone(),
            (Doing::Extend, Some(own)) => Request { op: Op::Extend, ..own.clone() },
            (Doing::Force, _) => self.request(Op::ForceRelease, 2),
            _ => Request { wait: None, ..self.request(Op::Acquire, 2) },
        };
        if let Moment::Packet(direction, nth) = moment {
            self.proxy.hold_at(direction, "", nth);
        }
        let scripts = self.scripts();
        let mut flight = Flight::begin(&self.client, request, going);
        let came = self.await_moment(&mut flight, doing, moment, &mut in_the_way, scripts);
        let closing = match going {
            Going::DropsTheFuture => None,
            Going::Cancels => {
                if let Flight::Request { ticket, .. } = &flight {
                    self.client.cancel(*ticket);
                }
                None
            }
            Going::DropsTheGuard => {
                let (client, release) = if doing == Doing::Force { (other, &in_the_way) } else { (&self.client, &own) };
                client.submit(client.ticket(), release.clone().expect("there is a guard"), drop);
                None
            }
            Going::Closes => {
                let client = self.client.clone();
                let closing = thread::spawn(move || client.close_blocking(Holds::Release));
                eventually("its beginning", || self.client.is_closed().then_some(()));
                Some(closing)
            }
        };
        let at_once = matches!(flight, Flight::AnsweredAtOnce(_));
        let end = if matches!(flight, Flight::Future { .. }) {
            drop(flight);
            self.flow();
            None
        } else {
            self.flow();
            flight.end()
        };
        closing.into_iter().for_each(|closing| closing.join().expect("it ends"));
        if moment == Moment::NotPolled {
            // A request that was never sent changed nothing.
            own.iter().for_each(|own| drop(self.client.run_blocking(own.clone())));
        }
        self.give_back(doing, own, end);
        if (doing, going) == (Doing::Force, Going::DropsTheFuture) && moment != Moment::NotPolled {
            // The eviction goes on to its end, and evicts any owner that it finds.
            eventually("the eviction", || (!self.stage.server.view().exists(&self.name)).then_some(()));
        }
        in_the_way.into_iter().for_each(|release| drop(other.run_blocking(release)));
        self.nothing_is_left(&format!("{kind}: {doing:?}, {going:?}, {moment:?}"));
        let next = self.take(other, self.request(Op::Acquire, 3));
        if kind != "latch" {
            other.run_blocking(self.back(&next, 3)).expect("held");
        }
        came || at_once
    }

    fn flow(&self) {
        self.proxy.disarm();
        self.proxy.flow();
    }

    /// Waits for the moment; false: it never comes.
    fn await_moment(
        &self,
        flight: &mut Flight,
        doing: Doing,
        moment: Moment,
        in_the_way: &mut Option<Request>,
        scripts: u64,
    ) -> bool {
        if moment == Moment::NotPolled {
            return true;
        }
        flight.poll();
        match moment {
            Moment::NotPolled | Moment::Polled => true,
            Moment::Packet(..) => {
                let mut view = self.stage.server.view();
                let mut rests = Instant::now();
                eventually("the packet", || {
                    // A waiter that listens sends nothing for a while. On a busy machine the packet may still be in the
                    // proxy.
                    let waits = doing == Doing::Wait && self.is_waiting(&mut view, scripts) && self.proxy.is_idle();
                    if !waits {
                        rests = Instant::now();
                    }
                    (self.proxy.struck() > 0 || flight.is_answered() || waits && rests.elapsed() > ms(20)).then_some(())
                });
                self.proxy.struck() > 0
            }
            Moment::Answered => {
                if doing == Doing::Wait {
                    in_the_way.take().into_iter().for_each(|release| drop(self.stage.other.run_blocking(release)));
                }
                eventually("the answer", || flight.is_answered().then_some(()));
                true
            }
        }
    }

    /// How many script calls the server has seen.
    fn scripts(&self) -> u64 {
        let calls = self.stage.server.view().calls();
        calls.get("evalsha").unwrap_or(&0) + calls.get("eval").unwrap_or(&0)
    }

    /// Whether the waiter listens, or has tried where there is no channel to listen to.
    fn is_waiting(&self, view: &mut View, scripts: u64) -> bool {
        match kinds::listens(self.stage.traits.name) {
            true => view.channels("*").iter().any(|channel| self.is_about_it(channel)),
            false => self.scripts() > scripts,
        }
    }

    /// Releases what a caller that stays was granted.
    fn give_back(&self, doing: Doing, own: Option<Request>, end: Option<End>) {
        let kind = self.stage.traits.name;
        let closed = self.client.is_closed();
        match (doing, end) {
            (Doing::Acquire | Doing::Wait, Some(Ok(taken))) if taken.done && kind != "latch" => {
                let by = if closed { &self.stage.other } else { &self.client };
                // A hold ends with its client; permits and latches without holders do not.
                if !(closed && self.stage.traits.held) {
                    by.run_blocking(self.back(&taken, 2)).expect("it is out");
                }
            }
            (Doing::Extend, _) if !closed => own.into_iter().for_each(|own| drop(self.client.run_blocking(own))),
            (Doing::Release, Some(Err(Error::Closed { .. }))) if !self.stage.traits.held => {
                // The operation may have been carried out. Permits with ids can be asked for again.
                own.into_iter()
                    .filter(|_| kind == "permit_semaphore")
                    .for_each(|own| drop(self.stage.other.run_blocking(own)));
            }
            _ => {}
        }
    }

    fn is_about_it(&self, key: &str) -> bool {
        key == self.name || key.contains(&format!("{{{}}}", self.name))
    }

    fn nothing_is_left(&self, what: &str) {
        let mut view = self.stage.server.view();
        let since = Instant::now();
        loop {
            let mut left = [view.keys(&format!("*{}*", self.name)), view.channels("*")].concat();
            left.retain(|key| self.is_about_it(key) && !key.starts_with("redisson_lock_token"));
            let permits = self.stage.has_permits().then(|| view.command::<String>(&["GET", &self.name]));
            if permits.as_deref() == Some("1") {
                left.retain(|key| *key != self.name);
            }
            if left.is_empty() {
                return;
            }
            assert!(since.elapsed() < PATIENCE, "{what}: left are {left:?}, permits {permits:?}");
            thread::sleep(ms(1));
        }
    }
}

/// Plays a cell at every moment. Returns the number of moments.
fn play_cell(stage: &Stage, doing: Doing, going: Going) -> usize {
    let polls = [Moment::NotPolled, Moment::Polled].into_iter().filter(|_| going == Going::DropsTheFuture);
    let mut moments = polls.chain([Moment::Answered]).filter(|moment| stage.play(doing, going, *moment)).count();
    for direction in [Direction::ToServer, Direction::ToClient] {
        let packets = (1..=MOST).take_while(|nth| stage.play(doing, going, Moment::Packet(direction, *nth))).count();
        assert!(
            (1..MOST).contains(&packets),
            "{}: {doing:?}, {going:?}: {packets} packets {direction:?}",
            stage.traits.name
        );
        moments += packets;
    }
    moments
}

#[test]
fn a_caller_that_goes_at_any_moment_leaves_nothing_without_an_owner() {
    let cells = AtomicUsize::new(0);
    let moments = AtomicUsize::new(0);
    all_at_once(ALL.iter().map(|KindRow { traits, .. }| {
        let cells = &cells;
        let moments = &moments;
        let play = move || {
            let stage = Stage::new(traits);
            for (doing, going) in doing(traits).flat_map(|doing| going(traits, doing).map(move |going| (doing, going)))
            {
                moments.fetch_add(play_cell(&stage, doing, going), SeqCst);
                cells.fetch_add(1, SeqCst);
            }
        };
        (traits.name.to_owned(), play)
    }));
    println!("{cells:?} cells, {moments:?} moments");
}
