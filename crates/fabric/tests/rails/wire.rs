//! `docs/wire/rails.md` says what the code does: its samples are sent to a real end and received
//! from one, byte for byte.

use crate::{joined, joins, listen, listen_by, received, soon, watched};
use muster_base::limits::RAILS_PATIENCE;
use muster_fabric::Error;
use muster_fabric::strategy::{Ready, Stream, Wait};
use std::io::Write;
use std::time::Duration;

const DOCUMENT: &str = include_str!("../../../../docs/wire/rails.md");

fn sample(name: &str) -> Vec<u8> {
    let begin = format!("```{name}\n");
    let (_, rest) = DOCUMENT.split_once(&begin).unwrap_or_else(|| panic!("no sample {name}"));
    let (text, _) = rest.split_once("```").expect("its end");
    let byte = |word| u8::from_str_radix(word, 16).expect("two digits");
    text.split_whitespace().map(byte).collect()
}

fn read(end: &mut dyn Stream, buffer: &mut [u8]) -> usize {
    end.read(buffer, soon()).unwrap()
}

#[test]
fn a_stream_is_sent_and_acknowledged_as_printed() {
    let mut listener = listen();
    assert_eq!(joins()[1].write()[..], sample("join"));
    let ([mut first, mut second], end) = joined(&mut *listener, joins()).unwrap();
    let mut end = end.stream().unwrap();
    let mut buffer = [0; 10];

    second.write_all(&sample("piece")).unwrap();
    assert_eq!(read(&mut *end, &mut buffer), 2);
    assert_eq!(&buffer[..2], b"hi");
    assert!(matches!(end.try_read(&mut buffer), Err(Error::WouldBlock)));
    assert_eq!(received(&mut second, 25), sample("seen"));
    first.write_all(&sample("end")).unwrap();
    assert_eq!(read(&mut *end, &mut buffer), 0);
    assert_eq!(received(&mut first, 25), sample("seen-end"));

    // And the other way. To which rail it goes is the sender's to say.
    assert_eq!(end.try_write(b"hi").unwrap(), 2);
    assert_eq!(received(&mut first, 15), sample("piece"));
    first.write_all(&sample("seen")).unwrap();
    end.finish(soon()).unwrap();
    let behind = end.try_write(b"more").unwrap_err().to_string();
    assert!(behind.contains("behind the end"), "{behind}");
    end.wait(Ready::Receive, soon()).unwrap();
    drop(end);
    let ends = [&mut first, &mut second].map(|rail| {
        let mut rest = Vec::new();
        std::io::Read::read_to_end(rail, &mut rest).unwrap();
        rest
    });
    // On both, if this thread had a pause before it read what is not acknowledged.
    let is_known = |end: &Vec<u8>| end.is_empty() || *end == sample("end");
    assert!(ends.contains(&sample("end")) && ends.iter().all(is_known), "{ends:?}");
}

/// Reads what has come, and looks no further.
fn glance(end: &mut dyn Stream, buffer: &mut [u8]) -> usize {
    let patience = soon();
    loop {
        match end.try_read(buffer) {
            Err(Error::WouldBlock) => assert!(patience.left().is_some(), "nothing comes"),
            done => return done.unwrap(),
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn who_has_read_all_has_acknowledged_it() {
    let mut listener = listen();
    let ([_first, mut second], end) = joined(&mut *listener, joins()).unwrap();
    let mut end = end.stream().unwrap();
    second.write_all(&sample("piece")).unwrap();
    assert_eq!(glance(&mut *end, &mut [0; 10]), 2);
    assert_eq!(received(&mut second, 25), sample("seen"));
}

#[test]
fn a_rail_whose_acknowledgement_is_not_read_yet_is_not_silent() {
    let (transport, tales) = watched();
    let mut listener = listen_by(&transport);
    let ([mut first, second], end) = joined(&mut *listener, joins()).unwrap();
    let mut end = end.stream().unwrap();
    assert_eq!(end.try_write(b"hi").unwrap(), 2);
    assert_eq!(received(&mut first, 15), sample("piece"));
    first.write_all(&sample("seen")).unwrap();
    std::thread::sleep(2 * RAILS_PATIENCE);
    assert_eq!(end.try_write(b"hi").unwrap(), 2);
    second.set_nonblocking(true).unwrap();
    // The rest may go over either.
    let mut sent = [0; 15];
    let _ = second.peek(&mut sent);
    assert!(sent[..] != sample("piece"), "it is not sent again");
    assert_eq!(tales.try_iter().collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn an_orderly_end_is_no_death_of_the_rail_that_did_not_carry_it() {
    let (transport, tales) = watched();
    let mut listener = listen_by(&transport);
    let ([first, mut second], end) = joined(&mut *listener, joins()).unwrap();
    let mut end = end.stream().unwrap();
    second.write_all(&[sample("piece"), sample("end")].concat()).unwrap();
    drop((first, second));
    assert_eq!(glance(&mut *end, &mut [0; 10]), 2);
    assert_eq!(glance(&mut *end, &mut [0; 10]), 0);
    assert_eq!(tales.try_iter().collect::<Vec<_>>(), Vec::<String>::new());
}
