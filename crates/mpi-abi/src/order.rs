//! The order of messages, as the launcher wants it: `muster run --mpi=bcs`, `--digest`, `--record`
//! and `--replay`. Rank 0 reads the log that is followed, and writes the one that is made.

use std::fs::File;
use std::io::{self, Write as _};
use std::sync::OnceLock;
use std::time::Duration;

use muster_message::{Digest, Envelope, Log, Mode, Orders, Part, Wanted, join, split};
use muster_mpi::buffer::{Memory, Typed};
use muster_mpi::communicator::LIBRARY;
use muster_mpi::datatype::{Datatype, Predefined};
use muster_mpi::error::{Class, Error, Result};
use muster_mpi::strobe::Strobes;

use crate::buffer::Elements;
use crate::place::Place;
use crate::request::received;
use crate::world::World;

/// From which length on messages are offered before they are sent where their order is of
/// interest.
const OFFERED: usize = 64 << 10;

/// The variables by which the launcher says what it wants.
const MODE: &str = "MUSTER_MPI";
const STROBE: &str = "MUSTER_MPI_STROBE";
const DIGEST: &str = "MUSTER_MPI_DIGEST";
const RECORD: &str = "MUSTER_MPI_RECORD";
const REPLAY: &str = "MUSTER_MPI_REPLAY";

/// What the launcher wants.
///
/// # Errors
/// [`Class::Other`] where it wants what there is not.
pub fn wanted(size: u32) -> Result<Orders> {
    let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let mode = std::env::var(MODE).unwrap_or_default();
    let is_coscheduled = match mode.as_str() {
        "" | "direct" => false,
        "bcs" => true,
        other => {
            let what = format!("{MODE} is '{other}'; there are 'direct' and 'bcs'");
            return Err(Error::new(Class::Other, what));
        }
    };
    Ok(Orders {
        size,
        is_coscheduled,
        offered_from: OFFERED,
        has_digest: has(DIGEST),
        has_log: has(RECORD),
        has_leader: has(REPLAY),
    })
}

/// When there are strobes, if there are any: `20000` (nanoseconds), or `20000 fixed`.
///
/// # Errors
/// [`Class::Other`] where the launcher says what is neither.
pub fn strobes() -> Result<Option<Strobes>> {
    let Some(value) = std::env::var(STROBE).ok().filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let (slice, fixed) = value.split_once(' ').unwrap_or((&value, ""));
    let nanoseconds = slice.parse().ok().filter(|slice| *slice > 0);
    match (nanoseconds, fixed) {
        (Some(slice), "" | "fixed") => {
            let slice = Duration::from_nanos(slice);
            Ok(Some(Strobes { slice, are_early: fixed.is_empty() }))
        }
        _ => Err(Error::new(Class::Other, format!("{STROBE} is '{value}', which is no time"))),
    }
}

/// The log that is made, at rank 0.
static RECORDED: OnceLock<File> = OnceLock::new();

/// A file that the launcher has named, if it has.
fn named(variable: &str) -> Option<String> {
    let path = std::env::var_os(variable).filter(|path| !path.is_empty())?;
    Some(path.to_string_lossy().into_owned())
}

/// That the log cannot be written.
fn unwritten(path: &str, error: &io::Error) -> Error {
    Error::new(Class::File, format!("the log {path} cannot be written: {error}"))
}

/// Makes the file of the log that is wanted, and follows the one that is to be followed. All ranks
/// call it before anything else.
///
/// # Errors
/// [`Class::File`] where one cannot be made, or not be read, or is not of such a job.
pub fn begin(world: &World) -> Result<()> {
    if let Some(path) = named(RECORD) {
        // What another run has left there must not be taken for this one's if it fails: nobody goes
        // on before it is gone.
        if world.rank == 0 {
            let file = File::create(&path).map_err(|error| unwritten(&path, &error))?;
            RECORDED.get_or_init(|| file);
            (1..world.size).try_for_each(|rank| send(world, rank, &[]))?;
        } else {
            receive(world, 0)?;
        }
    }
    let Some(path) = named(REPLAY) else { return Ok(()) };
    let part = if world.rank == 0 {
        let mut parts = parts(&path, world.size)?;
        for (rank, part) in (1..).zip(parts.drain(1..)) {
            send(world, rank, part.text.as_bytes())?;
        }
        parts.remove(0)
    } else {
        let text = String::from_utf8_lossy(&receive(world, 0)?).into_owned();
        Part { line: 0, text }
    };
    let log = Log::decode(&part).map_err(|what| Error::new(Class::File, what))?;
    world.process.state().endpoint.follow(log);
    Ok(())
}

/// What a log has of each rank of such a job.
fn parts(path: &str, size: u32) -> Result<Vec<Part>> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::new(Class::File, format!("the log {path} cannot be read: {error}"))
    })?;
    let parts = split(&text).and_then(|parts| {
        if parts.len() != size as usize {
            return Err(format!("it is of {} ranks, and this job has {size}", parts.len()));
        }
        // Whatever is wrong is told here, and once.
        parts.iter().try_for_each(|part| Log::decode(part).map(drop)).map(|()| parts)
    });
    parts.map_err(|what| {
        Error::new(Class::File, format!("the log {path} cannot be followed: {what}"))
    })
}

/// Whether all ranks say so; where their order is of no interest, whether this one does. All call
/// it, behind a barrier.
///
/// # Errors
/// That messages can be carried no more.
pub fn all(world: &World, own: bool) -> Result<bool> {
    if !world.is_watched {
        return Ok(own);
    }
    let said = |said: Vec<u8>| said == [1];
    if world.rank > 0 {
        send(world, 0, &[own.into()])?;
        return receive(world, 0).map(said);
    }
    let mut all = own;
    for rank in 1..world.size {
        all &= said(receive(world, rank)?);
    }
    (1..world.size).try_for_each(|rank| send(world, rank, &[all.into()]))?;
    Ok(all)
}

/// Prints the digest, and writes the log, where they are wanted. All ranks call it behind the last
/// message of the program.
///
/// # Errors
/// [`Class::File`] where the log cannot be written, and that a log that is followed goes on.
pub fn end(world: &World) -> Result<()> {
    world.process.state().endpoint.comes_to_its_end()?;
    // What nobody waits for may still be under way, and is in the digest, too: in the coscheduled
    // mode all of it is here when all wait.
    let (is_coscheduled, is_told) = {
        let state = world.process.state();
        (state.endpoint.is_coscheduled(), state.endpoint.is_told())
    };
    if is_coscheduled && is_told {
        world.process.look(|_| Ok(None::<()>))?;
    }
    let (digest, log) = {
        let state = world.process.state();
        (state.endpoint.digest(), state.endpoint.log().map(Log::encode))
    };
    if digest.is_none() && log.is_none() {
        return Ok(());
    }
    let digest = digest.map(|digest| (digest.of_rank(world.rank), digest.count));
    let own = encode(digest, log.as_deref());
    if world.rank > 0 {
        return send(world, 0, &own);
    }
    let (mut all, mut count, mut parts) = (Digest::default(), 0, Vec::new());
    for rank in 0..world.size {
        let (digest, log) = decode(&if rank == 0 { own.clone() } else { receive(world, rank)? });
        all.choice(&[digest.0.cast_signed()]);
        count += digest.1;
        parts.push(log);
    }
    if digest.is_some() {
        let (digest, size) = (all.of_rank(world.size), world.size);
        // Where nobody reads there is nobody to tell.
        let _ = writeln!(
            std::io::stderr(),
            "muster: digest {digest:016x} of {size} ranks, {count} matches and choices"
        );
    }
    let Some(mut file) = RECORDED.get() else { return Ok(()) };
    let path = named(RECORD).unwrap_or_default();
    file.write_all(join(&parts).as_bytes()).map_err(|error| unwritten(&path, &error))
}

/// What a rank tells in the end: its digest, how much is in it, and its log.
fn encode(digest: Option<(u64, u64)>, log: Option<&str>) -> Vec<u8> {
    let (digest, count) = digest.unwrap_or_default();
    [&digest.to_le_bytes(), &count.to_le_bytes(), log.unwrap_or_default().as_bytes()].concat()
}

fn decode(bytes: &[u8]) -> ((u64, u64), String) {
    let number = |at: usize| {
        let bytes = bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
        u64::from_le_bytes(bytes.unwrap_or_default())
    };
    let log = String::from_utf8_lossy(bytes.get(16..).unwrap_or_default());
    ((number(0), number(8)), log.into_owned())
}

/// Room for bytes.
fn room(bytes: usize) -> Result<Elements> {
    Typed::new(Place::scratch(bytes), bytes, Datatype::of(Predefined::Byte).clone())
}

/// Sends bytes to a rank, behind how many they are.
fn send(world: &World, to: u32, bytes: &[u8]) -> Result<()> {
    for part in [&(bytes.len() as u64).to_le_bytes(), bytes] {
        let message = room(part.len())?;
        message.memory().clone().bytes_mut(0, part.len()).copy_from_slice(part);
        let envelope = Envelope { context: LIBRARY, source: world.rank, tag: 0 };
        let sent = world.process.state().endpoint.send(to, envelope, Mode::Standard, message)?;
        if let Some(ticket) = sent {
            crate::request::sent(&world.process.outcome(ticket)?)?;
        }
    }
    Ok(())
}

/// Receives them.
fn receive(world: &World, from: u32) -> Result<Vec<u8>> {
    let part = |size: usize| -> Result<Vec<u8>> {
        let into = room(size)?;
        let wanted = Wanted { context: LIBRARY, source: Some(from), tag: Some(0) };
        let posted = world.process.state().endpoint.receive(wanted, Some(from), into.clone())?;
        received(&world.process.outcome(posted)?)?;
        Ok(into.memory().bytes(0, size).to_vec())
    };
    let size = part(8)?;
    let size = u64::from_le_bytes(*size.first_chunk().expect("there are eight"));
    part(usize::try_from(size).unwrap_or(usize::MAX))
}
