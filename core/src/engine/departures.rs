//! The releases under way whose callers do not wait for them: of dropped guards and permits. A caller that asks for the
//! same lock once, and does not wait, must not meet the hold that its own program has just given up.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};

use foldhash::fast::RandomState;
use tokio::sync::oneshot;

#[derive(Default)]
pub struct Departures {
    /// The number of all releases under way: mostly there are none.
    count: AtomicUsize,
    by_name: Mutex<ByName>,
}

#[derive(Default)]
struct ByName {
    last: u64,
    /// In the order of their beginnings, which is nearly that of their ends.
    under_way: HashMap<Arc<str>, VecDeque<UnderWay>, RandomState>,
}

struct UnderWay {
    number: u64,
    /// Their drop tells the callers that wait for the end.
    awaited: Vec<oneshot::Sender<()>>,
}

/// A release under way; its drop is the end of it.
pub struct Departure {
    departures: Arc<Departures>,
    name: Arc<str>,
    number: u64,
}

impl Departures {
    pub fn begin(self: &Arc<Self>, name: Arc<str>) -> Departure {
        self.count.fetch_add(1, SeqCst);
        let number = {
            let mut by_name = self.by_name();
            by_name.last += 1;
            let number = by_name.last;
            by_name.under_way.entry(name.clone()).or_default().push_back(UnderWay { number, awaited: Vec::new() });
            number
        };
        Departure { departures: self.clone(), name, number }
    }

    /// Tells whether a release of this name is under way.
    pub fn has(&self, name: &str) -> bool {
        self.count.load(SeqCst) > 0 && self.by_name().under_way.contains_key(name)
    }

    /// Completes once the releases of this name that are under way now have ended: those that begin later do not count.
    pub fn over(&self, name: &str) -> impl Future<Output = ()> + use<> {
        let ends: Vec<_> = {
            let mut by_name = self.by_name();
            let under_way = by_name.under_way.get_mut(name).into_iter().flatten();
            let awaited = |release: &mut UnderWay| {
                let (end, ended) = oneshot::channel();
                release.awaited.push(end);
                ended
            };
            under_way.map(awaited).collect()
        };
        async move {
            for ended in ends {
                let _ = ended.await;
            }
        }
    }

    fn by_name(&self) -> MutexGuard<'_, ByName> {
        self.by_name.lock().expect("nothing panics while it is held")
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        let ended = {
            let mut by_name = self.departures.by_name();
            let Some(under_way) = by_name.under_way.get_mut(&self.name) else { return };
            let at = under_way.iter().position(|release| release.number == self.number);
            let ended = at.and_then(|at| under_way.remove(at));
            if under_way.is_empty() {
                by_name.under_way.remove(&self.name);
            }
            ended
        };
        self.departures.count.fetch_sub(1, SeqCst);
        drop(ended);
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn a_caller_waits_for_the_releases_of_its_lock_that_began_before_it() {
        let departures = Arc::new(Departures::default());
        let [one, two] = [(); 2].map(|()| departures.begin("n".into()));
        let other = departures.begin("m".into());
        let mut over = pin!(departures.over("n"));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(over.as_mut().poll(&mut cx).is_pending());
        let late = departures.begin("n".into());
        drop(two);
        assert!(over.as_mut().poll(&mut cx).is_pending());
        drop(one);
        assert!(over.as_mut().poll(&mut cx).is_ready());
        assert!(departures.has("n") && departures.has("m"));
        drop((late, other));
        assert!(!departures.has("n") && !departures.has("m"));
        assert!(departures.by_name().under_way.is_empty());
    }
}
