//! Files with several requests under way.

use super::fake::{Fake, attached};
use crate::client::File;
use crate::error::Errno;
use crate::message::{Rmessage, Tmessage};
use crate::wire::Payload;
use std::io::{Read, Seek, SeekFrom, Write};
use std::time::Duration;

/// Serves one file of `content` until the client goes; answers reads and writes in pairs, the
/// later first, and returns what the file holds then.
fn serve(fake: &mut Fake, mut content: Vec<u8>) -> Vec<u8> {
    loop {
        let Some((tag, request)) = fake.request() else { return content };
        match request {
            Tmessage::Read { offset, count, .. } => {
                let start = content.len().min(offset as usize);
                let end = content.len().min(start + count as usize);
                fake.answer(tag, &Rmessage::Read { data: Payload(&content[start..end]) });
            }
            Tmessage::Write { offset, data, .. } => {
                let (start, count) = (offset as usize, data.0.len());
                content.resize(content.len().max(start + count), 0);
                content[start..start + count].copy_from_slice(data.0);
                fake.answer(tag, &Rmessage::Write { count: count as u32 });
            }
            Tmessage::Flush { .. } => fake.answer(tag, &Rmessage::Flush {}),
            Tmessage::Getattr { .. } => {
                let size = content.len() as u64;
                let attr = crate::record::Attr { size, ..Default::default() };
                fake.answer(tag, &Rmessage::Getattr { attr });
            }
            other => panic!("{other:?}"),
        }
    }
}

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at * 7 + at / 251) as u8).collect()
}

#[test]
fn deep_reads_and_writes_carry_every_byte() {
    for depth in [1, 2, 8] {
        let (client, server) = attached(|fake| serve(fake, pattern(100_001)));
        let mut file = File::new(client.root()).with_depth(depth);
        assert!(file.read_rest().expect("read") == pattern(100_001));
        assert_eq!(file.read(&mut [0; 9]).expect("the end"), 0);
        assert_eq!(file.seek(SeekFrom::End(-1)).expect("seek"), 100_000);
        let mut last = Vec::new();
        file.read_to_end(&mut last).expect("read");
        assert_eq!(last, [pattern(100_001)[100_000]]);
        file.rewind().expect("seek");
        let mut some = vec![0; 20_000];
        file.read_exact(&mut some).expect("read");
        assert!(some == pattern(20_000));
        // Writes go where the reader stands, whatever was read ahead.
        let new: Vec<u8> = pattern(150_000).into_iter().map(|byte| !byte).collect();
        file.write_all(&new).expect("write");
        file.flush().expect("flush");
        drop((file, client));
        let content = server.join().expect("script");
        assert!(content[..20_000] == pattern(20_000) && content[20_000..] == new);
    }
}

#[test]
fn an_error_behind_a_write_shows_at_the_flush() {
    let (client, server) = attached(|fake| {
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Write { count: 5 });
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Lerror { errno: 28 });
    });
    let mut file = File::new(client.root()).with_depth(4);
    file.write_all(b"first").expect("sent");
    file.write_all(b"second").expect("sent");
    let error = file.flush().expect_err("no space");
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
    assert_eq!(error.to_string(), "/: No space left on device");
    let inner = error.into_inner().expect("ours").downcast::<crate::error::Error>();
    assert_eq!(inner.expect("ours").errno, Errno::NOSPC);
    server.join().expect("script");
}

#[test]
fn a_short_write_is_no_success() {
    let (client, server) = attached(|fake| {
        let tag = fake.tag();
        fake.answer(tag, &Rmessage::Write { count: 4 });
    });
    let mut file = File::new(client.root()).with_depth(2);
    file.write_all(b"first").expect("sent");
    let error = file.flush().expect_err("four of five");
    assert!(error.to_string().contains("took 4 of 5 bytes"), "{error}");
    server.join().expect("script");
}

/// Once the first of them stayed at the server, with its tag and the bytes promised for it.
#[test]
fn reads_whose_deadline_has_passed_are_all_taken_back() {
    let (client, server) = attached(|fake| {
        let mut reads = [fake.tag(), fake.tag(), fake.tag()];
        let mut flushed = Vec::new();
        while flushed.len() < reads.len() {
            let Some((tag, Tmessage::Flush { oldtag })) = fake.request() else { break };
            flushed.push(oldtag);
            fake.answer(tag, &Rmessage::Flush {});
        }
        reads.sort_unstable();
        flushed.sort_unstable();
        assert_eq!(flushed, reads);
    });
    let hasty = client.with_deadlines(None, Some(Duration::from_millis(30)));
    let mut file = File::new(client.root().through(&hasty)).with_depth(3);
    assert_eq!(file.read_rest().expect_err("no answer").errno, Errno::TIMEDOUT);
    drop((file, client, hasty));
    server.join().expect("script");
}
