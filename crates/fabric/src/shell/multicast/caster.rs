//! One shell's part in multicast, without I/O: what it says over connections and by datagrams, and
//! what it makes of what others say.

use super::assembly::Assembler;
use super::parts::Parts;
use super::replay::Replay;
use super::seal::{Seal, Secret};
use super::shelf::Shelf;
use super::speaker::{Batch, Speaker};
use super::wire::{CastId, Control};
use crate::error::Result;
use crate::protocol::{NodeId, Outgoing, Payload, Time};
use crate::shell::Traffic;
use muster_base::limits::{
    MULTICAST_MAX, MULTICAST_MIN, MULTICAST_REPAIR, QUEUE_BYTES_MAX, QUEUE_MAX,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// So often a listener tells the root how far it is before its socket can be full.
const REPORTS: u64 = 4;

/// What is to go to a peer.
#[derive(Debug)]
pub struct Parcel {
    /// Between shells, not between protocols.
    pub is_control: bool,
    pub message: Outgoing,
}

/// A shell's part.
pub struct Caster {
    root: NodeId,
    /// At the root.
    speaker: Option<Speaker>,
    /// Bodies for so many peers are cast, however many others hear them.
    many: usize,
    /// The body whose last part is in the batch that is being sent.
    ending: Option<CastId>,
    ear: Ear,
    assembler: Assembler,
    shelf: Shelf,
    /// Messages that wait for a body, or behind one that does.
    held: BTreeMap<NodeId, Held>,
    /// Who is connected, and the generation that each hears.
    peers: BTreeMap<NodeId, Option<u64>>,
    out: VecDeque<Parcel>,
    traffic: Arc<Traffic>,
}

/// How a member hears the root.
struct Ear {
    seal: Option<Seal>,
    /// A datagram was heard that is sealed with this key, and not all of a body was lost since.
    hears: bool,
    /// It did, and hears no more: a switch may have forgotten it.
    is_forgotten: bool,
    /// Datagrams that the socket has room for.
    room: u32,
    /// Which datagrams were heard, and what the root was told of that: the number after the last.
    heard: Replay,
    told: u64,
}

#[derive(Default)]
struct Held {
    messages: VecDeque<(Vec<u8>, Body)>,
    bytes: usize,
}

enum Body {
    Here(Payload),
    Cast(CastId),
}

impl Held {
    fn push(&mut self, head: Vec<u8>, body: Body) -> std::result::Result<(), &'static str> {
        self.bytes += cost(&head, &body);
        self.messages.push_back((head, body));
        match self.messages.len() <= QUEUE_MAX && self.bytes <= QUEUE_BYTES_MAX {
            true => Ok(()),
            false => Err("more than may wait behind a body"),
        }
    }
}

/// Bytes of a message that is held.
fn cost(head: &[u8], body: &Body) -> usize {
    match body {
        Body::Here(body) => head.len() + body.len(),
        Body::Cast(_) => head.len(),
    }
}

impl Caster {
    /// Of a node whose socket has room for so many datagrams; who sends to so many peers casts.
    pub fn new(
        me: NodeId,
        root: NodeId,
        (room, many): (u32, usize),
        traffic: Arc<Traffic>,
    ) -> Result<Caster> {
        Ok(Caster {
            root,
            speaker: (me == root).then(Speaker::new).transpose()?,
            many,
            ending: None,
            ear: Ear {
                seal: None,
                hears: false,
                is_forgotten: false,
                room,
                heard: Replay::new(),
                told: 0,
            },
            assembler: Assembler::default(),
            shelf: Shelf::default(),
            held: BTreeMap::new(),
            peers: BTreeMap::new(),
            out: VecDeque::new(),
            traffic,
        })
    }

    /// There is a connection to a peer.
    pub fn raised(&mut self, node: NodeId) {
        self.peers.insert(node, None);
        if node == self.root {
            self.say(node, &Control::Listen);
        }
        if let Some(hears) = self.ear.hears() {
            self.say(node, &hears);
        }
    }

    /// There is none any more.
    pub fn lost(&mut self, now: Time, node: NodeId) {
        self.peers.remove(&node);
        self.held.remove(&node);
        self.out.retain(|parcel| parcel.message.to != node);
        self.assembler.lost(now, node);
        self.shelf.lost(node);
        if let Some(speaker) = &mut self.speaker {
            speaker.lost(node);
        }
        self.count();
        self.cancel();
        self.ask(now);
    }

    /// All that a protocol wants sent, be it nothing: in order, and with references instead of
    /// bodies that go by multicast.
    pub fn route(&mut self, messages: &mut Vec<Outgoing>) {
        for at in 0..messages.len() {
            let cast = self.cast(&messages[at..]);
            let Outgoing { to, head, body } = &mut messages[at];
            let (to, head, body) = (*to, std::mem::take(head), std::mem::take(body));
            match cast {
                Some(id) => self.refer(to, id, head, body.len()),
                None => {
                    let message = Outgoing { to, head, body };
                    self.out.push_back(Parcel { is_control: false, message });
                }
            }
        }
        messages.clear();
        self.shelf.clear();
    }

    fn refer(&mut self, to: NodeId, id: CastId, head: Vec<u8>, length: usize) {
        let length = u32::try_from(length).expect("limits keep bodies short");
        self.carry(to, &Control::Refer { id, length }, Payload::from(head));
        self.shelf.refer(id, to);
        let speaker = self.speaking(id.generation);
        let is_being_sent = speaker.is_some_and(|speaker| speaker.refer(to, id));
        if !is_being_sent && self.ending != Some(id) {
            self.say(to, &Control::Sent(id));
        }
    }

    /// The body that the first of these messages can refer to.
    fn cast(&mut self, messages: &[Outgoing]) -> Option<CastId> {
        let Outgoing { to, body, .. } = &messages[0];
        let hears = |node: NodeId| self.peers.get(&node).copied().flatten();
        let generation = hears(*to)?;
        let is_long = (MULTICAST_MIN..=MULTICAST_MAX).contains(&body.len());
        if !is_long || self.shelf.bytes(*to) + body.len() > QUEUE_BYTES_MAX {
            return None;
        }
        if let Some(id) = self.shelf.find(body, *to) {
            return (id.generation == generation).then_some(id);
        }
        let is_reader =
            |one: &&Outgoing| hears(one.to) == Some(generation) && one.body.is_same(body);
        let readers = messages.iter().filter(is_reader).count();
        let speaker = self.speaker.as_mut()?;
        let is_current = generation == speaker.secret.generation && !speaker.is_worn();
        // Bytes that leave once over a connection do not leave less often by multicast.
        let is_wide = readers >= 2 && (readers >= self.many || 2 * readers >= speaker.hearers());
        if !is_current || !is_wide {
            return None;
        }
        let id = speaker.begin(body.clone());
        self.shelf.put(id, body.clone());
        Some(id)
    }

    /// A message from a peer. Returns its body if it is the protocol's to take now.
    ///
    /// # Errors
    /// What is wrong with it; the connection ends then.
    pub fn take(
        &mut self,
        now: Time,
        from: NodeId,
        (is_control, head): (bool, &[u8]),
        body: Payload,
    ) -> std::result::Result<Option<Payload>, &'static str> {
        if is_control {
            self.control(now, from, Control::decode(head)?, body)?;
            return Ok(None);
        }
        match self.held.get_mut(&from) {
            Some(held) => held.push(head.to_vec(), Body::Here(body)).map(|()| None),
            None => Ok(Some(body)),
        }
    }

    fn control(
        &mut self,
        now: Time,
        from: NodeId,
        control: Control,
        body: Payload,
    ) -> std::result::Result<(), &'static str> {
        if !matches!(control, Control::Refer { .. } | Control::Repair { .. }) && !body.is_empty() {
            return Err("a body where none belongs");
        }
        match control {
            Control::Listen => {
                if let Some(speaker) = &mut self.speaker {
                    speaker.listens(now, from);
                    let key = Control::Key(speaker.secret.clone());
                    self.say(from, &key);
                    self.peers.insert(from, None);
                    self.count();
                }
            }
            Control::Key(secret) if from == self.root => self.ear.learn(&secret),
            Control::Key(_) => return Err("a key from a node that is not the root"),
            Control::Hears { generation, room } => {
                self.peers.insert(from, Some(generation));
                if let Some(speaker) = self.speaking(generation) {
                    speaker.hears(from, room);
                }
                self.count();
            }
            Control::Refer { id, length } => {
                self.assembler.refer(now, from, id, length as usize)?;
                self.held.entry(from).or_default().push(body.to_vec(), Body::Cast(id))?;
                self.report();
            }
            Control::Sent(id) => {
                self.assembler.sent(now, from, id);
                self.ask(now);
            }
            Control::Lack { id, missing } => self.repair(from, id, &missing)?,
            Control::Repair { id, offset } => {
                if self.assembler.repair(now, from, id, offset as usize, &body)? {
                    Traffic::add(&self.traffic.repaired, body.len());
                }
            }
            Control::Have(id) => {
                if !self.shelf.have(id, from) {
                    return Err("a body that it was not referred to");
                }
                if let Some(speaker) = self.speaking(id.generation) {
                    speaker.have(from);
                }
                self.cancel();
            }
            Control::Progress { generation, next } => {
                if let Some(speaker) = self.speaking(generation) {
                    speaker.progress(from, next);
                }
            }
        }
        Ok(())
    }

    fn speaking(&mut self, generation: u64) -> Option<&mut Speaker> {
        self.speaker.as_mut().filter(|speaker| speaker.secret.generation == generation)
    }

    /// Says how many hear.
    fn count(&self) {
        let count = self.speaker.as_ref().map_or(0, Speaker::hearers);
        self.traffic.hearers.store(count as u64, Ordering::Relaxed);
    }

    /// What is sent to nobody any more is not sent to its end.
    fn cancel(&mut self) {
        let Some(speaker) = &mut self.speaker else { return };
        speaker.cancel(|id| self.shelf.readers(id).next().is_none());
    }

    fn repair(
        &mut self,
        to: NodeId,
        id: CastId,
        missing: &[u8],
    ) -> std::result::Result<(), &'static str> {
        let body =
            self.shelf.lack(id, to).ok_or("parts are asked for of a body that is not here")?;
        let missing =
            Parts::read(body.len(), missing).ok_or("parts that the body does not have")?;
        if missing.is_all() {
            // Until it says so again it does not hear.
            self.peers.insert(to, None);
        }
        for run in missing.runs(MULTICAST_REPAIR) {
            let offset = u32::try_from(run.start).expect("limits keep bodies short");
            self.carry(to, &Control::Repair { id, offset }, body.part(run));
        }
        Ok(())
    }

    /// A datagram. False where it is none of ours, or of no use.
    pub fn datagram(&mut self, now: Time, datagram: &mut [u8]) -> bool {
        let Ear { seal: Some(seal), heard, .. } = &mut self.ear else { return false };
        let Some((header, part)) = seal.open_new(heard, datagram) else { return false };
        let length = header.length as usize;
        let place = (header.offset as usize, part);
        let is_used = length == 0 || self.assembler.part(now, header.id, length, place);
        if !std::mem::replace(&mut self.ear.hears, true)
            && let Some(hears) = self.ear.hears()
        {
            let peers: Vec<_> = self.peers.keys().copied().collect();
            peers.into_iter().for_each(|peer| self.say(peer, &hears));
        }
        self.report();
        is_used
    }

    /// Tells the root how far the socket is emptied, if the root waits for that.
    fn report(&mut self) {
        let (Ear { room, told, .. }, next) = (&self.ear, self.ear.heard.next());
        let is_due = next - told >= (u64::from(*room) / REPORTS).max(1);
        let Some(seal) = &self.ear.seal else { return };
        if is_due && self.assembler.awaits(self.root) {
            self.ear.told = next;
            let progress = Control::Progress { generation: seal.generation, next };
            self.say(self.root, &progress);
        }
    }

    /// Asks for what is missing. Who misses all of a body does not hear, be it that a switch has
    /// forgotten it, and begins again.
    fn ask(&mut self, now: Time) {
        let heard = self.ear.seal.as_ref().filter(|_| self.ear.hears).map(|seal| seal.generation);
        for lack in self.assembler.lacks(now, heard) {
            let is_deaf = lack.missing.is_all() && heard == Some(lack.id.generation);
            if is_deaf && std::mem::take(&mut self.ear.hears) {
                self.ear.is_forgotten = true;
                if self.peers.contains_key(&self.root) {
                    self.say(self.root, &Control::Listen);
                }
            }
            let missing = lack.missing.bits().to_vec();
            self.say(lack.of, &Control::Lack { id: lack.id, missing });
        }
    }

    /// Whether it has to join the group again; told once.
    pub fn is_to_join(&mut self) -> bool {
        std::mem::take(&mut self.ear.is_forgotten)
    }

    /// The next message that was held and can be taken now: from whom, its head and its body.
    pub fn ready(&mut self) -> Option<(NodeId, Vec<u8>, Payload)> {
        let can = |held: &Held| match held.messages.front() {
            Some((_, Body::Cast(id))) => self.assembler.whole(*id).is_some(),
            _ => true,
        };
        let (&from, _) = self.held.iter().find(|(_, held)| can(held))?;
        let held = self.held.get_mut(&from)?;
        let (head, body) = held.messages.pop_front()?;
        held.bytes -= cost(&head, &body);
        if held.messages.is_empty() {
            self.held.remove(&from);
        }
        let body = match body {
            Body::Here(body) => body,
            Body::Cast(id) => {
                let body = self.assembler.whole(id)?;
                self.assembler.release(from, id);
                // Who passes it on refers to it.
                self.shelf.put(id, body.clone());
                self.say(from, &Control::Have(id));
                body
            }
        };
        Some((from, head, body))
    }

    /// The next batch of datagrams to send, when the one before has been; false when there is none.
    pub fn fill(&mut self, now: Time, to: &mut Vec<u8>) -> bool {
        self.end(now);
        let Some(speaker) = &mut self.speaker else { return false };
        match speaker.fill(now, to) {
            Batch::None => return false,
            Batch::Some => {}
            Batch::Last(id) => self.ending = Some(id),
        }
        true
    }

    /// What was filled has been sent: all of a body, perhaps, and all that the key may seal.
    fn end(&mut self, now: Time) {
        if let Some(id) = self.ending.take() {
            let readers: Vec<_> = self.shelf.readers(id).collect();
            readers.into_iter().for_each(|node| self.say(node, &Control::Sent(id)));
        }
        let Some(speaker) = &mut self.speaker else { return };
        if let Some(nodes) = speaker.renew(now) {
            let key = Control::Key(speaker.secret.clone());
            nodes.into_iter().for_each(|node| self.say(node, &key));
            self.count();
        }
    }

    /// The time has come.
    pub fn tick(&mut self, now: Time) {
        if let Some(speaker) = &mut self.speaker {
            speaker.tick(now);
        }
        self.assembler.expire(now);
        self.ask(now);
    }

    /// When that is.
    pub fn alarm(&self) -> Option<Time> {
        let speaker = self.speaker.as_ref().and_then(Speaker::alarm);
        self.assembler.alarm().into_iter().chain(speaker).min()
    }

    /// What is to go out next.
    pub fn outgoing(&mut self) -> Option<Parcel> {
        self.out.pop_front()
    }

    /// At the root: the key, which after the next body is worn out if it is to be.
    #[cfg(test)]
    pub fn generation(&mut self, is_worn: bool) -> u64 {
        let speaker = self.speaker.as_mut().expect("the root");
        if is_worn {
            speaker.wear_out();
        }
        speaker.secret.generation
    }

    /// Whether nothing is kept for anybody.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.held.is_empty() && self.shelf.is_empty() && self.assembler.bytes() == 0
    }

    fn say(&mut self, to: NodeId, control: &Control) {
        self.carry(to, control, Payload::default());
    }

    fn carry(&mut self, to: NodeId, control: &Control, body: Payload) {
        let message = Outgoing { to, head: control.encode(), body };
        self.out.push_back(Parcel { is_control: true, message });
    }
}

impl Ear {
    /// What others are to know.
    fn hears(&self) -> Option<Control> {
        let seal = self.seal.as_ref().filter(|_| self.hears)?;
        Some(Control::Hears { generation: seal.generation, room: self.room })
    }

    /// The root has another key, or says the same again.
    fn learn(&mut self, secret: &Secret) {
        if self.seal.as_ref().is_none_or(|seal| seal.generation != secret.generation) {
            (self.seal, self.hears) = (Some(Seal::new(secret)), false);
            (self.heard, self.told) = (Replay::new(), 0);
        }
    }
}
