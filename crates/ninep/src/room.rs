//! What one server gives to all its connections together: places, and memory for messages that
//! are larger than a connection's first buffer.
//!
//! Whoever needs more memory asks for all that a message may take before it takes any of it, so
//! nobody waits for memory while holding some. Whoever is refused is not read from; the requests
//! that fit its first buffer need nothing from here.

use muster_base::limits::{CONNECTIONS_MAX, RECEIVE_MAX};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How much one server gives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Connections.
    pub(crate) places: usize,
    /// Bytes of all buffers beyond the first ones.
    pub(crate) memory: usize,
    /// How long a connection may take to attach and, when memory is short, to send the message
    /// for which it has some.
    pub(crate) patience: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        // As in a client: a machine that is slow for longer than this is down.
        let patience = Duration::from_secs(30);
        Limits { places: CONNECTIONS_MAX, memory: RECEIVE_MAX, patience }
    }
}

/// What is given out.
#[derive(Debug)]
pub(crate) struct Room {
    limits: Limits,
    memory: AtomicUsize,
    /// Connections that wait for memory.
    wanting: AtomicUsize,
    places: Mutex<Places>,
}

#[derive(Debug, Default)]
struct Places {
    all: usize,
    /// Of TCP peers, by user.
    strangers: HashMap<u32, usize>,
}

impl Room {
    /// Nothing is given out yet.
    pub(crate) fn new(limits: Limits) -> Arc<Room> {
        let (memory, wanting, places) = Default::default();
        Arc::new(Room { limits, memory, wanting, places })
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// A place for a connection; `stranger` is the user of a TCP peer, who gets at most half of
    /// all places: whoever may connect cannot keep everybody else out.
    pub(crate) fn place(self: &Arc<Room>, stranger: Option<u32>) -> Option<Place> {
        let mut places = self.places.lock().expect("no holder panics");
        if places.all >= self.limits.places {
            return None;
        }
        if let Some(uid) = stranger {
            let his = places.strangers.entry(uid).or_default();
            if *his >= self.limits.places / 2 {
                return None;
            }
            *his += 1;
        }
        places.all += 1;
        Some(Place { room: self.clone(), stranger })
    }

    /// Whether somebody waits for memory.
    pub(crate) fn is_short(&self) -> bool {
        self.wanting.load(Ordering::Relaxed) > 0
    }

    fn take(&self, bytes: usize) -> bool {
        let more =
            |given: usize| given.checked_add(bytes).filter(|given| *given <= self.limits.memory);
        self.memory.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }
}

/// A connection's place.
#[derive(Debug)]
pub(crate) struct Place {
    room: Arc<Room>,
    stranger: Option<u32>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut places = self.room.places.lock().expect("no holder panics");
        places.all -= 1;
        if let Some(uid) = self.stranger
            && let Some(his) = places.strangers.get_mut(&uid)
        {
            *his -= 1;
            if *his == 0 {
                places.strangers.remove(&uid);
            }
        }
    }
}

/// What one connection has of the memory.
#[derive(Debug)]
pub(crate) struct Share {
    room: Arc<Room>,
    bytes: usize,
    /// It was refused, and has not got anything since.
    wanting: bool,
}

impl Share {
    /// Nothing yet.
    pub(crate) fn of(room: &Arc<Room>) -> Share {
        Share { room: room.clone(), bytes: 0, wanting: false }
    }

    /// Bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// It was refused memory and waits.
    pub(crate) fn is_wanting(&self) -> bool {
        self.wanting
    }

    /// Makes it at least `bytes`; false if that has to wait. Only a peer that has agreed on
    /// larger messages meanwhile has some and needs more.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        if bytes <= self.bytes {
            return true;
        }
        // Those who wait come first; who has had some and given it back waits as they do.
        let behind = self.bytes == 0 && !self.wanting && self.room.is_short();
        let granted = !behind && self.room.take(bytes - self.bytes);
        if granted {
            self.bytes = bytes;
        }
        self.want(!granted);
        granted
    }

    /// Gives all back.
    pub(crate) fn release(&mut self) {
        self.room.memory.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = 0;
        self.want(false);
    }

    fn want(&mut self, wanting: bool) {
        match (self.wanting, wanting) {
            (false, true) => self.room.wanting.fetch_add(1, Ordering::Relaxed),
            (true, false) => self.room.wanting.fetch_sub(1, Ordering::Relaxed),
            _ => 0,
        };
        self.wanting = wanting;
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(places: usize, memory: usize) -> Arc<Room> {
        Room::new(Limits { places, memory, ..Limits::default() })
    }

    #[test]
    fn one_user_of_tcp_gets_half_of_the_places() {
        let room = room(10, 0);
        let mut his: Vec<Place> = (0..5).map(|_| room.place(Some(7)).expect("half")).collect();
        assert!(room.place(Some(7)).is_none());
        let others: Vec<Place> = (0..4).map(|_| room.place(Some(8)).expect("his own")).collect();
        let own = room.place(None).expect("the last");
        assert!(room.place(None).is_none() && room.place(Some(9)).is_none());
        his.pop();
        his.push(room.place(Some(7)).expect("one was given back"));
        drop((his, others, own));
        let places = room.places.lock().expect("no panic");
        assert!(places.all == 0 && places.strangers.is_empty());
    }

    #[test]
    fn no_more_memory_is_given_than_there_is() {
        let room = room(1, 100);
        let [mut one, mut other] = [Share::of(&room), Share::of(&room)];
        assert!(one.grow(60) && one.grow(30) && one.bytes() == 60);
        assert!(!other.grow(41) && other.bytes() == 0 && other.is_wanting() && room.is_short());
        assert!(!other.grow(usize::MAX));
        assert!(other.grow(40) && !room.is_short());
        one.release();
        assert!(other.grow(90) && !one.grow(11) && room.is_short());
        let mut late = Share::of(&room);
        assert!(!late.grow(5) && one.grow(5) && late.grow(5), "who waits comes first");
        assert!(!room.is_short());
        drop((one, other, late));
        assert!(!room.is_short() && room.memory.load(Ordering::Relaxed) == 0);
    }
}
