//! Reads of servers that are slower than what is asked of them.

use super::{Nodes, Relay, Remote};
use crate::client::{Cancel, Client, Fid, Options};
use crate::error::Errno;
use crate::serve::{Server, same_user};
use crate::synthetic::{Entry, Inode, Synthetic};
use crate::tree::OpenFlags;
use muster_base::limits::{OUTBOX_MAX, WAITED_MAX};
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};

/// Once a few reads of files of a server that stood still stopped the whole connection: no flush
/// of them was heard, and its end was not noticed.
#[test]
fn reads_under_way_hold_up_nothing_else_of_their_connection() {
    const READS: usize = 8;
    let relay = Relay::new();
    let client = relay.client();
    let fid = client.walk("wide-pipe").expect("walked");
    fid.open(OpenFlags::default()).expect("opened");
    let read = || {
        let (told, answers) = mpsc::channel();
        let cancels: Vec<_> = (0..READS)
            .map(|_| {
                let told = told.clone();
                fid.read_then(0, fid.max_data(), move |answer| drop(told.send(answer.map(drop))))
            })
            .collect();
        (cancels, answers)
    };
    let (cancels, answers) = read();
    assert_eq!(client.root().getattr().expect("attributes").size, 0);
    // Those that have not begun first, or they would where the others have gone.
    cancels.iter().rev().for_each(Cancel::flush);
    for _ in 0..READS {
        let taken_back = answers.recv().expect("told").expect_err("flushed");
        assert_eq!(taken_back.errno, Errno::INTR);
    }
    let begun = relay.probe.notes().iter().filter(|note| *note == "parked").count();
    assert!((1..READS).contains(&begun), "{begun} are begun before others have brought theirs");
    read();
    relay.probe.wait_for("parked", begun);
    client.close();
    relay.probe.wait_for("clunk /wide-pipe", 1);
}

/// Two reads through a mount from a node that stood still made the files of all other nodes
/// unreadable, and went on to when their processes were killed.
#[test]
fn reads_of_a_server_that_stands_still_hold_up_none_of_others_nor_later_ones() {
    const READS: usize = 8;
    let (still, other) = (Relay::new(), Relay::new());
    let remote = |relay: &Relay, name: &str| {
        let remote = Arc::new(Remote::new(&relay.between, name));
        let (root, qid) = remote.root();
        (name.to_owned(), Entry::mount(remote, root, qid))
    };
    let both = Nodes(Inode::new(0o555), vec![remote(&still, "n3"), remote(&other, "n4")]);
    let tree = Arc::new(Synthetic::new(Arc::new(both)));
    let server = Server::start(&tree, 1, same_user).expect("a server");
    let client = Client::over(server.connect().expect("pair"), &Options::default());
    let client = client.expect("attached");
    let open = |path: &str| {
        let fid = client.walk(path).expect("walked");
        fid.open(OpenFlags::default()).expect("opened");
        fid
    };
    let (told, answers) = mpsc::channel();
    let read = |fid: &Fid| -> Vec<Cancel> {
        let read = |_| {
            let told = told.clone();
            fid.read_then(0, fid.max_data(), move |answer| drop(told.send(answer.map(drop))))
        };
        (0..READS).map(read).collect()
    };
    let (stuck, free) = (open("n3/wide-pipe"), open("n4/wide-pipe"));
    let cancels = read(&stuck);
    still.probe.wait_for("parked", 1);
    read(&free);
    other.probe.wait_for("parked", 1);
    drop(cancels);
    drop(answers);
}

/// 400 KB of requests for what programs say made the manager queue gigabytes.
#[test]
fn many_reads_of_what_is_made_up_elsewhere_ask_for_little_each() {
    const READS: usize = 400;
    let relay = Relay::new();
    let client = relay.client();
    let fid = client.walk("wide/pipe").expect("walked");
    fid.open(OpenFlags::default()).expect("opened");
    for _ in 0..READS {
        fid.read_then(0, fid.max_data(), |_| ());
    }
    relay.probe.wait_for("parked", READS);
    let (most, asked) = (fid.max_data() as usize, relay.probe.asked.load(Ordering::Relaxed));
    assert!(asked <= OUTBOX_MAX + 2 * most + READS * WAITED_MAX, "{asked} bytes are asked for");
}
