//! What a rank and its simulator say to each other (`docs/wire/simulation.md`).

use std::io::{self, ErrorKind, Read, Write};
use std::ops::Range;
use std::time::Duration;

/// The longest frame: what a rank sends in one turn at most.
const LONGEST: usize = 1 << 30;

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The rank that it goes to, or comes from.
    pub other: u32,
    /// Bytes of the whole message.
    pub total: u64,
    /// Where in the message it begins.
    pub offset: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What a rank is told before its first turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many ranks the job has.
    pub size: u32,
    /// The ranks of its node.
    pub neighbours: Range<u32>,
    /// Bytes of a part at most.
    pub piece: u64,
    /// Bytes that may be on the way to a rank before no more can be sent there.
    pub window: u64,
    /// From how many bytes on messages are offered before they are sent.
    pub offered_from: u64,
}

/// What a rank says when it gives its turn away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The time at which it does.
    pub now: Duration,
    /// How long it waits at most.
    pub most: Duration,
    /// Those to whom it waits to send more.
    pub room: Vec<u32>,
    /// What it has sent.
    pub sent: Vec<Part>,
}

/// What it is told when it has its turn again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// The time.
    pub now: Duration,
    /// Bytes that have come to where they were sent.
    pub freed: Vec<(u32, u64)>,
    /// Ranks that have ended.
    pub gone: Vec<u32>,
    /// What has come.
    pub parts: Vec<Part>,
}

/// What a rank says.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    /// Which rank it is: the first that it says.
    Hello(u32),
    /// It gives its turn away.
    Turn(Turn),
    /// Another thread of it wants the turn that it has given away.
    Wants,
}

const HELLO: u8 = 1;
const TURN: u8 = 2;
const WANTS: u8 = 3;

impl Said {
    /// Says it.
    ///
    /// # Errors
    /// That nobody listens.
    pub fn write(&self, into: &mut impl Write) -> io::Result<()> {
        let mut frame = Frame::default();
        match self {
            Said::Hello(rank) => frame.byte(HELLO).number(u64::from(*rank)),
            Said::Turn(turn) => {
                frame.byte(TURN).time(turn.now).time(turn.most).ranks(&turn.room).parts(&turn.sent)
            }
            Said::Wants => frame.byte(WANTS),
        };
        frame.write(into)
    }

    /// Hears it; nothing where the rank has ended.
    ///
    /// # Errors
    /// That it cannot be read, or is none of these.
    pub fn read(from: &mut impl Read) -> io::Result<Option<Said>> {
        let Some(bytes) = frame(from)? else { return Ok(None) };
        let mut bytes = Rest(&bytes);
        let said = match bytes.take(1)?[0] {
            HELLO => Said::Hello(bytes.rank()?),
            TURN => {
                let (now, most) = (bytes.time()?, bytes.time()?);
                let room = bytes.list(Rest::rank)?;
                Said::Turn(Turn { now, most, room, sent: bytes.list(Rest::part)? })
            }
            WANTS => Said::Wants,
            _ => return Err(broken()),
        };
        Ok(Some(said))
    }
}

impl Setup {
    /// Says it.
    ///
    /// # Errors
    /// That nobody listens.
    pub fn write(&self, into: &mut impl Write) -> io::Result<()> {
        let mut frame = Frame::default();
        let (first, end) = (self.neighbours.start, self.neighbours.end);
        frame.number(self.size.into()).number(first.into()).number(end.into());
        frame.number(self.piece).number(self.window).number(self.offered_from).write(into)
    }

    /// Hears it.
    ///
    /// # Errors
    /// That it cannot be read.
    pub fn read(from: &mut impl Read) -> io::Result<Setup> {
        let bytes = frame(from)?.ok_or(ErrorKind::UnexpectedEof)?;
        let mut bytes = Rest(&bytes);
        let (size, neighbours) = (bytes.rank()?, bytes.rank()?..bytes.rank()?);
        let (piece, window, offered_from) = (bytes.number()?, bytes.number()?, bytes.number()?);
        Ok(Setup { size, neighbours, piece, window, offered_from })
    }
}

impl Given {
    /// Says it.
    ///
    /// # Errors
    /// That nobody listens.
    pub fn write(&self, into: &mut impl Write) -> io::Result<()> {
        let mut frame = Frame::default();
        frame.time(self.now).number(self.freed.len() as u64);
        for (rank, bytes) in &self.freed {
            frame.number(u64::from(*rank)).number(*bytes);
        }
        frame.ranks(&self.gone).parts(&self.parts).write(into)
    }

    /// Hears it.
    ///
    /// # Errors
    /// That it cannot be read.
    pub fn read(from: &mut impl Read) -> io::Result<Given> {
        let bytes = frame(from)?.ok_or(ErrorKind::UnexpectedEof)?;
        let mut bytes = Rest(&bytes);
        let now = bytes.time()?;
        let freed = bytes.list(|bytes| Ok((bytes.rank()?, bytes.number()?)))?;
        let gone = bytes.list(Rest::rank)?;
        Ok(Given { now, freed, gone, parts: bytes.list(Rest::part)? })
    }
}

fn broken() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "a frame of a simulation is broken")
}

/// Reads a frame; nothing at the end of the stream.
fn frame(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return Err(broken());
    }
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}

/// A frame that is written, behind four bytes for its length.
struct Frame(Vec<u8>);

impl Default for Frame {
    fn default() -> Frame {
        Frame(vec![0; 4])
    }
}

impl Frame {
    fn byte(&mut self, byte: u8) -> &mut Frame {
        self.0.push(byte);
        self
    }

    fn number(&mut self, number: u64) -> &mut Frame {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    fn time(&mut self, time: Duration) -> &mut Frame {
        self.number(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
    }

    fn ranks(&mut self, ranks: &[u32]) -> &mut Frame {
        self.number(ranks.len() as u64);
        for rank in ranks {
            self.number(u64::from(*rank));
        }
        self
    }

    fn parts(&mut self, parts: &[Part]) -> &mut Frame {
        self.number(parts.len() as u64);
        for part in parts {
            self.number(u64::from(part.other)).number(part.total).number(part.offset);
            self.number(part.bytes.len() as u64);
            self.0.extend_from_slice(&part.bytes);
        }
        self
    }

    fn write(&mut self, into: &mut impl Write) -> io::Result<()> {
        let length = u32::try_from(self.0.len() - 4).map_err(|_| broken())?;
        self.0[..4].copy_from_slice(&length.to_le_bytes());
        into.write_all(&self.0)
    }
}

/// What is left of a frame that is read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, bytes: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or_else(broken)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.take(8)?.try_into().map_err(|_| broken())?))
    }

    fn rank(&mut self) -> io::Result<u32> {
        u32::try_from(self.number()?).map_err(|_| broken())
    }

    fn time(&mut self) -> io::Result<Duration> {
        Ok(Duration::from_nanos(self.number()?))
    }

    fn part(&mut self) -> io::Result<Part> {
        let (other, total, offset) = (self.rank()?, self.number()?, self.number()?);
        let length = usize::try_from(self.number()?).map_err(|_| broken())?;
        Ok(Part { other, total, offset, bytes: self.take(length)?.to_vec() })
    }

    fn list<T>(&mut self, read: impl Fn(&mut Self) -> io::Result<T>) -> io::Result<Vec<T>> {
        (0..self.number()?).map(|_| read(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of a sample of `docs/wire/simulation.md`.
    fn sample(name: &str) -> Vec<u8> {
        let page = include_str!("../../../../docs/wire/simulation.md");
        let lines = page.lines().map(str::trim);
        let lines = lines.skip_while(|line| *line != format!("sample {name}:")).skip(1);
        let lines = lines.take_while(|line| !line.is_empty() && !line.starts_with("sample"));
        let bytes = lines.flat_map(|line| line.split(' '));
        bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
    }

    #[test]
    fn the_documents_samples_are_what_they_say() {
        let (now, most) = (Duration::from_nanos(5), Duration::from_secs(1));
        let sent = vec![Part { other: 2, total: 9, offset: 7, bytes: b"hi".to_vec() }];
        let turn = Said::Turn(Turn { now, most, room: vec![7], sent });
        for (name, said) in [("hello", Said::Hello(3)), ("turn", turn)] {
            let mut wire = Vec::new();
            said.write(&mut wire).unwrap();
            assert_eq!(wire, sample(name), "{name}");
            assert_eq!(Said::read(&mut &wire[..]).unwrap(), Some(said));
        }
        let (mut setup, mut given) = (Vec::new(), Vec::new());
        let (neighbours, piece, window) = (2..5, 100, 1000);
        Setup { size: 9, neighbours, piece, window, offered_from: 4096 }.write(&mut setup).unwrap();
        Given { now, freed: vec![(1, 2)], gone: vec![3], parts: Vec::new() }
            .write(&mut given)
            .unwrap();
        assert_eq!((setup, given), (sample("setup"), sample("given")));
    }

    #[test]
    fn what_is_said_is_heard_and_a_broken_frame_is_an_error() {
        let part = Part { other: 3, total: 9, offset: 4, bytes: b"bytes".to_vec() };
        let (now, most) = (Duration::from_nanos(5), Duration::from_secs(1));
        let turn = Turn { now, most, room: vec![7, 8], sent: vec![part.clone(), part.clone()] };
        let mut wire = Vec::new();
        let said = [Said::Hello(4), Said::Turn(turn), Said::Wants];
        said.iter().for_each(|said| said.write(&mut wire).unwrap());
        let mut heard = &wire[..];
        for said in said {
            assert_eq!(Said::read(&mut heard).unwrap(), Some(said));
        }
        assert_eq!(Said::read(&mut heard).unwrap(), None);

        let given = Given { now, freed: vec![(1, 2)], gone: vec![3], parts: vec![part] };
        let (neighbours, piece, window) = (2..5, 100, 1000);
        let setup = Setup { size: 9, neighbours, piece, window, offered_from: u64::MAX };
        wire.clear();
        setup.write(&mut wire).unwrap();
        given.write(&mut wire).unwrap();
        let mut heard = &wire[..];
        assert_eq!(Setup::read(&mut heard).unwrap(), setup);
        assert_eq!(Given::read(&mut heard).unwrap(), given);
        assert!(Given::read(&mut heard).is_err(), "there is no more");
        assert!(Said::read(&mut &[1, 0, 0, 0, 9][..]).is_err());
        assert!(Said::read(&mut &[2, 0, 0, 0, HELLO, 0][..]).is_err());
    }
}
