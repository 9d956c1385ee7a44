//! What is told, through a server.

use crate::files::control::{self, Commands};
use muster_ninep::client::{Client, Fid, Options};
use muster_ninep::error::{Errno, Result};
use muster_ninep::serve::{Server, same_user};
use muster_ninep::synthetic::{Dir, Entry, Inode, Synthetic};
use muster_ninep::tree::OpenFlags;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

/// A directory in which everything is this file.
struct Only(Inode, Entry);

impl Dir for Only {
    fn inode(&self) -> &Inode {
        &self.0
    }
    fn get(&self, _: &str) -> Result<Option<Entry>> {
        Ok(Some(self.1.clone()))
    }
    fn list(&self) -> Vec<String> {
        vec!["file".to_owned()]
    }
}

/// A server with one thread, as a manager and a node have.
fn serve(file: Entry) -> (Server, Client) {
    let tree = Synthetic::new(Arc::new(Only(Inode::new(0o555), file)));
    let server = Server::start(&Arc::new(tree), 1, same_user).expect("a server");
    let stream = server.connect().expect("a pair");
    let client = Client::over(stream, &Options::default()).expect("attached");
    (server, client)
}

fn open(client: &Client) -> Fid {
    let fid = client.walk("file").expect("walked");
    fid.open(OpenFlags(OpenFlags::RDWR)).expect("opened");
    fid
}

/// Tells a longer text each time.
struct Growing(AtomicU32);

impl Commands for Growing {
    fn obey(&self, _: &str) -> Result<()> {
        Ok(())
    }
    fn status(&self) -> String {
        let told = self.0.fetch_add(1, Ordering::Relaxed);
        format!("{}\n", "9".repeat(told as usize + 2))
    }
}

#[test]
fn a_text_that_grows_while_it_is_read_in_pieces_is_one_text() {
    let file = control::file(0o660, || Growing(AtomicU32::new(0))).entry();
    let (_server, client) = serve(file);
    let fid = open(&client);
    assert_eq!(fid.read_at(0, 2), Ok(b"99".to_vec()));
    assert_eq!(fid.read_at(2, 100), Ok(b"\n".to_vec()));
    assert_eq!(fid.read_at(3, 100), Ok(Vec::new()), "it has not become longer");
    assert_eq!(fid.read_at(0, 100), Ok(b"999\n".to_vec()), "from the start it is told anew");
    assert_eq!(client.read("file"), Ok(b"99\n".to_vec()));
}

/// Says that it was asked, tells nothing until it may, and then the how manieth text it is.
struct Slow(Arc<Mutex<Teller>>);

struct Teller {
    asked: Sender<()>,
    may: Receiver<()>,
    told: u32,
}

impl Commands for Slow {
    fn obey(&self, _: &str) -> Result<()> {
        Ok(())
    }
    fn status(&self) -> String {
        let mut teller = self.0.lock().expect("no holder panics");
        let _ = teller.asked.send(());
        let _ = teller.may.recv();
        teller.told += 1;
        teller.told.to_string()
    }
}

/// A file of it, what says that it was asked, and what lets it tell.
fn slow() -> (Entry, Receiver<()>, Sender<()>) {
    let ((say, may), (asked, was_asked)) = (channel(), channel());
    let teller = Arc::new(Mutex::new(Teller { asked, may, told: 0 }));
    (control::file(0o660, move || Slow(teller.clone())).entry(), was_asked, say)
}

#[test]
fn a_text_that_takes_long_to_make_keeps_no_other_client_waiting() {
    let (file, was_asked, say) = slow();
    let (server, client) = serve(file);
    let reads = std::thread::spawn(move || client.read("file"));
    was_asked.recv().expect("it is");
    // Served by the same thread: it would wait for the text, and the text for it.
    let other = Client::over(server.connect().expect("a pair"), &Options::default());
    let other = open(&other.expect("attached"));
    other.write_at(0, b"a line\n").expect("obeyed");
    say.send(()).expect("somebody hears");
    assert_eq!(reads.join().expect("no panic"), Ok(b"1".to_vec()));
}

#[test]
fn a_read_that_is_taken_back_before_its_turn_has_nothing_made() {
    let (file, _asked, say) = slow();
    let (_server, client) = serve(file);
    let fid = open(&client);
    let (came, come) = channel();
    let read = || {
        let came = came.clone();
        fid.read_then(0, 100, move |read| came.send(read.map(<[u8]>::to_vec)).expect("heard"))
    };
    let _first = read();
    read().flush();
    let taken_back = come.recv().expect("it is told").expect_err("it was taken back");
    assert_eq!(taken_back.errno, Errno::INTR);
    say.send(()).expect("somebody hears");
    assert_eq!(come.recv(), Ok(Ok(b"1".to_vec())));
    drop(say);
    assert_eq!(fid.read_at(0, 100), Ok(b"2".to_vec()));
}
