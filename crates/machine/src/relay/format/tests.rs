use super::*;
use proptest::prelude::*;

/// What a sink was told, file data joined.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Told {
    Argv(String),
    Env(String),
    Arch(Option<String>),
    Dir(String, u32),
    Link(String, Vec<u8>),
    File(String, u32, Vec<u8>),
    Known(String, u32, u64, Vec<u8>),
    End,
}

#[derive(Debug, Default)]
struct Log {
    told: Vec<Told>,
    relay: Option<(u32, Vec<Target>)>,
    raw: Vec<u8>,
    open: Option<u64>,
}

impl Sink for Log {
    type Error = BadStream;
    fn raw(&mut self, bytes: &[u8]) -> Result<(), BadStream> {
        self.raw.extend_from_slice(bytes);
        Ok(())
    }
    fn relay(&mut self, most: u32, targets: Vec<Target>) -> Result<(), BadStream> {
        assert!(self.told.is_empty() && self.relay.is_none() && most > 0);
        self.relay = Some((most, targets));
        Ok(())
    }
    fn argv(&mut self, text: &str) -> Result<(), BadStream> {
        self.told.push(Told::Argv(text.into()));
        Ok(())
    }
    fn env(&mut self, text: &str) -> Result<(), BadStream> {
        self.told.push(Told::Env(text.into()));
        Ok(())
    }
    fn arch(&mut self, arch: Option<&str>) -> Result<(), BadStream> {
        self.told.push(Told::Arch(arch.map(str::to_owned)));
        Ok(())
    }
    fn dir(&mut self, path: &str, mode: u32) -> Result<(), BadStream> {
        assert!(is_safe_path(path));
        self.told.push(Told::Dir(path.into(), mode));
        Ok(())
    }
    fn link(&mut self, path: &str, target: &[u8]) -> Result<(), BadStream> {
        assert!(is_safe_path(path) && target.len() <= PATH_MAX);
        self.told.push(Told::Link(path.into(), target.into()));
        Ok(())
    }
    fn file(&mut self, path: &str, mode: u32, size: u64) -> Result<(), BadStream> {
        assert!(is_safe_path(path) && self.open.is_none());
        self.open = Some(size);
        self.told.push(Told::File(path.into(), mode, Vec::new()));
        Ok(())
    }
    fn known(&mut self, path: &str, mode: u32, of: Recipe) -> Result<(), BadStream> {
        let hashes = of.chunks.iter().flat_map(|hash| hash.0).collect();
        self.told.push(Told::Known(path.into(), mode, of.size, hashes));
        Ok(())
    }
    fn data(&mut self, bytes: &[u8]) -> Result<(), BadStream> {
        assert!(!bytes.is_empty());
        *self.open.as_mut().unwrap() -= bytes.len() as u64;
        let Some(Told::File(_, _, content)) = self.told.last_mut() else { panic!("no file") };
        content.extend_from_slice(bytes);
        Ok(())
    }
    fn file_end(&mut self) -> Result<(), BadStream> {
        assert_eq!(self.open.take(), Some(0));
        Ok(())
    }
    fn end(&mut self) -> Result<(), BadStream> {
        self.told.push(Told::End);
        Ok(())
    }
}

fn write(told: &[Told]) -> Vec<u8> {
    let mut out = Vec::new();
    for one in told {
        let (header, bytes) = match one {
            Told::Argv(text) => (Header::Argv(text.len()), text.as_bytes()),
            Told::Env(text) => (Header::Env(text.len()), text.as_bytes()),
            Told::Arch(arch) => (Header::Arch(arch.clone()), &b""[..]),
            Told::Dir(path, mode) => (Header::Dir(*mode, path.clone()), &b""[..]),
            Told::Link(path, target) => {
                (Header::Link(target.len(), path.clone()), target.as_slice())
            }
            Told::File(path, mode, content) => {
                let size = content.len() as u64;
                (Header::File(*mode, size, path.clone()), content.as_slice())
            }
            Told::Known(path, mode, size, hashes) => {
                (Header::Known(*mode, *size, path.clone()), hashes.as_slice())
            }
            Told::End => (Header::End, &b""[..]),
        };
        header.write(&mut out);
        out.extend_from_slice(bytes);
    }
    out
}

fn parse_in_pieces(bytes: &[u8], piece: usize) -> Result<Log, BadStream> {
    let (mut parser, mut log) = (Parser::default(), Log::default());
    for piece in bytes.chunks(piece.max(1)) {
        parser.push(piece, &mut log)?;
    }
    parser.finish()?;
    assert!(parser.is_done() && log.open.is_none());
    Ok(log)
}

#[test]
fn the_documented_sample_means_what_the_page_says() {
    let page = include_str!("../../../../../docs/wire/relay.md");
    let sample = page.split("```relay\n").nth(1).expect("a sample").split("```").next();
    let sample = sample.expect("its end").as_bytes();
    for piece in [1, 2, 7, sample.len()] {
        let log = parse_in_pieces(sample, piece).unwrap();
        let target = |address: &str, sessions: &[u32]| Target {
            address: address.into(),
            sessions: sessions.into(),
        };
        let targets = vec![target("unix!/run/m/n1.sock", &[3, 4]), target("tcp!::1!7117", &[0])];
        assert_eq!(log.relay, Some((2, targets)));
        let expected = vec![
            Told::Argv("./heat 'two words'".into()),
            Told::Env("LANG=C\n".into()),
            Told::File("heat".into(), 0o755, b"#!/bin/sh\necho \"$1\"\n".into()),
            Told::Dir("data".into(), 0o755),
            Told::File("data/it's empty".into(), 0o644, Vec::new()),
            Told::Link("data/latest".into(), b"it's empty".into()),
            Told::End,
        ];
        assert_eq!(log.told, expected);
        let first_line = sample.iter().position(|byte| *byte == b'\n').unwrap();
        assert_eq!(log.raw, &sample[first_line + 1..], "all but the relay line is passed on");
    }
}

#[test]
fn a_file_told_by_its_chunks_has_a_hash_for_each() {
    let size = muster_base::limits::CHUNK as u64 + 1;
    let hashes: Vec<u8> = (0..64).collect();
    let told = [Told::Known("a b".into(), 0o755, size, hashes), Told::End];
    for piece in [1, 50, 500] {
        assert_eq!(parse_in_pieces(&write(&told), piece).unwrap().told, told);
    }
}

#[test]
fn what_is_wrong_is_refused_and_stays_refused() {
    let huge = format!("argv {}\n", TEXT_MAX + 1);
    let long = format!("dir 755 {}\n", "a/".repeat(LINE_MAX));
    for (text, said) in [
        ("\n", "record that is none"),
        ("boo\n", "record that is none"),
        ("END\n", "record that is none"),
        ("end \n", "record that is none"),
        ("end x\n", "record that is none"),
        ("argv\n", "record that is none"),
        ("argv -1\n", "record that is none"),
        ("argv +1\n", "record that is none"),
        ("argv 01\n", "record that is none"),
        ("known 755 99999999999999 x\n", "a file's hashes of "),
        ("argv 5 x\n", "record that is none"),
        ("argv 99999999999999999999\n", "record that is none"),
        ("arch\n", "record that is none"),
        ("arch all x\n", "record that is none"),
        ("arch x86-64\n", "record that is none"),
        ("dir 755\n", "path that is refused"),
        ("dir 4755 d\n", "record that is none"),
        ("dir 8 d\n", "record that is none"),
        ("dir  d\n", "record that is none"),
        ("dir 755 /etc\n", "path that is refused"),
        ("dir 755 a/../../b\n", "path that is refused"),
        ("dir 755 .\n", "path that is refused"),
        ("dir 755 a//b\n", "path that is refused"),
        ("dir 755 a/\n", "path that is refused"),
        ("dir 755 ''\n", "path that is refused"),
        ("dir 755 a b\n", "path that is refused"),
        ("dir 755 'a\n", "path that is refused"),
        ("dir 755 a\0b\n", "not a text"),
        ("file 644 9223372036854775808 f\n", "record that is none"),
        ("link 0 l\n", "link target that is not a text"),
        ("link 4096 l\n", "a link target of 4096 bytes"),
        ("argv 1\n\0", "an argv that is not a text"),
        ("env 1\n\u{80}", "an env that is not a text"),
        ("relay 0 a/1\nend\n", "record that is none"),
        ("relay 1 a/1,\nend\n", "no list of sessions"),
        ("relay 1 a\nend\n", "no list of sessions"),
        ("relay 1 /1\nend\n", "no list of sessions"),
        ("relay 1 a/1+\nend\n", "no list of sessions"),
        ("argv 0\nrelay 1 a/1\n", "twice or too late"),
        ("relay 1 a/1\nrelay 1 a/1\n", "twice or too late"),
        ("end\nend\n", "goes on after its end"),
        ("file 644 5 f\nabc", "cut off"),
        ("argv 0\n", "cut off"),
        ("", "cut off"),
        (huge.as_str(), "more than 2097152"),
        (long.as_str(), "header line of more than"),
    ] {
        for piece in [1, text.len()] {
            let error = parse_in_pieces(text.as_bytes(), piece).unwrap_err().to_string();
            assert!(error.contains(said), "{:?}: {error}", &text[..text.len().min(50)]);
        }
    }
    let (mut parser, mut log) = (Parser::default(), Log::default());
    assert!(parser.push(b"boo\n", &mut log).is_err());
    assert_eq!(parser.push(b"end\n", &mut log), Err(BadStream::Broken));
    assert_eq!(parser.finish(), Err(BadStream::Broken));
}

#[test]
fn targets_may_have_any_path() {
    let targets = vec![
        Target { address: "unix!/tmp/a,b/c d/n1".into(), sessions: vec![7] },
        Target { address: "tcp!::1!5".into(), sessions: vec![0, u32::MAX] },
    ];
    assert_eq!(read_targets(&write_targets(&targets)), Ok(targets.clone()));
    let mut line = Vec::new();
    Header::Relay(3, targets.clone()).write(&mut line);
    assert_eq!(Header::read(&line[..line.len() - 1]), Ok(Header::Relay(3, targets)));
}

fn path() -> impl Strategy<Value = String> {
    let name = "[^/\n\0]{1,12}".prop_filter("dots", |name| name != "." && name != "..");
    prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

fn record() -> impl Strategy<Value = Told> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..300);
    prop_oneof![
        "[^\0]{0,40}".prop_map(Told::Argv),
        "[^\0]{0,40}".prop_map(Told::Env),
        prop::option::of("[a-z0-9_]{4,11}").prop_map(Told::Arch),
        (path(), 0u32..=0o777).prop_map(|(path, mode)| Told::Dir(path, mode)),
        (path(), "[^\0]{1,40}").prop_map(|(path, to)| Told::Link(path, to.into_bytes())),
        (path(), 0u32..=0o777, bytes())
            .prop_map(|(path, mode, data)| { Told::File(path, mode, data) }),
    ]
}

proptest! {
    #[test]
    fn records_come_back_as_they_went(
        records in prop::collection::vec(record(), 0..12),
        piece in 1usize..200,
    ) {
        let mut records = records;
        records.push(Told::End);
        let bytes = write(&records);
        let log = parse_in_pieces(&bytes, piece).unwrap();
        prop_assert_eq!(log.told, records);
        prop_assert_eq!(log.raw, bytes);
    }

    #[test]
    fn no_bytes_do_harm(
        records in prop::collection::vec(record(), 0..6),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        piece in 1usize..200,
    ) {
        let mut bytes = write(&records);
        bytes.extend_from_slice(b"end\n");
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        // The sink's assertions are the test.
        let _ = parse_in_pieces(&bytes, piece);
    }
}
