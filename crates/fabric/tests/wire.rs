//! `docs/wire/fabric.md` says what the code does: every sample in it is sent to a real end, or
//! received from one over a Unix socket, byte for byte.

use muster_fabric::Deadline;
use muster_fabric::address::Address;
use muster_fabric::region::{Region, Rights};
use muster_fabric::strategy::{Handler, Handlers};
use muster_fabric::transport::hello::{self, Refusal};
use muster_fabric::transport::{Adapter, Hello, Lane, Listener, Transport, socket::Unix};
use std::io::{IoSlice, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

const DOCUMENT: &str = include_str!("../../../docs/wire/fabric.md");

fn sample(name: &str) -> Vec<u8> {
    let begin = format!("```{name}\n");
    let (_, rest) = DOCUMENT.split_once(&begin).unwrap_or_else(|| panic!("no sample {name}"));
    let (text, _) = rest.split_once("```").expect("its end");
    let byte = |word| u8::from_str_radix(word, 16).expect("two digits");
    text.split_whitespace().map(byte).collect()
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

fn node() -> Hello {
    Hello { name: "node 3".to_owned(), service: "heartbeat".to_owned(), lane: Lane::System }
}

/// A listener whose file goes with it.
fn listener(name: &str) -> (Box<dyn Listener>, PathBuf) {
    let name = format!("muster-wire-{}-{name}", std::process::id());
    let path = std::env::temp_dir().join(name);
    (Unix.listen(&Address::Unix(path.clone())).unwrap(), path)
}

/// A bare socket after its hello, and the listener's end of it.
fn greeted(name: &str) -> (UnixStream, Box<dyn Adapter>) {
    let (mut listener, path) = listener(name);
    let mut bare = UnixStream::connect(path).unwrap();
    bare.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    bare.write_all(&sample("hello")).unwrap();
    let end = listener.accept(soon()).unwrap();
    assert_eq!(received(&mut bare, 8), sample("welcome"));
    (bare, end)
}

fn received(bare: &mut UnixStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    bare.read_exact(&mut bytes).unwrap();
    bytes
}

#[test]
fn hello_and_answers_are_as_printed() {
    assert_eq!(hello::write(&node()), sample("hello"));
    assert_eq!(hello::welcome(), sample("welcome"));
    let refusal = Refusal::Denied("it was too slow".to_owned());
    assert_eq!(refusal.answer(), sample("too-slow"));
    let (_bare, end) = greeted("hello");
    assert_eq!(end.hello(), &node());
}

#[test]
fn messages_are_as_printed() {
    let (mut bare, end) = greeted("messages");
    let mut end = end.datagram().unwrap();
    bare.write_all(&sample("messages")).unwrap();
    end.take(soon(), &mut |message| assert_eq!(message, b"hi")).unwrap();
    end.take(soon(), &mut |message| assert_eq!(message, b"")).unwrap();
    assert!(end.take(soon(), &mut |_| ()).unwrap_err().to_string().contains("closed"));

    let (mut bare, end) = greeted("messages-back");
    let mut end = end.datagram().unwrap();
    end.send(&[IoSlice::new(b"hi")], soon()).unwrap();
    end.send(&[], soon()).unwrap();
    drop(end);
    let mut all = Vec::new();
    bare.read_to_end(&mut all).unwrap();
    assert_eq!(all, sample("messages"));
}

struct Seven(Option<Vec<u8>>);

impl Handlers for Seven {
    fn handle(
        &mut self,
        handler: Handler,
        arguments: &[u8],
        _: &mut dyn FnMut(Handler, &[u8]),
    ) -> Result<(), String> {
        assert_eq!(handler, 7);
        self.0 = Some(arguments.to_vec());
        Ok(())
    }
}

#[test]
fn active_messages_are_as_printed() {
    let (mut bare, end) = greeted("active");
    let mut end = end.active_message().unwrap();
    bare.write_all(&sample("active")).unwrap();
    let mut seven = Seven(None);
    assert_eq!(end.try_progress(&mut seven).unwrap(), 1);
    assert_eq!(seven.0.unwrap(), b"x");
    end.try_call(7, &[IoSlice::new(b"x")]).unwrap();
    assert_eq!(received(&mut bare, 7), sample("active"));
}

#[test]
fn the_owner_of_regions_answers_as_printed() {
    let (mut bare, end) = greeted("owner");
    let mut owner = end.remote_copy().unwrap();
    let region = Region::new(8, Rights::ALL);
    assert_eq!(owner.expose(&region).unwrap().0, 1);
    for (asked, answered) in [("put", "put-done"), ("get", "get-done")] {
        bare.write_all(&sample(asked)).unwrap();
        assert!(owner.try_progress().unwrap().is_none());
        let expected = sample(answered);
        assert_eq!(received(&mut bare, expected.len()), expected);
    }
}

#[test]
fn who_asks_for_copies_asks_as_printed() {
    let (mut bare, end) = greeted("asker");
    let mut asker = end.remote_copy().unwrap();
    let key = muster_fabric::strategy::Key(1);
    asker.try_put(key, 5, b"abc", 70).unwrap();
    asker.try_get(key, 4, 4, 71).unwrap();
    for (asked, answered, read) in [("put", "put-done", &b""[..]), ("get", "get-done", b"\0abc")] {
        let expected = sample(asked);
        assert_eq!(received(&mut bare, expected.len()), expected);
        bare.write_all(&sample(answered)).unwrap();
        let completion = asker.try_progress().unwrap().expect("it was answered");
        assert_eq!(completion.bytes, read);
        completion.result.unwrap();
    }
}
