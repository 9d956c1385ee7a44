//! One thread that does things later.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Stands for a wait until a moment that no clock can show.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// Which of the things to be done.
pub type Key = (Instant, u64);

type Deed = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Agenda {
    deeds: BTreeMap<Key, Deed>,
    last: u64,
    over: bool,
}

/// The thread, seen by others. Dropping it forgets what is still to be done.
pub struct Timer {
    agenda: Arc<(Mutex<Agenda>, Condvar)>,
}

impl Timer {
    /// Starts it.
    ///
    /// # Errors
    /// When no thread is left.
    pub fn start() -> std::io::Result<Timer> {
        let agenda = Arc::new((Mutex::new(Agenda::default()), Condvar::new()));
        let shared = agenda.clone();
        std::thread::Builder::new().name("timer".into()).spawn(move || run(&shared))?;
        Ok(Timer { agenda })
    }

    /// Does something after a while.
    pub fn after(&self, wait: Duration, deed: impl FnOnce() + Send + 'static) -> Key {
        let (agenda, changed) = &*self.agenda;
        let mut agenda = agenda.lock().expect("no holder panics");
        agenda.last += 1;
        let now = Instant::now();
        let key = (now.checked_add(wait).unwrap_or(now + LONGEST), agenda.last);
        agenda.deeds.insert(key, Box::new(deed));
        changed.notify_one();
        key
    }

    /// Forgets what was to be done, if it is not done already.
    pub fn cancel(&self, key: Key) {
        let deed = self.agenda.0.lock().expect("no holder panics").deeds.remove(&key);
        // What it holds may come back here when it goes.
        drop(deed);
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let (agenda, changed) = &*self.agenda;
        let mut agenda = agenda.lock().expect("no holder panics");
        agenda.over = true;
        agenda.deeds.clear();
        changed.notify_one();
    }
}

fn run((agenda, changed): &(Mutex<Agenda>, Condvar)) {
    let mut now = agenda.lock().expect("no holder panics");
    while !now.over {
        let Some((&(when, _), _)) = now.deeds.first_key_value() else {
            now = changed.wait(now).expect("no holder panics");
            continue;
        };
        let wait = when.saturating_duration_since(Instant::now());
        if wait.is_zero() {
            let (_, deed) = now.deeds.pop_first().expect("there is a first");
            drop(now);
            deed();
            now = agenda.lock().expect("no holder panics");
        } else {
            now = changed.wait_timeout(now, wait).expect("no holder panics").0;
        }
    }
}
