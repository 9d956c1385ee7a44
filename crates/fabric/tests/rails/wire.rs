//! `docs/wire/rails.md` says what the code does: its samples are sent to a real end and received
//! from one, byte for byte.

use crate::{joined, joins, listen, received, soon};
use muster_fabric::Error;
use muster_fabric::strategy::{Ready, Stream, Wait};
use std::io::Write;

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
    end.finish().unwrap();
    end.wait(Ready::Receive, soon()).unwrap();
    drop(end);
    let ends = [&mut first, &mut second].map(|rail| {
        let mut rest = Vec::new();
        std::io::Read::read_to_end(rail, &mut rest).unwrap();
        rest
    });
    assert!(ends.contains(&sample("end")) && ends.contains(&Vec::new()), "{ends:?}");
}
