//! The order of messages, as the launcher wants it: `muster run --mpi=bcs`, `--digest`, `--record`
//! and `--replay`. Rank 0 reads the log that is followed, and writes the one that is made.

use std::io::Write as _;
use std::time::Duration;

use muster_message::{Digest, Envelope, Log, Mode, Orders, Wanted};
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

/// Follows the log that is to be followed, if one is. All ranks call it before anything else.
///
/// # Errors
/// [`Class::File`] where it cannot be read, or is not of such a job.
pub fn begin(world: &World) -> Result<()> {
    let Some(path) = std::env::var_os(REPLAY).filter(|path| !path.is_empty()) else {
        return Ok(());
    };
    let path = path.to_string_lossy();
    let text = if world.rank == 0 {
        let text = std::fs::read_to_string(&*path).map_err(|error| {
            Error::new(Class::File, format!("the log {path} cannot be read: {error}"))
        })?;
        (1..world.size).try_for_each(|rank| send(world, rank, text.as_bytes()))?;
        text
    } else {
        String::from_utf8_lossy(&receive(world, 0)?).into_owned()
    };
    let wrong =
        |what| Error::new(Class::File, format!("the log {path} cannot be followed: {what}"));
    if let Ok(Some(_)) = Log::decode(&text, world.size) {
        return Err(wrong(format!("it is of more than {} ranks", world.size)));
    }
    let log = Log::decode(&text, world.rank).map_err(wrong)?;
    let log = log.ok_or_else(|| wrong(format!("it has no rank {}", world.rank)))?;
    world.process.state().endpoint.follow(log);
    Ok(())
}

/// Prints the digest, and writes the log, where they are wanted. All ranks call it behind the last
/// message of the program.
///
/// # Errors
/// [`Class::File`] where the log cannot be written.
pub fn end(world: &World) -> Result<()> {
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
    let (mut all, mut count, mut text) = (Digest::default(), 0, String::new());
    for rank in 0..world.size {
        let (digest, log) = decode(&if rank == 0 { own.clone() } else { receive(world, rank)? });
        all.choice(&[digest.0.cast_signed()]);
        count += digest.1;
        text += &format!("rank {rank}\n{log}");
    }
    if digest.is_some() {
        let (digest, size) = (all.of_rank(world.size), world.size);
        // Where nobody reads there is nobody to tell.
        let _ = writeln!(
            std::io::stderr(),
            "muster: digest {digest:016x} of {size} ranks, {count} matches and choices"
        );
    }
    match std::env::var_os(RECORD).filter(|path| !path.is_empty()) {
        Some(path) => std::fs::write(&path, text).map_err(|error| {
            let what = format!("the log {} cannot be written: {error}", path.to_string_lossy());
            Error::new(Class::File, what)
        }),
        None => Ok(()),
    }
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
