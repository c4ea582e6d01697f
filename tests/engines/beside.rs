//! Programs on ZooKeeper, ours and others, in ordered pairs on one node: the one has the lock, the other is kept out, waits,
//! and is woken.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use redlatch_tests::agent::Pending;
use redlatch_tests::{Agent, Nodes, Zookeeper, all_at_once, eventually, kinds, secs};
use serde_json::{Value, json};

/// A program that locks on ZooKeeper.
struct Program {
    name: &'static str,
    launcher: &'static str,
    /// The options in its URL. Only our own programs have any.
    options: &'static str,
    kinds: &'static [&'static str],
    /// The format in which it names its nodes.
    names: Format,
    /// The formats of the nodes for which it waits.
    sees: &'static [Format],
}

impl Program {
    const fn is_ours(&self) -> bool {
        !self.options.is_empty()
    }

    /// Whether each of the two waits for the other, by these kinds, and is tested here.
    fn meets(&self, other: &Program, (first, second): (&str, &str)) -> bool {
        let both_ours = self.is_ours() && other.is_ours();
        // Between ours, `zookeeper/interop.rs` has the formats, and `zookeeper/order.rs` the fair beside the plain.
        let elsewhere = both_ours && (self.names != other.names || (first == "fair") != (second == "fair"));
        let have = self.kinds.contains(&first) && other.kinds.contains(&second);
        have && self.sees.contains(&other.names) && other.sees.contains(&self.names) && !elsewhere
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Curator,
    Kazoo,
}

/// The launcher that `make agents` built.
macro_rules! launcher {
    ($name:literal) => {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../target/agents/", $name)
    };
}

/// A row is tested against each other one that it meets, in both directions, and against itself in another process.
const PROGRAMS: [&Program; 9] =
    [&CURATOR, &KAZOO, &KAZOO_BESIDE_CURATOR, &RUST, &PYTHON, &ASYNCIO, &JAVA, &RUST_AS_KAZOO, &PYTHON_AS_KAZOO];

const CURATOR: Program = Program {
    name: "curator",
    launcher: launcher!("curator"),
    options: "",
    kinds: &["plain", "read", "write", "permit", "leader"],
    names: Format::Curator,
    sees: &[Format::Curator],
};

const KAZOO: Program = Program {
    name: "kazoo",
    launcher: launcher!("kazoo"),
    options: "",
    kinds: &["plain", "read", "write", "permit", "leader"],
    names: Format::Kazoo,
    sees: &[Format::Kazoo],
};

/// A kazoo that is told to wait for the nodes of Curator's mutex too.
const KAZOO_BESIDE_CURATOR: Program = Program {
    name: "kazoo-beside-curator",
    launcher: launcher!("kazoo-beside-curator"),
    kinds: &["plain"],
    sees: &[Format::Kazoo, Format::Curator],
    ..KAZOO
};

/// Ours wait for the nodes of every client.
const RUST: Program = Program {
    name: "rust",
    launcher: env!("CARGO_BIN_EXE_redlatch-agent"),
    options: "?node_format=curator&watchdog=3",
    kinds: &["plain", "fair", "read", "write", "permit", "leader"],
    names: Format::Curator,
    sees: &[Format::Kazoo, Format::Curator],
};

const PYTHON: Program = Program { name: "python", launcher: launcher!("python"), ..RUST };

const ASYNCIO: Program = Program { name: "asyncio", launcher: launcher!("asyncio"), ..RUST };

/// Redisson's interface has no permit that ends with its owner's session.
const JAVA: Program =
    Program { name: "java", launcher: launcher!("java"), kinds: &["plain", "fair", "read", "write", "leader"], ..RUST };

/// Our permits are Curator's in this format too: kazoo's have no order.
const RUST_AS_KAZOO: Program = Program {
    name: "rust-as-kazoo",
    options: "?node_format=kazoo&watchdog=3",
    kinds: &["plain", "fair", "read", "write", "leader"],
    names: Format::Kazoo,
    ..RUST
};

const PYTHON_AS_KAZOO: Program = Program { name: "python-as-kazoo", launcher: launcher!("python"), ..RUST_AS_KAZOO };

/// The kinds of a holder and of another client that it keeps out.
const EXCLUDING: [(&str, &str); 9] = [
    ("plain", "plain"),
    ("fair", "fair"),
    ("fair", "plain"),
    ("plain", "fair"),
    ("write", "write"),
    ("write", "read"),
    ("read", "write"),
    ("permit", "permit"),
    ("leader", "leader"),
];

/// How long a session of an agent lives without a sign of life.
const SESSION: Duration = secs(3);
/// The time in which a try hears that a lock is taken, beside many others.
const WHILE: Duration = secs(1);
/// The cases that run side by side.
const AT_ONCE: usize = 60;
/// Longer than any step that waits for no session's end.
const SOON: Duration = secs(10);

static SERVER: LazyLock<Zookeeper> = LazyLock::new(Zookeeper::start);

/// Two agents of each program: a program also meets itself in another process.
static AGENTS: LazyLock<Vec<[Agent; 2]>> = LazyLock::new(|| {
    let two = |program: &Program| [agent(program), agent(program)];
    std::thread::scope(|scope| {
        let starting = PROGRAMS.map(|program| scope.spawn(move || two(program)));
        starting.into_iter().map(|starts| starts.join().expect("an agent starts")).collect()
    })
});

fn agent(program: &Program) -> Agent {
    let url = format!("{}{}", SERVER.url(), program.options);
    Agent::start(program.name, program.launcher, &url).unwrap_or_else(|missing| panic!("{missing}"))
}

/// One side of a case: an agent of a program, and the lock in question.
struct Party<'a> {
    agent: &'a Agent,
    program: &'static Program,
    kind: &'static str,
    path: &'a str,
}

impl Party<'_> {
    fn ask(&self, what: &str, wait: Duration) -> Pending {
        let getter = kinds::ALL.iter().find(|row| row.name == self.kind).map(|row| row.getter);
        // One permit is there: it excludes as a lock does.
        let fields = json!({
            "kind": self.kind, "getter": getter, "name": self.path, "owner": 7, "permits": 1,
            "wait": wait.as_millis() as u64,
        });
        self.agent.ask(what, fields)
    }

    /// Sets the number of permits. Ours read it at the server; each program of another kind brings its own.
    fn prepares(&self) {
        if self.kind == "permit" && self.program.is_ours() {
            let set = self.agent.ask("set", json!({ "kind": "permit_semaphore", "name": self.path, "n": 1 }));
            assert_eq!(answer(set), Value::Bool(true));
        }
    }

    /// Tries to acquire, and waits no longer than this.
    fn tries(&self, wait: Duration) -> bool {
        got(self.ask("try_lock", wait))
    }

    /// Begins to wait without limit, and returns once the server shows it.
    fn waits(&self, nodes: &mut Nodes) -> Pending {
        let pending = self.ask("lock", Duration::ZERO);
        eventually("a waiter", || (self.standing(nodes) >= 2).then_some(()));
        pending
    }

    fn releases(&self) {
        answer(self.ask("unlock", Duration::ZERO));
    }

    /// How many clients have the lock or wait for it.
    fn standing(&self, nodes: &mut Nodes) -> usize {
        let places: &[String] = match (self.program.names, self.kind) {
            // A waiter for a permit already has the node of its permit.
            (Format::Curator, "permit") => &[format!("{}/leases", self.path)],
            // A waiter for a permit has the lock beside the semaphore.
            (Format::Kazoo, "permit") => &[self.path.to_owned(), format!("{}-__lock__", self.path)],
            _ => &[self.path.to_owned()],
        };
        places.iter().map(|place| nodes.children(place).len()).sum()
    }
}

fn answer(pending: Pending) -> Value {
    pending.within(SOON).unwrap_or_else(|error| panic!("{error:?}"))
}

fn got(pending: Pending) -> bool {
    let answer = answer(pending);
    answer.as_bool().unwrap_or_else(|| panic!("{answer} is neither yes nor no"))
}

/// Runs `check` for all ordered pairs of programs that meet, and all these pairs of kinds, each on a node of its own.
fn every_pair(case: &str, kinds: &[(&'static str, &'static str)], check: impl Fn(&Party, &Party) + Sync) {
    let check = &check;
    let each = PROGRAMS.iter().zip(&*AGENTS);
    let pairs = each.clone().flat_map(|one| each.clone().map(move |two| (one, two)));
    let cases = pairs.flat_map(|pair| kinds.iter().map(move |kinds| (pair, *kinds)));
    let meeting = cases.filter(|(((one, _), (two, _)), kinds)| one.meets(two, *kinds));
    let jobs: Vec<_> = meeting
        .map(|(((one, holder), (two, waiter)), (first, second))| {
            let what = format!("{case}: {} {first} → {} {second}", one.name, two.name);
            let path = format!("/{case}/{}-{first}-{}-{second}", one.name, two.name);
            let case = move || {
                let holder = Party { agent: &holder[0], program: one, kind: first, path: &path };
                let waiter = Party { agent: &waiter[1], program: two, kind: second, path: &path };
                holder.prepares();
                waiter.prepares();
                check(&holder, &waiter);
            };
            (what, case)
        })
        .collect();
    let mut jobs = jobs.into_iter().peekable();
    while jobs.peek().is_some() {
        all_at_once(jobs.by_ref().take(AT_ONCE));
    }
}

#[test]
fn a_holder_keeps_the_other_out_and_wakes_it() {
    every_pair("wakes", &EXCLUDING, |holder, waiter| {
        let mut nodes = SERVER.nodes();
        assert!(holder.tries(Duration::ZERO) || holder.tries(SOON), "it is free");
        assert!(!waiter.tries(WHILE), "it is held");
        let waiting = waiter.waits(&mut nodes);
        assert!(waiting.now().is_none(), "it is held");
        holder.releases();
        assert!(got(waiting), "it was not woken");
        assert!(!holder.tries(WHILE), "it is held");
        waiter.releases();
        assert!(holder.tries(SOON), "it is free");
        holder.releases();
        eventually("a lock without a node", || (holder.standing(&mut nodes) == 0).then_some(()));
    });
}

#[test]
fn readers_share() {
    every_pair("shares", &[("read", "read")], |one, other| {
        assert!(one.tries(SOON) && other.tries(SOON), "readers share it");
        one.releases();
        other.releases();
    });
}

#[test]
fn the_session_of_a_killed_holder_ends_and_the_waiter_has_the_lock() {
    let killed: Vec<_> = PROGRAMS.iter().map(|program| agent(program)).collect();
    all_at_once(PROGRAMS.iter().zip(&killed).zip(&*AGENTS).flat_map(|((program, killed), agents)| {
        let kinds: Vec<_> =
            EXCLUDING.into_iter().filter(|(one, two)| one == two && program.kinds.contains(one)).collect();
        let case = move || {
            let mut nodes = SERVER.nodes();
            let paths: Vec<_> = kinds.iter().map(|(kind, _)| format!("/killed/{}-{kind}", program.name)).collect();
            let party = |agent, at: usize| {
                let (kind, path) = (kinds[at].0, paths[at].as_str());
                Party { agent, program, kind, path }
            };
            let waiting: Vec<_> = (0..kinds.len())
                .map(|at| {
                    party(killed, at).prepares();
                    assert!(party(killed, at).tries(SOON), "it is free");
                    party(&agents[1], at).waits(&mut nodes)
                })
                .collect();
            killed.kill();
            let begun = Instant::now();
            for (at, waiting) in waiting.into_iter().enumerate() {
                assert!(got(waiting), "it was not woken");
                let after = begun.elapsed();
                println!("{} {}: the waiter has it {after:?} after kill -9", program.name, kinds[at].0);
                assert!(after < SESSION + secs(1), "{after:?}");
                party(&agents[1], at).releases();
            }
        };
        [(program.name.to_owned(), case)]
    }));
}

/// The trap: Curator sorts nodes of other formats behind its own.
#[test]
fn curator_goes_past_a_holder_of_kazoo_and_kazoo_waits_for_curator_only_if_it_is_told_to() {
    let [curator, kazoo, told] = [&CURATOR, &KAZOO, &KAZOO_BESIDE_CURATOR].map(agent);
    let party = |agent, program, path| Party { agent, program, kind: "plain", path };
    for (kazoo, path) in [(&kazoo, "/trap/one"), (&told, "/trap/other")] {
        let [holder, goes_past] = [party(kazoo, &KAZOO, path), party(&curator, &CURATOR, path)];
        assert!(holder.tries(SOON), "it is free");
        assert!(goes_past.tries(SOON), "Curator sees kazoo's node");
        goes_past.releases();
        holder.releases();
    }
    let [first, last] = [party(&curator, &CURATOR, "/trap/third"), party(&kazoo, &KAZOO, "/trap/third")];
    assert!(first.tries(SOON), "it is free");
    assert!(last.tries(SOON), "kazoo sees Curator's node");
    last.releases();
    let waiter = Party { agent: &told, ..last };
    assert!(!waiter.tries(WHILE), "it is held");
    let mut nodes = SERVER.nodes();
    let waiting = waiter.waits(&mut nodes);
    first.releases();
    assert!(got(waiting), "it was not woken");
    waiter.releases();
}
