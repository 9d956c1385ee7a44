//! A job's files on their way into the sessions of its ranks here: first the relay stream, in
//! pieces, then the chunks of the files that it tells by their chunks, as far as they are not kept
//! here.

use super::chunks::Chunks;
use super::orders::missing;
use super::session::Session;
use crate::chunk::{Hash, read_ranges, write_ranges};
use crate::launch::Shipment;
use crate::relay::receive::{Known, Unpacker};
use muster_base::limits::JOB_CHUNKS_MAX;
use muster_ninep::error::{Errno, Result, fail};
use std::collections::HashSet;
use std::sync::Arc;

/// What has come of a step.
pub(super) struct Unpacked {
    /// What the variable is now.
    pub(super) count: u64,
    /// Chunks that are missing and not to come, as ranges.
    pub(super) lacks: Option<String>,
}

/// The files of one job.
pub(super) struct Unpacking {
    pub(super) sessions: Vec<Arc<Session>>,
    pub(super) variable: u32,
    unpacker: Unpacker,
    /// What the variable is.
    count: u64,
    /// The files that the stream told by their chunks: which they are among those kept here, until
    /// they are in the sessions.
    known: Vec<(Hash, Known)>,
    /// The different chunks, in order.
    chunks: Vec<Hash>,
    /// How many of them are there before the first that is not.
    there: usize,
    /// The chunks were told of, and the files are in the sessions.
    is_gathered: bool,
}

impl Unpacking {
    pub(super) fn new(sessions: Vec<Arc<Session>>, shipment: Shipment) -> Result<Unpacking> {
        let landings = sessions.iter().map(|session| session.landing()).collect();
        Ok(Unpacking {
            sessions,
            variable: shipment.variable,
            unpacker: Unpacker::new(landings)?,
            count: shipment.start,
            known: Vec::new(),
            chunks: Vec::new(),
            there: 0,
            is_gathered: true,
        })
    }

    /// Whether all of it is in the sessions.
    pub(super) fn is_done(&self) -> bool {
        self.unpacker.is_done() && self.is_gathered
    }

    /// What is kept of it, by name.
    pub(super) fn files(&self) -> impl Iterator<Item = &Hash> {
        self.known.iter().map(|(name, _)| name)
    }

    fn step(&mut self, count: u64) -> Result<()> {
        let is_next = count == self.count + 1;
        self.count = count;
        if is_next { Ok(()) } else { Err(missing()) }
    }

    fn unpacked(&self, lacks: Option<String>) -> Unpacked {
        Unpacked { count: self.count + self.there as u64, lacks }
    }

    /// Takes the next piece of the stream.
    pub(super) fn piece(&mut self, count: u64, bytes: &[u8]) -> Result<Unpacked> {
        self.step(count)?;
        self.unpacker.push(bytes)?;
        Ok(self.unpacked(None))
    }

    /// The stream is whole: puts its files together, out of what is kept and what is coming.
    pub(super) fn gather(
        &mut self,
        chunks: &mut Chunks,
        count: u64,
        coming: &[&str],
    ) -> Result<Unpacked> {
        self.step(count)?;
        if !self.unpacker.is_done() {
            return Err(missing());
        }
        let mut seen = HashSet::new();
        self.is_gathered = false;
        for known in self.unpacker.take_known() {
            self.chunks.extend(known.recipe.chunks.iter().filter(|hash| seen.insert(**hash)));
            let name = chunks.keep(known.mode, &known.recipe)?;
            self.known.push((name, known));
        }
        if self.chunks.len() > JOB_CHUNKS_MAX {
            return fail(Errno::TOOBIG, format!("they have {} chunks", self.chunks.len()));
        }
        let most = self.chunks.len() as u32;
        let coming = coming.iter().flat_map(|ranges| read_ranges(ranges, most).unwrap_or_default());
        let coming: HashSet<u32> = coming.collect();
        let growing = self.growing(chunks);
        let lacks =
            |at: &u32| !coming.contains(at) && chunks.lack(&growing, &self.chunks[*at as usize]);
        let lacks = write_ranges((0..most).filter(lacks));
        let unpacked = self.advance(chunks)?;
        Ok(Unpacked { lacks: Some(lacks).filter(|lacks| !lacks.is_empty()), ..unpacked })
    }

    /// Takes a chunk.
    pub(super) fn chunk(
        &mut self,
        chunks: &mut Chunks,
        number: u64,
        bytes: &[u8],
    ) -> Result<Unpacked> {
        let hash = usize::try_from(number).ok().and_then(|at| self.chunks.get(at));
        chunks.take(hash.ok_or_else(missing)?, bytes)?;
        self.advance(chunks)
    }

    /// Sees what is there by now; at the end puts the files into the sessions.
    pub(super) fn advance(&mut self, chunks: &mut Chunks) -> Result<Unpacked> {
        let growing = self.growing(chunks);
        while self.there < self.chunks.len() && !chunks.lack(&growing, &self.chunks[self.there]) {
            self.there += 1;
        }
        if self.there == self.chunks.len() && !self.is_gathered {
            for (name, known) in &self.known {
                chunks.give(name, &mut self.unpacker, &known.path)?;
            }
            self.known.drain(..).for_each(|(name, _)| chunks.release(&name));
            self.is_gathered = true;
        }
        Ok(self.unpacked(None))
    }

    fn growing(&self, chunks: &Chunks) -> Vec<Hash> {
        self.files().filter(|name| !chunks.is_whole(name)).copied().collect()
    }
}
