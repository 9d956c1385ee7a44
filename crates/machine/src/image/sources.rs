//! The file `sources` of an image: where those who fetch it ask whom to take the next chunk from.
//!
//! Who opens it is a client of the exchange until it closes it, or its connection ends. It writes
//! lines, and reads answers, one a read:
//!
//! | line | says |
//! |---|---|
//! | `have 0-7,12` | these chunks are here, and right |
//! | `serve ADDRESS` | others may take them there |
//! | `lost 12` | whoever was named for chunk 12 does not answer, or refuses |
//! | `lied 12` | what came from there is not chunk 12 |
//! | `listen IP` | I listen to the [`group`](Exchange::group), at my interface with this address |
//! | `hear` | I hear it, so cast to me |
//! | `heard 12` | chunk 12 was cast, and is here, and right |
//! | `missed 12 30` | chunk 12 was cast, and 30 of its parts did not come; 0: it is not right |
//! | `deaf` | cast nothing to me any more |
//!
//! | answer | says |
//! |---|---|
//! | `12 ADDRESS` | take chunk 12 there |
//! | `12 -` | take it here |
//! | nothing | you have all |
//!
//! A read waits until there is an answer. Several may be under way at once. Who waits long says
//! `have` of nothing from time to time: then the exchange looks whose grants are too old. Of what
//! is cast there are no answers: it comes to all who said that they hear.

use super::Plan;
use super::caster::{self, Group, Step};
use super::swarm::{Client, Fault, Grant, Swarm};
use crate::chunk::read_ranges;
use crate::hosts::address_towards;
use muster_base::limits::{CHUNK, IMAGE_CLIENTS_MAX, TEXT_MAX};
use muster_fabric::Address;
use muster_fabric::shell::multicast::PART;
use muster_ninep::call::{Answer, Data, Ticket};
use muster_ninep::error::{Errno, Error, Result, fail};
use muster_ninep::synthetic::{File, Handle, SynCall};
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The exchange of one image.
pub struct Exchange {
    inner: Mutex<Inner>,
    begun: Instant,
    /// What is cast.
    pub(super) plan: Plan,
    pub(super) file: fs::File,
    /// Whether anything is.
    multicasts: Arc<AtomicBool>,
    /// The caster may have something to do.
    stirred: Condvar,
}

struct Inner {
    chunks: u32,
    swarm: Swarm,
    clients: BTreeMap<Client, Asking>,
    /// Where is cast, with which key, when somebody has asked.
    group: Option<Group>,
    /// There is a caster.
    is_casting: bool,
    /// Somebody has just begun to listen.
    is_asked: bool,
}

/// A client.
#[derive(Default)]
struct Asking {
    /// Where it serves what it has.
    address: String,
    /// Its reads that wait, the oldest first.
    reads: VecDeque<Ticket<Data>>,
    /// It listens, and has not said that it hears.
    listens: bool,
}

impl Exchange {
    /// That of the image of a file, which may be cast as long as `multicasts` says so.
    pub fn new(file: fs::File, plan: Plan, multicasts: Arc<AtomicBool>) -> Arc<Exchange> {
        let chunks = plan.count();
        let (swarm, clients) = (Swarm::new(chunks), BTreeMap::new());
        let inner =
            Inner { chunks, swarm, clients, group: None, is_casting: false, is_asked: false };
        let (inner, begun, stirred) = (Mutex::new(inner), Instant::now(), Condvar::new());
        Arc::new(Exchange { inner, begun, plan, file, multicasts, stirred })
    }

    /// The group, its port and its key, a line; nothing where nothing is cast.
    pub fn group(&self) -> String {
        let mut inner = self.lock();
        if !self.multicasts.load(Ordering::Relaxed) {
            return String::new();
        }
        inner.group = inner.group.take().or_else(Group::new);
        inner.group.as_ref().map_or(String::new(), |group| format!("{group}\n"))
    }

    /// What the caster has to do, whose next probe is due then. Waits for that.
    pub(super) fn step(&self, probe: Instant, limit: Duration) -> Step {
        let (mut inner, until) = (self.lock(), Instant::now() + limit);
        loop {
            if !self.multicasts.load(Ordering::Relaxed) {
                return Step::Mute;
            }
            inner.answer(self.now());
            if let Some((chunk, rate)) = inner.swarm.cast() {
                return Step::Cast(chunk, rate);
            }
            if std::mem::take(&mut inner.is_asked) {
                return Step::Probe;
            }
            let wants_probe = inner.wants_probe();
            let now = Instant::now();
            let wake = if wants_probe { probe.min(until) } else { until };
            if now >= wake {
                return if wants_probe { Step::Probe } else { inner.rest() };
            }
            let waited = self.stirred.wait_timeout(inner, wake - now);
            inner = waited.expect("no holder panics").0;
        }
    }

    /// All of a chunk has left.
    pub(super) fn sent(&self, chunk: u32) {
        let (now, mut inner) = (self.now(), self.lock());
        inner.swarm.sent(chunk, now);
        inner.answer(now);
    }

    /// Nothing is cast any more; with another key perhaps.
    pub(super) fn mute(&self) {
        let (now, mut inner) = (self.now(), self.lock());
        (inner.group, inner.is_casting) = (None, false);
        inner.swarm.mute(now);
        inner.answer(now);
    }

    /// A client listens at that address. The caster begins with the first.
    fn listens(self: &Arc<Exchange>, inner: &mut Inner, client: Client, at: Ipv4Addr) {
        let (Some(group), Some(asking)) = (&inner.group, inner.clients.get_mut(&client)) else {
            return;
        };
        if !inner.is_casting {
            let Ok(IpAddr::V4(interface)) = address_towards(at.into()) else { return };
            inner.is_casting = caster::begin(self, group, interface);
        }
        (asking.listens, inner.is_asked) = (inner.is_casting, true);
    }

    /// How many clients there are, and how many of them serve others.
    pub fn count(&self) -> (usize, usize) {
        self.lock().swarm.count()
    }

    /// The file.
    pub fn file(self: &Arc<Exchange>) -> File {
        let exchange = self.clone();
        File::new(0o666, move |_| {
            let mut inner = exchange.lock();
            if inner.clients.len() >= IMAGE_CLIENTS_MAX {
                let text = format!("{IMAGE_CLIENTS_MAX} clients fetch this image already");
                return fail(Errno::AGAIN, text);
            }
            let client = inner.swarm.enter();
            inner.clients.insert(client, Asking::default());
            drop(inner);
            Ok(Session { exchange: exchange.clone(), client })
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no holder panics")
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }
}

impl Inner {
    /// Whether somebody does not hear yet, or may not know that a chunk has passed by.
    fn wants_probe(&self) -> bool {
        let lacks =
            |(client, asking): (&Client, &Asking)| asking.listens && !self.swarm.is_whole(*client);
        self.swarm.is_untold() || self.clients.iter().any(lacks)
    }

    /// The caster ends where nobody has listened for long, and its key with it: the next one counts
    /// its datagrams from the beginning, and no number may be sealed twice with one key.
    fn rest(&mut self) -> Step {
        self.is_casting = self.swarm.listeners() > 0;
        if self.is_casting {
            return Step::Wait;
        }
        self.group = None;
        Step::End
    }

    /// Answers reads for which there is something.
    fn answer(&mut self, now: Duration) {
        self.swarm.expire(now);
        loop {
            let granted = self.swarm.granted();
            if granted.is_empty() {
                return;
            }
            for grant in granted {
                if !self.tell(grant) {
                    // Who asked waits no longer.
                    self.swarm.failed(grant.to, grant.chunk, Fault::Void, now);
                }
            }
        }
    }

    fn tell(&mut self, grant: Grant) -> bool {
        let address = |helper| self.clients.get(&helper).map(|client| client.address.clone());
        let Some(from) = grant.from.map_or(Some("-".to_owned()), address) else { return false };
        let Some(client) = self.clients.get_mut(&grant.to) else { return false };
        while let Some(read) = client.reads.pop_front() {
            if read.claim() {
                read.answer(Ok(format!("{} {from}\n", grant.chunk).into_bytes().into()));
                return true;
            }
        }
        false
    }

    /// Takes back asks of reads that were flushed.
    fn tidy(&mut self, client: Client) {
        let Some(asking) = self.clients.get_mut(&client) else { return };
        let before = asking.reads.len();
        asking.reads.retain(Ticket::is_live);
        for _ in asking.reads.len()..before {
            self.swarm.withdraw(client);
        }
    }

    fn obey(&mut self, client: Client, line: &str, now: Duration) -> Result<()> {
        let bad = || Error::new(Errno::INVAL, format!("'{line}' is no word to an exchange"));
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let chunk = || rest.parse().ok().filter(|chunk| *chunk < self.chunks).ok_or_else(bad);
        match word {
            "have" => {
                for chunk in read_ranges(rest, self.chunks).ok_or_else(bad)? {
                    self.swarm.has(client, chunk, now);
                }
            }
            "serve" => {
                // Nothing is looked up here: all who fetch the image would wait for that.
                let address: Address = rest.parse().map_err(|error| {
                    Error::new(Errno::INVAL, format!("serve says no place: {error}"))
                })?;
                let address = address.to_string();
                if let Some(asking) = self.clients.get_mut(&client) {
                    asking.address = address;
                }
                self.swarm.serves(client, now);
            }
            "lost" => self.swarm.failed(client, chunk()?, Fault::Lost, now),
            "lied" => self.swarm.failed(client, chunk()?, Fault::Lied, now),
            "heard" => self.swarm.heard(client, chunk()?, now),
            "missed" => {
                let words = rest.split_once(' ').ok_or_else(bad)?;
                let chunk = words.0.parse().ok().filter(|chunk| *chunk < self.chunks);
                let parts: u16 = words.1.parse().map_err(|_| bad())?;
                let lost = f64::from(parts) / (CHUNK / PART) as f64;
                self.swarm.missed(client, chunk.ok_or_else(bad)?, lost.min(1.0), now);
            }
            // Where nothing is cast any more nobody would be given what was to be.
            "hear" if self.is_casting => {
                if let Some(asking) = self.clients.get_mut(&client) {
                    asking.listens = false;
                }
                self.swarm.hears(client, now);
            }
            "hear" => {}
            "deaf" => {
                if let Some(asking) = self.clients.get_mut(&client) {
                    asking.listens = false;
                }
                self.swarm.deaf(client, now);
            }
            _ => return Err(bad()),
        }
        if self.swarm.is_whole(client)
            && let Some(asking) = self.clients.get_mut(&client)
        {
            asking.reads.drain(..).for_each(|read| read.answer(Ok(Vec::new().into())));
        }
        Ok(())
    }
}

/// The file, open: a client.
struct Session {
    exchange: Arc<Exchange>,
    client: Client,
}

impl Handle for Session {
    fn read(&self, call: &mut SynCall<'_>, _: u64, _: usize) -> Answer<Data> {
        let now = self.exchange.now();
        let mut inner = self.exchange.lock();
        if inner.swarm.is_whole(self.client) {
            return Ok(Vec::new().into());
        }
        inner.tidy(self.client);
        if !inner.swarm.ask(self.client, now) {
            inner.answer(now);
            return fail(Errno::AGAIN, "you ask for too many chunks at once");
        }
        call.park(|ticket| {
            if let Some(asking) = inner.clients.get_mut(&self.client) {
                asking.reads.push_back(ticket);
            }
            inner.answer(now);
        })
    }

    fn write(&self, _: &mut SynCall<'_>, _: u64, data: &[u8]) -> Answer<u32> {
        let lines = std::str::from_utf8(data).ok().filter(|text| text.ends_with('\n'));
        let Some(lines) = lines.filter(|text| text.len() <= TEXT_MAX) else {
            return fail(Errno::INVAL, "whole lines, please");
        };
        let now = self.exchange.now();
        let mut inner = self.exchange.lock();
        let mut done = Ok(());
        for line in lines.lines() {
            match line.strip_prefix("listen ").map(str::parse) {
                Some(Ok(at)) => self.exchange.listens(&mut inner, self.client, at),
                _ => done = done.and(inner.obey(self.client, line, now)),
            }
        }
        inner.answer(now);
        self.exchange.stirred.notify_one();
        done?;
        Ok(data.len() as u32)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let now = self.exchange.now();
        let mut inner = self.exchange.lock();
        inner.clients.remove(&self.client);
        inner.swarm.leave(self.client, now);
        inner.answer(now);
        self.exchange.stirred.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All who fetched the image stood still while the name that one of them had said was looked
    /// up, for as long as the resolver took.
    #[test]
    fn who_serves_says_an_address_and_no_name_that_would_have_to_be_looked_up() {
        let clients = BTreeMap::from([(1, Asking::default())]);
        let (group, is_casting, is_asked) = (None, false, false);
        let swarm = Swarm::new(1);
        let mut inner = Inner { chunks: 1, swarm, clients, group, is_casting, is_asked };
        let mut serve = |text: &str| inner.obey(1, &format!("serve {text}"), Duration::ZERO);
        assert_eq!(serve("tls!10.0.0.1!564"), Ok(()));
        assert_eq!(serve("unix!/run/part/sock"), Ok(()));
        let refused = serve("name.invalid:564").expect_err("nobody could connect to it");
        assert!(refused.text.starts_with("serve says no place: "), "{refused}");
    }
}
