//! What is written to a server that is slower than its clients.

use super::{Relay, Remote, ask_in};
use crate::client::Fid;
use crate::error::{Errno, Result};
use crate::message::{NOFID, NONUNAME, Tmessage, UserNumber};
use crate::session::Session;
use crate::tree::{OpenFlags, Peer};
use crate::version::Dialect;
use crate::wire::{Names, Payload};
use muster_base::limits::{HANDED_ON_MAX, WRITES_KEPT_MAX};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

const PIECE: usize = 1 << 20;

/// What the queue takes, and what is kept beside it.
const QUEUED: usize = HANDED_ON_MAX / PIECE;
const KEPT: usize = WRITES_KEPT_MAX / PIECE;

fn open(relay: &Relay) -> Fid {
    let fid = relay.client().walk("wide-pipe").expect("walked");
    fid.open(OpenFlags(OpenFlags::WRONLY)).expect("opened");
    fid
}

/// A copy of more than 4 MiB to a node failed where the node was slower than what came.
#[test]
fn what_is_under_way_to_a_server_that_stands_still_waits_for_it() {
    const PIECES: usize = 16;
    let relay = Relay::new();
    let fid = open(&relay);
    let standing = relay.probe.notes.lock().expect("no holder panics");
    let (told, answers) = mpsc::channel();
    let piece = vec![b'x'; PIECE];
    for at in 0..PIECES {
        let told = told.clone();
        // It returns when the front server has nearly all that was sent before.
        fid.write_then((at * PIECE) as u64, &piece, move |answer| drop(told.send(answer)));
    }
    drop(standing);
    let answers: Vec<_> = answers.iter().take(PIECES).collect();
    assert!(answers.iter().all(|answer| *answer == Ok(PIECE as u32)), "{answers:?}");
}

/// Once they were refused with EAGAIN, which no program expects of a write to a file.
#[test]
fn what_there_is_no_room_for_waits_can_be_taken_back_and_is_written_when_there_is() {
    let relay = Relay::new();
    let fid = open(&relay);
    let standing = relay.probe.notes.lock().expect("no holder panics");
    let piece = vec![b'x'; PIECE];
    let (told, answers) = mpsc::channel();
    let write = |at: usize| {
        let told = told.clone();
        let told = move |answer: Result<u32>| {
            let _ = told.send((at, answer.map_err(|error| error.errno)));
        };
        fid.write_then((at * PIECE) as u64, &piece, told)
    };
    // More than the queue takes, and not so many that nothing more is read.
    let cancels: Vec<_> = (0..QUEUED + KEPT - 1).map(write).collect();
    let last = cancels.len() - 1;
    cancels[last].flush();
    assert_eq!(answers.recv().expect("told"), (last, Err(Errno::INTR)), "it had not begun");
    let begun = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for at in 0..2 * KEPT {
                begun.store(at, Ordering::Relaxed);
                write(at);
            }
        });
        // Somewhere in there the front reads no more.
        while begun.load(Ordering::Relaxed) < 2 {
            std::thread::yield_now();
        }
        drop(standing);
        for _ in 0..last + 2 * KEPT {
            let (at, answer) = answers.recv().expect("told");
            assert_eq!(answer, Ok(PIECE as u32), "{at}");
        }
    });
}

/// A session in front that has the wide pipe open as fid 1.
fn session(relay: &Relay) -> (Session<Remote>, mpsc::Receiver<()>) {
    let (wake, woken) = mpsc::channel();
    let remote = Arc::new(Remote::new(&relay.between, "n3"));
    let mut session = Session::new(remote, Peer::default(), move || {
        let _ = wake.send(());
    });
    let n_uname = UserNumber(NONUNAME);
    let names = Names::new(&[b"wide-pipe"]).expect("one");
    for message in [
        Tmessage::Version { msize: 2 << 20, version: "9P2000.L.muster" },
        Tmessage::Attach { fid: 0, afid: NOFID, uname: "", aname: "", n_uname },
        Tmessage::Walk { fid: 0, newfid: 1, names },
        Tmessage::Lopen { fid: 1, flags: 1 },
    ] {
        assert!(ask_in(Dialect::Linux, &mut session, &woken, &message), "{message:?}");
    }
    (session, woken)
}

/// Writes a piece; its number is its tag and its offset.
fn write(session: &mut Session<Remote>, number: u16) {
    let piece = vec![b'x'; PIECE];
    let write = Tmessage::Write { fid: 1, offset: number.into(), data: Payload(&piece) };
    let mut bytes = Vec::new();
    write.encode(number, Dialect::Linux, &mut bytes);
    assert_eq!(session.receive(&bytes).expect("9P"), bytes.len());
}

#[test]
fn a_client_is_not_read_from_while_much_of_what_it_writes_waits() {
    let relay = Relay::new();
    let (mut session, woken) = session(&relay);
    let standing = relay.probe.notes.lock().expect("no holder panics");
    let mut numbers = 0..2 * (QUEUED + KEPT) as u16;
    while !session.is_stalled() {
        write(&mut session, numbers.next().expect("there is an end to it"));
    }
    assert_eq!(session.receive(&[0; 100]), Ok(0));
    drop(standing);
    while session.is_stalled() {
        woken.recv_timeout(Duration::from_secs(60)).expect("there is room again");
        session.conclude();
    }
}

#[test]
fn what_waits_is_not_overtaken_by_what_is_written_later_to_the_same_file() {
    let relay = Relay::new();
    let (mut session, woken) = session(&relay);
    let standing = relay.probe.notes.lock().expect("no holder panics");
    let before = QUEUED + KEPT - 1;
    (0..before as u16).for_each(|number| write(&mut session, number));
    drop(standing);
    // There is room, but those that wait have not been told.
    let root = relay.between.root();
    while !root.takes_writes_or(|| Box::new(|| ())) {
        std::thread::yield_now();
    }
    write(&mut session, before as u16);
    let written = || {
        let notes = relay.probe.notes.lock().expect("no holder panics");
        let number = |note: &String| {
            let rest = note.strip_prefix("write /wide-pipe ")?;
            rest.split(' ').next()?.parse::<usize>().ok()
        };
        notes.iter().filter_map(number).collect::<Vec<usize>>()
    };
    while written().len() <= before {
        woken.recv_timeout(Duration::from_secs(60)).expect("there is room again");
        session.conclude();
    }
    assert_eq!(written(), (0..=before).collect::<Vec<_>>());
}
