//! Sends to all who hear what the exchange says is to be cast: a thread of the server, for each
//! image that somebody listens to. Its datagrams are those of [`multicast`], with the chunk's
//! number, and 1, as the body's; a probe's number says which chunk has left last, so who has heard
//! nothing of it knows that it has passed by.
//!
//! [`multicast`]: muster_fabric::shell::multicast

use super::sources::Exchange;
use super::swarm::Chunk;
use muster_fabric::shell::multicast::{SECRET, Secret, Voice};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::fs::FileExt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pause after the first probe; it doubles, up to the second.
const PAUSE: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(200);

/// How long there is a caster that nobody listens to.
const IDLE: Duration = Duration::from_secs(5);

/// Where is cast, and sealed with what.
pub(super) struct Group {
    pub(super) address: SocketAddrV4,
    pub(super) secret: Secret,
}

impl Group {
    /// One of its own, by random numbers, in the range that every site has for itself (RFC 2365),
    /// and a port that no program is given that asks for any. Who shares it with others only hears
    /// more.
    pub(super) fn new() -> Option<Group> {
        let secret = Secret::new().ok()?;
        let [a, b, c, d, ..] = secret.generation.to_le_bytes();
        let port = 10_000 + u16::from_le_bytes([c, d]) % 20_000;
        Some(Group { address: SocketAddrV4::new(Ipv4Addr::new(239, 255, a, b), port), secret })
    }
}

/// `239.255.1.2:12345 SECRET`, as `docs/wire/multicast.md` has a *key*, in hexadecimal digits.
impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.address)?;
        self.secret.encode().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Group {
    type Err = ();

    fn from_str(text: &str) -> Result<Group, ()> {
        let (address, digits) = text.trim_end().split_once(' ').ok_or(())?;
        let address: SocketAddrV4 = address.parse().map_err(drop)?;
        let mut bytes = [0; SECRET];
        if digits.len() != 2 * SECRET || !digits.is_ascii() || !address.ip().is_multicast() {
            return Err(());
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).map_err(drop)?;
        }
        Ok(Group { address, secret: Secret::decode(&bytes) })
    }
}

/// What there is to do.
pub(super) enum Step {
    /// This chunk, at so many bytes a second.
    Cast(Chunk, f64),
    Probe,
    /// Nothing yet.
    Wait,
    /// Nobody listens.
    End,
    /// Nothing is to be cast any more.
    Mute,
}

/// Begins; false if that cannot be.
pub(super) fn begin(exchange: &Arc<Exchange>, group: &Group, interface: Ipv4Addr) -> bool {
    let Ok(voice) = Voice::open(group.address, interface, &group.secret) else { return false };
    let exchange = exchange.clone();
    std::thread::Builder::new().name("cast".into()).spawn(move || run(&exchange, voice)).is_ok()
}

fn run(exchange: &Exchange, mut voice: Voice) {
    let (mut last, mut pause, mut due) = (0, PAUSE, Instant::now());
    let mut bytes = Vec::new();
    loop {
        match exchange.step(due, IDLE) {
            Step::Cast(chunk, rate) => {
                let piece = exchange.plan.get(chunk).expect("the swarm counts those of the plan");
                bytes.resize(piece.length, 0);
                // What cannot be read is lost, and asked for, and refused.
                let is_read = exchange.file.read_exact_at(&mut bytes, piece.offset).is_ok();
                last = u64::from(chunk) + 1;
                if is_read && voice.send(last, &bytes, rate).is_err() {
                    // The key is worn out, and the chunk for the next one.
                    return exchange.mute();
                }
                exchange.sent(chunk);
                (pause, due) = (PAUSE, Instant::now());
            }
            Step::Probe => {
                voice.probe(last);
                due = Instant::now() + pause;
                pause = PAUSE_MAX.min(pause * 2);
            }
            Step::Wait => {}
            Step::End => return,
            Step::Mute => return exchange.mute(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plan;
    use super::*;
    use crate::chunk::Recipe;

    /// Each caster numbers its datagrams from the beginning, and a number is sealed once with a
    /// key.
    #[test]
    fn who_listens_when_the_caster_has_ended_gets_another_key() {
        let file = rustix::fs::memfd_create("image", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let plan = Plan::of(&Recipe { size: 0, chunks: vec![] });
        let exchange = Exchange::new(file.into(), plan, Arc::new(true.into()));
        let first = exchange.group();
        assert!(!first.is_empty());
        assert_eq!(exchange.group(), first, "one for all who listen to a caster");
        assert!(matches!(exchange.step(Instant::now(), Duration::ZERO), Step::End));
        assert_ne!(exchange.group(), first);
    }

    #[test]
    fn a_group_is_read_as_it_is_told_and_nothing_else_is_one() {
        let group = Group::new().unwrap();
        let text = format!("{group}\n");
        let read: Group = text.parse().ok().unwrap();
        assert_eq!((read.address, &read.secret), (group.address, &group.secret));
        let digits = text.trim_end().split_once(' ').unwrap().1;
        for bad in [
            "",
            "239.255.1.2:77",
            &format!("10.0.0.1:77 {digits}"),
            &format!("239.255.1.2:77 {}", &digits[2..]),
            &format!("239.255.1.2:77 {}xx", &digits[2..]),
            &format!("239.255.1.2:77 {}\u{e9}", &digits[2..]),
        ] {
            assert!(bad.parse::<Group>().is_err(), "{bad}");
        }
    }
}
