//! Any bytes where a gateway's are read, for those who look for bytes that break it.

use super::control::{self, Control};
use super::frame::{self, Frame, HEAD, OPENING, Opening};
use super::line::Kept;
use muster_base::limits::GATEWAY_PIECE;
use std::fs::File;
use std::os::fd::OwnedFd;

/// Reads any bytes as what comes over a connection between two nodes, and as what a rank and its
/// node's daemon say to one another.
///
/// # Panics
/// When what was read is written otherwise, or more is read than came.
pub fn read_as_all(bytes: &[u8]) {
    if let Some(first) = bytes.first_chunk::<OPENING>()
        && let Ok(opening) = Opening::read(first)
    {
        assert_eq!(opening.write(), *first);
    }
    read_frames(bytes);
    if let Ok((job, rank)) = control::read_ask(bytes) {
        assert_eq!(control::ask(job, rank), *bytes);
    }
    read_control(bytes);
}

/// One frame behind the other, and the pieces of each.
fn read_frames(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some((whole, next))) = frame::find(rest) {
        let (head, body) = rest[whole].split_first_chunk::<HEAD>().expect("it was found");
        let frame = Frame::read(head).expect("it was found");
        assert_eq!(frame.write(), *head);
        let mut at = 0;
        for (piece, inside) in frame.with(body) {
            assert_eq!(inside, &body[at..at + piece.bytes()]);
            assert!(inside.len() <= GATEWAY_PIECE);
            assert_eq!(Frame::read(&piece.write()), Ok(piece), "each can be by itself");
            at += inside.len();
        }
        assert_eq!(at, body.len());
        rest = &rest[next..];
    }
}

/// A packet of the daemon's, with the file that belongs to it.
fn read_control(bytes: &[u8]) {
    let file = OwnedFd::from(File::open("/dev/null").expect("it is there"));
    let written = match control::read(bytes, file) {
        Some(Control::Welcome { rank, layout, .. }) => {
            assert!(rank < layout.here());
            control::welcome(rank, &layout)
        }
        Some(Control::Bell { process, .. }) => control::bell(process).to_vec(),
        Some(Control::Line { node, epoch, kept: Kept { keys, .. } }) => {
            let mut written = control::line(node, epoch, keys.as_ref());
            // Anything but 0 names the one cipher.
            if let (Some(cipher), Some(theirs)) = (written.get_mut(9), bytes.get(9)) {
                assert_eq!(*cipher == 0, *theirs == 0);
                *cipher = *theirs;
            }
            written
        }
        Some(Control::Refused { .. }) => panic!("a refusal has no file"),
        None => return,
    };
    assert_eq!(written, bytes);
}
