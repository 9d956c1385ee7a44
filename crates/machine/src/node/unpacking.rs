//! A job's files on their way into the sessions of its ranks here: first the relay stream, in
//! pieces, then the chunks of the files that it tells by their chunks, as far as they are not kept
//! here.

use super::giving::{Copies, Giving};
use super::orders::missing;
use super::session::Session;
use super::tally::Tally;
use crate::chunk::Hash;
use crate::chunk::store::Chunks;
use crate::launch::Shipment;
use crate::relay::receive::{Known, Unpacker};
use muster_base::limits::JOB_CHUNKS_MAX;
use muster_ninep::error::{Errno, Result, fail};
use std::collections::HashMap;
use std::sync::Arc;

/// What has come of a step.
pub(super) struct Unpacked {
    /// What the variable is now.
    pub(super) count: u64,
    /// Chunks that are missing and not to come, as ranges.
    pub(super) lacks: Option<String>,
    /// Files that are to be copied into the sessions: then [`Unpacking::has_given`].
    pub(super) copies: Option<Copies>,
}

/// The files of one job.
pub(super) struct Unpacking {
    pub(super) sessions: Vec<Arc<Session>>,
    pub(super) variable: u32,
    unpacker: Unpacker,
    /// What the variable tells.
    tally: Tally,
    /// The files that the stream told by their chunks: which they are among those kept here, until
    /// they are in the sessions.
    known: Vec<(Hash, Known)>,
    /// Which of them have a chunk.
    with: HashMap<Hash, Vec<Hash>>,
    /// The chunks were told of, and the files are in the sessions.
    is_gathered: bool,
    /// All of them are here, and some are being copied into the sessions.
    giving: Option<Giving>,
    run: Run,
}

/// Whether the job is to run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    /// The order has not come.
    No,
    /// As soon as it has all of its files.
    Soon,
    /// It runs. Other nodes may lack something still, and all count what these are sent.
    Done,
}

impl Unpacking {
    pub(super) fn new(
        sessions: Vec<Arc<Session>>,
        shipment: Shipment,
        arch: &str,
    ) -> Result<Unpacking> {
        let landings = sessions.iter().map(|session| session.landing()).collect();
        Ok(Unpacking {
            sessions,
            variable: shipment.variable,
            unpacker: Unpacker::new(landings, arch)?,
            tally: Tally::new(shipment),
            known: Vec::new(),
            with: HashMap::new(),
            is_gathered: true,
            giving: None,
            run: Run::No,
        })
    }

    /// One of the ranks that wait for it.
    pub(super) fn rank(&self) -> usize {
        let light = self.sessions.first().and_then(|session| session.light);
        light.map_or(0, |light| light.rank)
    }

    /// Whether all of it is in the sessions.
    fn is_done(&self) -> bool {
        self.unpacker.is_done() && self.is_gathered
    }

    /// The job is to run.
    pub(super) fn is_to_run(&mut self) {
        if self.run == Run::No {
            self.run = Run::Soon;
        }
    }

    /// The sessions that are to run now: once, when all of it is in them. What is left of this
    /// counts.
    pub(super) fn run(&mut self) -> Option<Vec<Arc<Session>>> {
        if self.run != Run::Soon || !self.is_done() {
            return None;
        }
        self.run = Run::Done;
        self.unpacker.leave();
        Some(std::mem::take(&mut self.sessions))
    }

    /// What is kept of it, by name.
    pub(super) fn files(&self) -> impl Iterator<Item = &Hash> {
        self.known.iter().map(|(name, _)| name)
    }

    fn step(&mut self, count: u64) -> Result<()> {
        if self.tally.step(count) { Ok(()) } else { Err(missing()) }
    }

    fn unpacked(&self, lacks: Option<String>) -> Unpacked {
        // Before the chunks are told of there is none to be counted.
        let count = match &self.giving {
            Some(_) => self.tally.value_but_last(),
            None => self.tally.value(),
        };
        Unpacked { count, lacks, copies: None }
    }

    /// Takes the next piece of the stream.
    pub(super) fn piece(&mut self, count: u64, bytes: &[u8]) -> Result<Unpacked> {
        self.step(count)?;
        self.unpacker.push(bytes)?;
        Ok(self.unpacked(None))
    }

    /// The stream is whole: puts its files together, out of what is kept and what is coming. Told
    /// again, when others come.
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
        let known = self.unpacker.take_known();
        self.is_gathered &= known.is_empty();
        let hashes = known.iter().flat_map(|known| known.recipe.chunks.iter().copied());
        let count = self.tally.told(hashes);
        if count > JOB_CHUNKS_MAX {
            return fail(Errno::TOOBIG, format!("they have {count} chunks"));
        }
        for known in known {
            if !known.is_own {
                // Its chunks have their numbers, and are not lacking here.
                continue;
            }
            let name = chunks.keep(known.mode, &known.recipe)?;
            for hash in &known.recipe.chunks {
                let with = self.with.entry(*hash).or_default();
                if with.last() != Some(&name) {
                    with.push(name);
                }
            }
            self.known.push((name, known));
        }
        let (with, has_run) = (&self.with, self.run == Run::Done);
        self.tally.round(coming, |hash| !has_run && lack(with, chunks, hash));
        let unpacked = self.advance(chunks)?;
        Ok(Unpacked { lacks: self.tally.lacks(), ..unpacked })
    }

    /// Takes a chunk.
    pub(super) fn chunk(
        &mut self,
        chunks: &mut Chunks,
        number: u64,
        bytes: &[u8],
    ) -> Result<Unpacked> {
        chunks.take(self.tally.chunk(number).ok_or_else(missing)?, bytes)?;
        self.advance(chunks)
    }

    /// Sees what is there by now; at the end puts the files into the sessions, but for those that
    /// are to be copied.
    pub(super) fn advance(&mut self, chunks: &mut Chunks) -> Result<Unpacked> {
        let (with, has_run) = (&self.with, self.run == Run::Done);
        let is_whole = self.tally.advance(|hash| !has_run && lack(with, chunks, hash));
        if is_whole && !self.is_gathered && self.giving.is_none() {
            if let Some(lacks) = self.mend(chunks)? {
                return Ok(self.unpacked(Some(lacks)));
            }
            let mut files = Vec::new();
            for (name, known) in &self.known {
                if !chunks.give(name, &mut self.unpacker, &known.path)? {
                    files.push((*name, known.path.clone()));
                }
            }
            let to = self.unpacker.take_places();
            if !files.is_empty() && !to.is_empty() {
                let count = self.tally.value_but_last();
                return Ok(Unpacked { count, lacks: None, copies: Some(Copies { files, to }) });
            }
            return Ok(self.has_given(chunks));
        }
        Ok(self.unpacked(None))
    }

    /// Files are being copied.
    pub(super) fn gives(&mut self, giving: Giving) {
        self.giving = Some(giving);
    }

    /// All files are in the sessions.
    pub(super) fn has_given(&mut self, chunks: &mut Chunks) -> Unpacked {
        self.giving = None;
        self.known.drain(..).for_each(|(name, _)| chunks.release(&name));
        self.with.clear();
        self.is_gathered = true;
        self.unpacked(None)
    }

    /// Has files made anew that another job, which shares them, has written to or changed the mode
    /// of since they were found here; the chunks that are lacking for that.
    fn mend(&mut self, chunks: &mut Chunks) -> Result<Option<String>> {
        for (_, known) in &self.known {
            chunks.mend(known.mode, &known.recipe)?;
        }
        let with = &self.with;
        self.tally.dropped(|hash| lack(with, chunks, hash));
        Ok(self.tally.lacks())
    }
}

/// Whether a file that has a chunk lacks it still.
fn lack(with: &HashMap<Hash, Vec<Hash>>, chunks: &Chunks, hash: &Hash) -> bool {
    with.get(hash).is_some_and(|files| chunks.lack(files, hash))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::Recipe;
    use crate::files::text::Text;
    use crate::relay::receive::Landing;
    use crate::scratch::Scratch;
    use muster_base::limits::CHUNK;
    use std::path::PathBuf;

    /// A node that lacks chunks of which nobody has said that they come counted none of those that
    /// did, so the manager sent all of them at once.
    #[test]
    fn who_lacks_a_chunk_counts_those_that_come_and_never_as_far_as_who_has_all() {
        let directory = Scratch::new("unpacking");
        let mut chunks = Chunks::new(directory.to_owned());
        let parts: Vec<Vec<u8>> = (0..6).map(|seed| vec![seed; CHUNK]).collect();
        let hashes = parts.iter().flat_map(|part| Hash::of(part).0);
        let mut stream = format!("known 644 {} data\n", 6 * CHUNK).into_bytes();
        stream.extend(hashes);
        stream.extend(b"end\n");
        let shipment = Shipment { variable: 0, start: 100 };
        let mut files = Unpacking::new(Vec::new(), shipment, "x86_64").unwrap();
        assert_eq!(files.piece(101, &stream).unwrap().count, 101);
        // The first round: 1 and 4 are not to come.
        let told = files.gather(&mut chunks, 102, &["0,2-3", "5"]).unwrap();
        assert_eq!((told.count, told.lacks.as_deref()), (102, Some("1,4")));
        let mut take = |files: &mut Unpacking, at: usize| {
            files.chunk(&mut chunks, at as u64, &parts[at]).unwrap().count
        };
        let counts: Vec<u64> = [0, 2, 3, 5].map(|at| take(&mut files, at)).to_vec();
        assert_eq!(counts, [104, 105, 107, 107], "the last is not counted");
        assert!(!files.is_done());
        // The second: they come, and all is counted again.
        let told = files.gather(&mut chunks, 109, &["1,4"]).unwrap();
        assert_eq!((told.count, told.lacks), (110, None));
        let mut take = |at: usize| files.chunk(&mut chunks, at as u64, &parts[at]).unwrap().count;
        assert_eq!((take(1), take(4)), (113, 115));
        assert!(files.is_done());
        // Who has all of it only counts on.
        assert_eq!(files.gather(&mut chunks, 116, &[]).unwrap().count, 122);
        assert!(files.gather(&mut chunks, 118, &[]).is_err(), "a count was missed");
    }

    /// A node took no orders while it copied a job's files for its ranks.
    #[test]
    fn files_that_each_rank_gets_a_copy_of_are_counted_when_they_are_copied() {
        let directory = Scratch::new("copied");
        let mut chunks = Chunks::new(directory.join("chunks"));
        let homes = ["0", "1"].map(|rank| directory.join(rank));
        homes.iter().for_each(|home| std::fs::create_dir(home).unwrap());
        let (argv, env) = (Text::default(), Text::default());
        let landing = |directory: &PathBuf| Landing {
            directory: directory.clone(),
            argv: argv.clone(),
            env: env.clone(),
        };
        let shipment = Shipment { variable: 0, start: 0 };
        let mut files = Unpacking::new(Vec::new(), shipment, "x86_64").unwrap();
        files.unpacker = Unpacker::new(homes.iter().map(landing).collect(), "x86_64").unwrap();
        let mut stream = b"known 644 4 data\n".to_vec();
        stream.extend(Hash::of(b"data").0);
        stream.extend(b"end\n");
        files.piece(1, &stream).unwrap();
        assert_eq!(files.gather(&mut chunks, 2, &["0"]).unwrap().count, 2);
        let whole = files.chunk(&mut chunks, 0, b"data").unwrap();
        let Copies { files: copied, mut to } = whole.copies.expect("they are to be copied");
        files.gives(Giving::default());
        files.is_to_run();
        let again = files.advance(&mut chunks).unwrap();
        assert_eq!((whole.count, again.count), (2, 2));
        assert!(again.copies.is_none() && files.run().is_none());
        for (name, path) in copied {
            let (file, mode) = chunks.to_copy(&name, &path).unwrap();
            to.copy(&path, (&file, mode), &mut |step| step()).unwrap();
        }
        assert!(homes.iter().all(|home| std::fs::read(home.join("data")).unwrap() == b"data"));
        assert_eq!(files.has_given(&mut chunks).count, 3);
        assert!(files.run().is_some());
    }

    /// The job that came second failed, whoever had changed the file.
    #[test]
    fn a_file_that_another_job_has_changed_meanwhile_is_lacking_again() {
        use std::os::unix::fs::PermissionsExt;
        let directory = Scratch::new("mended");
        let mut chunks = Chunks::new(directory.to_owned());
        let parts: [&[u8]; 2] = [b"#!/bin/sh\n", b"data"];
        let recipe = |part: &[u8]| Recipe { size: part.len() as u64, chunks: vec![Hash::of(part)] };
        let program = chunks.keep(0o755, &recipe(parts[0])).unwrap();
        chunks.take(&Hash::of(parts[0]), parts[0]).unwrap();
        let mut stream = Vec::new();
        for (part, told) in parts.iter().zip(["755 10 program", "644 4 data"]) {
            stream.extend(format!("known {told}\n").into_bytes());
            stream.extend(Hash::of(part).0);
        }
        stream.extend(b"end\n");
        let shipment = Shipment { variable: 0, start: 0 };
        let mut files = Unpacking::new(Vec::new(), shipment, "x86_64").unwrap();
        files.piece(1, &stream).unwrap();
        assert_eq!(files.gather(&mut chunks, 2, &["1"]).unwrap().lacks, None);
        let store = directory.join(program.to_string());
        std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o700)).unwrap();
        let told = files.chunk(&mut chunks, 1, parts[1]).unwrap();
        assert_eq!((told.count, told.lacks.as_deref()), (3, Some("0")));
        assert_eq!(files.advance(&mut chunks).unwrap().lacks, None, "it is told once");
        assert_eq!(files.gather(&mut chunks, 5, &["0"]).unwrap().lacks, None);
        assert_eq!(files.chunk(&mut chunks, 0, parts[0]).unwrap().count, 7);
        assert!(files.is_done());
    }

    #[test]
    fn files_for_another_processor_are_numbered_and_not_taken() {
        let directory = Scratch::new("unpacking-arch");
        let parts: Vec<Vec<u8>> = (0..3).map(|seed| vec![seed; 5000]).collect();
        let mut stream = b"dir 755 d\n".to_vec();
        for (part, arch) in parts.iter().zip(["all", "aarch64", "x86_64"]) {
            stream.extend(format!("arch {arch}\nknown 644 5000 d/{arch}\n").into_bytes());
            stream.extend(Hash::of(part).0);
        }
        stream.extend(b"arch aarch64\nfile 644 1 d/small\nxend\n");
        // Each lacks its own, and counts as if the other's were there.
        for (arch, own, count) in [("x86_64", "0,2", 4), ("aarch64", "0-1", 4), ("arm", "0", 4)] {
            let mut chunks = Chunks::new(directory.join(arch));
            std::fs::create_dir_all(directory.join(arch)).unwrap();
            let shipment = Shipment { variable: 0, start: 0 };
            let mut files = Unpacking::new(Vec::new(), shipment, arch).unwrap();
            files.piece(1, &stream).unwrap();
            let told = files.gather(&mut chunks, 2, &[]).unwrap();
            assert_eq!(told.lacks.as_deref(), Some(own), "{arch}");
            let told = files.gather(&mut chunks, 6, &[own]).unwrap();
            assert_eq!(told.lacks, None);
            for (at, part) in parts.iter().enumerate() {
                // One that is sent to it all the same does no harm.
                files.chunk(&mut chunks, at as u64, part).unwrap();
            }
            assert!(files.is_done(), "{arch}");
            assert_eq!(files.gather(&mut chunks, 10, &[]).unwrap().count, 9 + count, "{arch}");
        }
    }
}
