//! What goes between nodes, seen from outside: a proxy before each node's socket counts the
//! bytes that each process sends, holds them to a rate as a network card would, and can break.

#![allow(dead_code, reason = "each user uses its part")]

use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Bytes that are moved at once.
const PIECE: usize = 64 * 1024;

struct Account {
    sent: u64,
    /// When its card has sent all that it was given.
    free: Instant,
}

/// Called with the bytes that one connection has brought; `false` breaks it.
type Watcher = Box<dyn Fn(u64) -> bool + Send + Sync>;

/// All proxies of a cluster.
#[derive(Clone, Default)]
pub struct Wire {
    /// Bytes a second that each process may send; none for no limit.
    rate: Option<f64>,
    accounts: Arc<Mutex<HashMap<i32, Account>>>,
    watchers: Arc<Mutex<HashMap<PathBuf, Watcher>>>,
}

impl Wire {
    pub fn new(rate: Option<f64>) -> Wire {
        Wire { rate, ..Wire::default() }
    }

    /// Puts a proxy at `at` before the socket `to`, until the process ends.
    pub fn proxy(&self, at: &Path, to: &Path) {
        let listener = UnixListener::bind(at).expect("a socket");
        let (wire, at, to) = (self.clone(), at.to_owned(), to.to_owned());
        std::thread::spawn(move || {
            for from in listener.incoming().flatten() {
                let Ok(server) = UnixStream::connect(&to) else { continue };
                let (wire, at) = (wire.clone(), at.clone());
                std::thread::spawn(move || wire.connection(&at, from, server));
            }
        });
    }

    /// Watches what comes to the proxy at `at`.
    pub fn watch(&self, at: &Path, watcher: impl Fn(u64) -> bool + Send + Sync + 'static) {
        self.watchers.lock().unwrap().insert(at.to_owned(), Box::new(watcher));
    }

    /// Bytes that a process has sent to nodes since the last [`Wire::reset`].
    pub fn sent(&self, process: i32) -> u64 {
        self.accounts.lock().unwrap().get(&process).map_or(0, |account| account.sent)
    }

    /// Begins to count anew.
    pub fn reset(&self) {
        self.accounts.lock().unwrap().clear();
    }

    fn connection(&self, at: &Path, mut from: UnixStream, mut server: UnixStream) {
        let sender = rustix::net::sockopt::socket_peercred(&from).expect("a peer").pid;
        let sender = sender.as_raw_nonzero().get();
        let (mut answers, mut back) = (server.try_clone().unwrap(), from.try_clone().unwrap());
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut answers, &mut back);
            let _ = back.shutdown(std::net::Shutdown::Both);
        });
        let mut buffer = vec![0; PIECE];
        let mut total = 0;
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            total += count as u64;
            self.send(sender, count);
            let goes_on = |watcher: &Watcher| watcher(total);
            if !self.watchers.lock().unwrap().get(at).is_none_or(goes_on) {
                break;
            }
            if server.write_all(&buffer[..count]).is_err() {
                break;
            }
        }
        let _ = server.shutdown(std::net::Shutdown::Both);
        let _ = from.shutdown(std::net::Shutdown::Both);
    }

    /// Counts bytes, and waits until the sender's card has sent them.
    fn send(&self, sender: i32, count: usize) {
        let now = Instant::now();
        let free = {
            let mut accounts = self.accounts.lock().unwrap();
            let account = accounts.entry(sender).or_insert(Account { sent: 0, free: now });
            account.sent += count as u64;
            let time = self.rate.map_or(0.0, |rate| count as f64 / rate);
            account.free = account.free.max(now) + Duration::from_secs_f64(time);
            account.free
        };
        std::thread::sleep(free.saturating_duration_since(now));
    }
}
