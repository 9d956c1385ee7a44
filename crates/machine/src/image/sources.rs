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
//!
//! | answer | says |
//! |---|---|
//! | `12 ADDRESS` | take chunk 12 there |
//! | `12 -` | take it here |
//! | nothing | you have all |
//!
//! A read waits until there is an answer. Several may be under way at once. Who waits long says
//! `have` of nothing from time to time: then the exchange looks whose grants are too old.

use super::swarm::{Client, Fault, Grant, Swarm};
use crate::chunk::read_ranges;
use crate::line::read_address;
use muster_base::limits::{IMAGE_CLIENTS_MAX, TEXT_MAX};
use muster_ninep::call::{Answer, Data, Ticket};
use muster_ninep::error::{Errno, Error, Result, fail};
use muster_ninep::synthetic::{File, Handle, SynCall};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The exchange of one image.
pub struct Exchange {
    inner: Mutex<Inner>,
    begun: Instant,
}

struct Inner {
    chunks: u32,
    swarm: Swarm,
    clients: BTreeMap<Client, Asking>,
}

/// A client.
#[derive(Default)]
struct Asking {
    /// Where it serves what it has.
    address: String,
    /// Its reads that wait, the oldest first.
    reads: VecDeque<Ticket<Data>>,
}

impl Exchange {
    /// That of an image of so many chunks that differ.
    pub fn new(chunks: u32) -> Arc<Exchange> {
        let inner = Inner { chunks, swarm: Swarm::new(chunks), clients: BTreeMap::new() };
        Arc::new(Exchange { inner: Mutex::new(inner), begun: Instant::now() })
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
        let (word, rest) = line.split_once(' ').ok_or_else(bad)?;
        let chunk = || rest.parse().ok().filter(|chunk| *chunk < self.chunks).ok_or_else(bad);
        match word {
            "have" => {
                for chunk in read_ranges(rest, self.chunks).ok_or_else(bad)? {
                    self.swarm.has(client, chunk, now);
                }
                if self.swarm.is_whole(client)
                    && let Some(asking) = self.clients.get_mut(&client)
                {
                    asking.reads.drain(..).for_each(|read| read.answer(Ok(Vec::new().into())));
                }
            }
            "serve" => {
                let address = read_address(rest)?.to_string();
                if let Some(asking) = self.clients.get_mut(&client) {
                    asking.address = address;
                }
                self.swarm.serves(client, now);
            }
            "lost" => self.swarm.failed(client, chunk()?, Fault::Lost, now),
            "lied" => self.swarm.failed(client, chunk()?, Fault::Lied, now),
            _ => return Err(bad()),
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
            done = done.and(inner.obey(self.client, line, now));
        }
        inner.answer(now);
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
    }
}
