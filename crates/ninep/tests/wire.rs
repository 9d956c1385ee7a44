//! `docs/wire/9p.md` says what the code does: every sample in it is decoded, compared with the
//! text above its bytes and encoded again, and every message has one.

use muster_base::limits;
use muster_ninep::message::{Frame, Rmessage, Tmessage};
use muster_ninep::record::{DirEntry, Stat};
use muster_ninep::version::{Dialect, Version};
use muster_ninep::wire::{Malformed, Reader, Writer};
use std::collections::{BTreeMap, BTreeSet};

const DOCUMENT: &str = include_str!("../../../docs/wire/9p.md");

/// One block of the document: its title, what it says, and the bytes.
struct Sample<'a> {
    title: Vec<&'a str>,
    text: String,
    bytes: Vec<u8>,
}

impl Sample<'_> {
    fn dialect(&self) -> Dialect {
        match self.title[1] {
            "9P2000.L.muster" => Version::MUSTER.dialect,
            version => Version::agree(version).expect("a version").dialect,
        }
    }
}

fn hex(line: &str) -> Option<Vec<u8>> {
    let byte = |word: &str| match word.len() {
        2 => u8::from_str_radix(word, 16).ok(),
        _ => None,
    };
    line.split(' ').map(byte).collect()
}

fn samples() -> Vec<Sample<'static>> {
    let blocks = DOCUMENT.split("```9p ").skip(1);
    let sample = |block: &'static str| {
        let block = block.split("```").next().expect("a block ends");
        let (title, rest) = block.split_once('\n').expect("a title");
        let (bytes, text): (Vec<_>, Vec<_>) = rest.lines().partition(|line| hex(line).is_some());
        Sample {
            title: title.split(' ').collect(),
            text: text.join(" "),
            bytes: bytes.iter().flat_map(|line| hex(line).expect("hex")).collect(),
        }
    };
    blocks.map(sample).collect()
}

/// A message's Debug text as the document prints it: without the names of wrappers, and bytes as
/// text, or as their number.
fn printed(debug: &str) -> String {
    const WRAPPERS: [&str; 8] = [
        "Payload(",
        "Qids(",
        "UserNumber(",
        "Extension(",
        "ErrorNumber(",
        "DataSync(",
        "Boxed(",
        "Some(",
    ];
    let mut open = Vec::new();
    let mut out = String::new();
    let mut rest = debug;
    while let Some(next) = rest.chars().next() {
        if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| rest.starts_with(**wrapper)) {
            open.push(true);
            rest = &rest[wrapper.len()..];
            continue;
        }
        if let Some((list, behind)) = byte_list(rest) {
            match String::from_utf8(list.clone()) {
                Ok(text) if text.bytes().all(|byte| (32..127).contains(&byte)) => {
                    out.push_str(&format!("'{text}'"));
                }
                _ => out.push_str(&format!("{} bytes", list.len())),
            }
            rest = behind;
            continue;
        }
        rest = &rest[next.len_utf8()..];
        match next {
            '(' => open.push(false),
            ')' if open.pop() == Some(true) => continue,
            _ => {}
        }
        out.push(next);
    }
    out
}

/// A list of numbers at the start of a text, and what is behind it.
fn byte_list(text: &str) -> Option<(Vec<u8>, &str)> {
    let (list, behind) = text.strip_prefix('[')?.split_once(']')?;
    let bytes = list.split(", ").map(|number| number.parse().ok()).collect::<Option<_>>()?;
    Some((bytes, behind))
}

/// The message's text, and what it encodes to.
fn message(sample: &Sample<'_>) -> (String, Vec<u8>) {
    let dialect = sample.dialect();
    let (frame, size) = Frame::cut(&sample.bytes, u32::MAX).expect("a size").expect("whole");
    assert_eq!(size, sample.bytes.len(), "{}", sample.text);
    assert_eq!(sample.title[2], frame.tag.to_string(), "{}", sample.text);
    let mut out = Vec::new();
    let (text, name) = if sample.title[0].starts_with('T') {
        let message = frame.request(dialect).expect("a request");
        message.encode(frame.tag, dialect, &mut out);
        (format!("{message:?}"), format!("T{}", message.name()))
    } else {
        let message = frame.answer(dialect).expect("an answer");
        message.encode(frame.tag, dialect, &mut out);
        (format!("{message:?}"), format!("R{}", message.name()))
    };
    assert_eq!(sample.title[0], name);
    (text, out)
}

#[test]
fn every_sample_is_what_it_says() {
    for sample in samples() {
        let dialect = sample.dialect();
        let mut out = Vec::new();
        let text = match sample.title[0] {
            "stat" => {
                let mut from = Reader::new(&sample.bytes, dialect);
                let stat: Stat<'_> = from.get().expect("a stat");
                from.end().expect("no more");
                Writer { out: &mut out, dialect }.put(&stat);
                format!("{stat:?}")
            }
            "dirent" => {
                let mut from = Reader::new(&sample.bytes, dialect);
                let entry = DirEntry::get(&mut from).expect("an entry");
                from.end().expect("no more");
                entry.put(&mut Writer { out: &mut out, dialect });
                assert_eq!(entry.size(), out.len());
                format!("{entry:?}").replace(", attr: None", "")
            }
            _ => {
                let (text, bytes) = message(&sample);
                out = bytes;
                text
            }
        };
        assert_eq!(printed(&text), sample.text);
        assert_eq!(out, sample.bytes, "{}", sample.text);
    }
}

#[test]
fn every_message_has_a_sample_and_a_section() {
    let titles: BTreeSet<_> = samples().iter().map(|sample| sample.title[0].to_owned()).collect();
    let bytes = samples();
    let numbers: BTreeMap<u8, &str> = bytes
        .iter()
        .filter(|sample| sample.title.len() == 3)
        .map(|sample| (sample.bytes[4], sample.title[0]))
        .collect();
    for number in 0..=255 {
        for dialect in [Dialect::Plan9, Dialect::Unix, Dialect::Linux] {
            let known = |read: Result<(), Malformed>| read != Err(Malformed::Type(number));
            let from = Reader::new(&[], dialect);
            if known(Tmessage::decode(number, from.clone()).map(drop))
                || known(Rmessage::decode(number, from).map(drop))
            {
                assert!(numbers.contains_key(&number), "type {number} has no sample");
            }
        }
    }
    for (number, name) in numbers {
        let section = format!("`{}{}` {number}", &name[..1], &lower(&name[1..]));
        assert!(DOCUMENT.contains(&section), "no section names {section}");
    }
    assert!(titles.contains("stat") && titles.contains("dirent"));
}

fn lower(name: &str) -> String {
    name[..1].to_lowercase() + &name[1..]
}

#[test]
fn every_field_of_a_request_is_in_its_table() {
    for sample in samples().iter().filter(|sample| sample.title.len() == 3) {
        let (kind, name) = sample.title[0].split_at(1);
        let section = DOCUMENT.split("### ").find(|section| {
            let heading = section.lines().next().expect("a line");
            heading.contains(&format!("`{kind}{}`", lower(name)))
        });
        let section = section.expect("a section");
        let Some((_, fields)) = sample.text.split_once(" { ") else { continue };
        let mut depth = 0;
        for part in fields.split(", ") {
            let field = part.split_once(": ").map_or("", |(field, _)| field);
            let row = format!("| {kind} | {field} |");
            assert!(depth > 0 || field.is_empty() || section.contains(&row), "{row} in {name}");
            depth += part.matches(['{', '[']).count() as i32;
            depth -= part.matches(['}', ']']).count() as i32;
        }
    }
}

#[test]
fn the_limits_are_those_of_the_code() {
    let limits = [
        ("MSIZE_FIRST", limits::MSIZE_FIRST),
        ("MSIZE_MIN", limits::MSIZE_MIN),
        ("MSIZE_MAX", limits::MSIZE_MAX),
        ("WALK_MAX", limits::WALK_MAX),
        ("NAME_MAX", limits::NAME_MAX),
        ("PATH_MAX", limits::PATH_MAX),
        ("FIDS_MAX", limits::FIDS_MAX),
        ("PATHS_MAX", limits::PATHS_MAX),
        ("XATTR_MAX", limits::XATTR_MAX),
        ("OUTBOX_MAX", limits::OUTBOX_MAX),
        ("CONNECTIONS_MAX", limits::CONNECTIONS_MAX),
        ("RECEIVE_MAX", limits::RECEIVE_MAX),
    ];
    for (name, value) in limits {
        assert!(DOCUMENT.contains(&format!("| {name} | {value} |")), "{name} is {value}");
    }
}

/// All requests of the document, for the fuzzer that works on files: one conversation for each
/// version. With `MUSTER_WRITE_SEEDS` set they are written anew.
#[test]
fn the_seeds_of_the_fuzzer_are_the_samples() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/ninep_ram");
    let mut conversations: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    let samples = samples();
    for sample in samples.iter().filter(|sample| sample.title.len() == 3) {
        let (kind, version) = (sample.title[0], sample.title[1]);
        if kind.starts_with('T') && kind != "Tversion" {
            let conversation = conversations.entry(version).or_insert_with(|| opening(version));
            conversation.extend_from_slice(&sample.bytes);
        }
    }
    for (version, conversation) in conversations {
        let file = format!("{folder}/{version}");
        if std::env::var_os("MUSTER_WRITE_SEEDS").is_some() {
            std::fs::write(&file, &conversation).expect("a file");
        }
        let kept = std::fs::read(&file).expect("a file");
        assert!(kept == conversation, "{file} is old: run this with MUSTER_WRITE_SEEDS=1");
    }
}

fn opening(version: &str) -> Vec<u8> {
    let dialect = Version::agree(version).expect("a version").dialect;
    let mut bytes = Vec::new();
    Tmessage::Version { msize: 8216, version }.encode(0xffff, dialect, &mut bytes);
    let n_uname = muster_ninep::message::UserNumber(0);
    for fid in 0..3 {
        let attach = Tmessage::Attach { fid, afid: !0, uname: "", aname: "", n_uname };
        attach.encode(1, dialect, &mut bytes);
    }
    bytes
}
