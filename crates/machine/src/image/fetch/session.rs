//! A session with the server: what it is asked, and told.

use super::room::Source;
use super::{Plan, WORD, open, read_all};
use crate::chunk::write_ranges;
use crate::image::held::Held;
use crate::image::swarm::Chunk;
use muster_ninep::client::{Client, Fid};
use muster_ninep::error::{Errno, Error as Refusal, Result};
use muster_ninep::tree::OpenFlags;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The session, which ends with its connection.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) client: Client,
    pub(super) directory: Fid,
    pub(super) data: Source,
    sources: Fid,
    /// What the file said.
    pub(super) group: String,
}

/// An answer of the exchange.
pub(super) enum Next {
    Take(Chunk, String),
    Whole,
}

impl Session {
    /// Begins one: others may come, and this is here.
    ///
    /// # Errors
    /// The server's, or the connection's.
    pub(super) fn begin(
        client: &Client,
        directory: &Fid,
        plan: &Plan,
        held: &Held,
        address: Option<&str>,
    ) -> Result<Session> {
        // Beside the rest: what is asked for later waits behind chunks.
        let group = || String::from_utf8(read_all(directory, "group").unwrap_or_default());
        let (data, sources, group) = std::thread::scope(|scope| {
            let group = scope.spawn(group);
            let data = open(directory, "data", OpenFlags::default())?;
            let sources = open(directory, "sources", OpenFlags(OpenFlags::RDWR))?;
            let group = group.join().expect("it does not panic").unwrap_or_default();
            Ok::<_, Refusal>((data, sources, group))
        })?;
        let here = plan.all().filter(|(_, piece)| held.has(&piece.hash));
        let mut lines = format!("have {}\n", write_ranges(here.map(|(chunk, _)| chunk)));
        if let Some(address) = address {
            lines += &format!("serve {address}\n");
        }
        sources.write_at(0, lines.as_bytes())?;
        let (client, directory, data) = (client.clone(), directory.clone(), Source::new(data));
        Ok(Session { client, directory, data, sources, group })
    }

    pub(super) fn has_ended(&self) -> bool {
        self.client.ended().is_some()
    }

    /// Says something that needs no answer: if it does not arrive, the connection has ended.
    pub(super) fn say(&self, line: &str) {
        let heard = self.data.heard.clone();
        self.sources.write_then(0, line.as_bytes(), move |answer| {
            if answer.is_ok() {
                heard.note();
            }
        });
    }

    /// Asks what to take next, unless all that is to be held is here first. It may be long until
    /// there is something; but words are answered at once, so a server of which nothing is heard
    /// for so long is gone, whatever becomes of the connection.
    ///
    /// # Errors
    /// `ETIMEDOUT` then.
    pub(super) fn ask(&self, held: &Held, limit: Duration) -> Result<Next> {
        let (begun, (told, answer)) = (Instant::now(), mpsc::sync_channel(1));
        self.sources.read_then(0, 512, move |answer| {
            drop(told.send(answer.map(<[u8]>::to_vec)));
        });
        let answer = loop {
            match answer.recv_timeout(WORD.min(limit)) {
                Ok(answer) => break answer?,
                Err(RecvTimeoutError::Timeout) if held.is_whole() => return Ok(Next::Whole),
                Err(RecvTimeoutError::Timeout) if self.data.heard.silence(begun) >= limit => {
                    let text = format!("{} does not answer", self.client.name());
                    return Err(Refusal::new(Errno::TIMEDOUT, text));
                }
                Err(RecvTimeoutError::Timeout) => self.say("have \n"),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Refusal::new(Errno::IO, "the question was dropped"));
                }
            }
        };
        let text = String::from_utf8_lossy(&answer);
        let bad = || Refusal::new(Errno::BADMSG, format!("'{text}' is no answer of an exchange"));
        match text.trim_end().split_once(' ') {
            None if text.is_empty() => Ok(Next::Whole),
            None => Err(bad()),
            Some((chunk, from)) => {
                Ok(Next::Take(chunk.parse().map_err(|_| bad())?, from.to_owned()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::store::Chunks;
    use crate::chunk::{Hash, Recipe};
    use crate::image::MODE;
    use crate::line::{self, Door, read_address};
    use crate::scratch::Scratch;
    use muster_ninep::call::{Answer, Data};
    use muster_ninep::client::Options;
    use muster_ninep::serve::{Server, same_user};
    use muster_ninep::synthetic::{Dir, Entry, File, Handle, Inode, SynCall, Synthetic};
    use std::sync::{Arc, Mutex};

    /// `sources` at a server that stands still.
    struct Still;

    impl Handle for Still {
        fn read(&self, call: &mut SynCall<'_>, _: u64, _: usize) -> Answer<Data> {
            call.park(std::mem::forget)
        }

        fn write(&self, call: &mut SynCall<'_>, _: u64, _: &[u8]) -> Answer<u32> {
            call.park(std::mem::forget)
        }
    }

    struct Root(Inode);

    impl Dir for Root {
        fn inode(&self) -> &Inode {
            &self.0
        }

        fn get(&self, name: &str) -> Result<Option<Entry>> {
            Ok((name == "sources").then(|| File::new(0o666, |_| Ok(Still)).entry()))
        }

        fn list(&self) -> Vec<String> {
            vec!["sources".into()]
        }
    }

    #[test]
    fn a_server_that_stands_still_is_not_waited_for_without_end_nor_once_all_is_here() {
        let scratch = Scratch::new("still");
        let at = read_address(scratch.join("sock").to_str().unwrap()).unwrap();
        let tree = Arc::new(Synthetic::new(Arc::new(Root(Inode::new(0o555)))));
        let server = Arc::new(Server::start(&tree, 1, same_user).unwrap());
        let _door = Door::open(&at, server).unwrap();
        let client = line::connect("test", &at, Options::default()).unwrap();
        let directory = client.root();
        let sources = || open(&directory, "sources", OpenFlags(OpenFlags::RDWR)).unwrap();
        let (data, sources, group) = (Source::new(sources()), sources(), String::new());
        let session = Session { client, directory: directory.clone(), data, sources, group };
        let recipe = Recipe { size: 4, chunks: vec![Hash::of(b"here")] };
        let mut chunks = Chunks::new(scratch.join("part"));
        let name = chunks.keep(MODE, &recipe).unwrap();
        let (file, chunks) = (chunks.open(&name).unwrap(), Mutex::new(chunks));
        let held = Held { name, recipe, chunks, file };
        let limit = Duration::from_millis(20);
        let asked = session.ask(&held, limit);
        assert!(asked.is_err_and(|error| error.errno == Errno::TIMEDOUT));
        held.take(&Hash::of(b"here"), b"here").unwrap();
        assert!(matches!(session.ask(&held, limit), Ok(Next::Whole)));
    }
}
