//! Any bytes from a server leave the client without a panic: everybody who asked is told at most
//! once while the conversation lasts, and the rest when it ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use muster_ninep::client::core::{Core, Share};
use muster_ninep::message::{DataSync, Frame, Tmessage, UserNumber};
use muster_ninep::version::Version;
use muster_ninep::wire::{Names, Payload};
use std::collections::HashSet;

const MSIZE: u32 = 64 * 1024;

fn request(kind: u8) -> Tmessage<'static> {
    let fid = u32::from(kind);
    match kind % 8 {
        0 => {
            let n_uname = UserNumber(0);
            Tmessage::Attach { fid, afid: !0, uname: "", aname: "", n_uname }
        }
        1 => {
            let names = Names::new(&[b"a", b"b"]).expect("two names");
            Tmessage::Walk { fid, newfid: fid + 1, names }
        }
        2 => Tmessage::Lopen { fid, flags: 0 },
        3 => Tmessage::Read { fid, offset: 0, count: 100 },
        4 => Tmessage::Write { fid, offset: 0, data: Payload(b"data") },
        5 => Tmessage::Readdir { fid, offset: 0, count: 1000 },
        6 => Tmessage::Fsync { fid, data: DataSync(0) },
        _ => Tmessage::Clunk { fid },
    }
}

// The input is a row of steps: a byte below 200 asks, one below 220 flushes, others bring as
// many bytes of the server's as the next byte says.
fuzz_target!(|bytes: &[u8]| {
    let mut core: Core<u32> = Core::new(Version::MUSTER, MSIZE, 0);
    let mut told = HashSet::new();
    let (mut asked, mut arrived, mut last) = (0, Vec::new(), None);
    let mut steps = bytes.iter().copied();
    while let Some(step) = steps.next() {
        match step {
            0..200 => {
                asked += 1;
                // One that is refused is told by the refusal.
                match core.send(&request(step), asked, Share::Own) {
                    Ok(sent) => last = Some(sent),
                    Err(_) => drop(told.insert(asked)),
                }
            }
            200..220 => drop(last.map(|sent| core.flush(sent))),
            _ => {
                let count = steps.next().unwrap_or(0);
                arrived.extend(steps.by_ref().take(count.into()));
            }
        }
        loop {
            let Ok(Some((frame, size))) = Frame::cut(&arrived, MSIZE) else { break };
            match core.accept(frame) {
                Ok(Some((who, _))) => assert!(told.insert(who), "{who} is told twice"),
                Ok(None) => {}
                Err(_) => return assert_rest(core, told, asked),
            }
            arrived.drain(..size);
        }
    }
    assert_rest(core, told, asked);
});

fn assert_rest(mut core: Core<u32>, mut told: HashSet<u32>, asked: u32) {
    for who in core.end() {
        assert!(told.insert(who), "{who} is told twice");
    }
    assert_eq!(told.len() as u32, asked + 1, "somebody is never told");
}
