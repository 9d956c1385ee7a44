//! Promises about remote copies.

use super::{Subject, is_end, late, meet, pattern, soon, together};
use crate::deadline::Deadline;
use crate::error::Error;
use crate::region::{Region, Rights};
use crate::strategy::{Completion, Key, Ready, RemoteCopy, Wait};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Runs `ask` at one end while the other, which exposes a region, only lets things get on.
fn copy(
    subject: &impl Subject,
    region: &Region,
    ask: impl FnOnce(&mut dyn RemoteCopy, Key) + Send,
) {
    tended(subject, |owner| owner.expose(region).unwrap(), |_| (), ask);
}

/// Runs `ask` at one end, with what the other has exposed; that one lets things get on, and does
/// meanwhile what `tend` says.
fn tended<K: Send>(
    subject: &impl Subject,
    expose: impl FnOnce(&mut dyn RemoteCopy) -> K,
    mut tend: impl FnMut(&mut dyn RemoteCopy),
    ask: impl FnOnce(&mut dyn RemoteCopy, K) + Send,
) {
    let (connected, accepted) = meet(subject);
    let mut owner = accepted.remote_copy().unwrap();
    let keys = expose(&mut *owner);
    let done = AtomicBool::new(false);
    let asking = || {
        let mut asker = connected.remote_copy().unwrap();
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ask(&mut *asker, keys)));
        done.store(true, Ordering::Release);
        outcome.map(|()| asker)
    };
    let (asked, ()) = together(asking, || {
        while !done.load(Ordering::Acquire) {
            tend(&mut *owner);
            assert!(owner.try_progress().unwrap().is_none(), "the owner asked for nothing");
            let moment = Deadline::after(Duration::from_millis(1));
            match owner.wait(Ready::Receive, moment) {
                Ok(()) | Err(Error::Deadline { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    });
    if let Err(panic) = asked {
        std::panic::resume_unwind(panic);
    }
}

fn completion(end: &mut dyn RemoteCopy) -> Completion {
    loop {
        match end.try_progress().unwrap() {
            Some(completion) => return completion,
            None => end.wait(Ready::Receive, soon()).unwrap(),
        }
    }
}

/// Puts and gets of some MiB arrive whole, take effect in order and complete once each.
pub fn large_copies_arrive(subject: &impl Subject) {
    let region = Region::new(5_000_000, Rights::ALL);
    let bytes = pattern(4_000_001, 3);
    copy(subject, &region, |end, key| {
        end.try_put(key, 17, &bytes, 1).unwrap();
        end.try_put(key, 18, b"later", 2).unwrap();
        end.try_get(key, 17, bytes.len(), 3).unwrap();
        for token in [1, 2] {
            let put = completion(end);
            assert_eq!((put.token, put.result.is_ok()), (token, true));
        }
        let got = completion(end);
        assert_eq!((got.token, &got.bytes[1..6]), (3, &b"later"[..]));
        assert!(got.bytes[6..] == bytes[6..] && got.result.is_ok());
        assert!(end.try_progress().unwrap().is_none(), "each completes once");
    });
    let mut there = [0; 5];
    region.read(18, &mut there).unwrap();
    assert_eq!(&there, b"later");
}

/// The owner's rights and bounds hold, a refusal changes nothing, and the connection goes on.
pub fn copies_respect_rights_and_bounds(subject: &impl Subject) {
    let region = Region::new(1000, Rights::READ);
    copy(subject, &region, |end, key| {
        let refused = |end: &mut dyn RemoteCopy, token| {
            let completion = completion(end);
            let error = completion.result.expect_err("this is not allowed");
            assert!(matches!(error, Error::Access { .. }), "{error}");
            assert_eq!((completion.token, completion.bytes.len()), (token, 0));
        };
        end.try_put(key, 0, b"x", 1).unwrap();
        refused(end, 1);
        end.try_get(key, 1, 1000, 2).unwrap();
        refused(end, 2);
        end.try_get(key, u64::MAX, 2, 3).unwrap();
        refused(end, 3);
        end.try_get(Key(key.0 ^ 0x5555), 0, 1, 4).unwrap();
        refused(end, 4);
        end.try_get(key, 0, 1000, 5).unwrap();
        assert_eq!(completion(end).bytes, [0; 1000]);
    });
    let region = Region::new(1000, Rights::WRITE);
    copy(subject, &region, |end, key| {
        end.try_get(key, 0, 1, 1).unwrap();
        assert!(completion(end).result.is_err());
        end.try_put(key, 500, &[1; 501], 2).unwrap();
        assert!(completion(end).result.is_err());
        end.try_put(key, 999, &[2], 3).unwrap();
        assert!(completion(end).result.is_ok());
    });
    let mut there = [0; 1000];
    region.read(0, &mut there).unwrap();
    assert!(there[..999].iter().all(|&byte| byte == 0) && there[999] == 2);
}

/// A region that was withdrawn is out of reach, and others are not. What was refused has changed
/// nothing.
pub fn a_withdrawn_region_is_out_of_reach(subject: &impl Subject) {
    let regions = [1, 2].map(|_| Region::new(100, Rights::ALL));
    let keys = std::sync::OnceLock::new();
    let (asked, mut withdrawn) = (AtomicBool::new(false), false);
    let is_withdrawn = AtomicBool::new(false);
    let expose = |owner: &mut dyn RemoteCopy| {
        *keys.get_or_init(|| regions.each_ref().map(|region| owner.expose(region).unwrap()))
    };
    let tend = |owner: &mut dyn RemoteCopy| {
        if asked.load(Ordering::Acquire) && !std::mem::replace(&mut withdrawn, true) {
            owner.withdraw(keys.get().expect("they were exposed")[0]).unwrap();
            is_withdrawn.store(true, Ordering::Release);
        }
    };
    tended(subject, expose, tend, |end, [gone, stays]| {
        let put = |end: &mut dyn RemoteCopy, key, byte| {
            end.try_put(key, 0, &[byte], u64::from(byte)).unwrap();
            completion(end).result
        };
        put(end, gone, 1).unwrap();
        put(end, stays, 1).unwrap();
        asked.store(true, Ordering::Release);
        let late = late(subject);
        // That it was withdrawn may have to get here, and what has begun may still end.
        while !is_withdrawn.load(Ordering::Acquire) || put(end, gone, 2).is_ok() {
            assert!(late.left().is_some(), "a region that was withdrawn is still within reach");
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut before = [0];
        regions[0].read(0, &mut before).unwrap();
        let refused = put(end, gone, 3).expect_err("it was withdrawn");
        assert!(matches!(refused, Error::Access { .. }), "{refused}");
        end.try_get(gone, 0, 1, 4).unwrap();
        let read = completion(end);
        assert!(matches!(read.result, Err(Error::Access { .. })) && read.bytes.is_empty());
        let mut after = [0];
        regions[0].read(0, &mut after).unwrap();
        assert_eq!(before, after, "a put that was refused has changed something");
        put(end, stays, 5).unwrap();
        end.try_get(stays, 0, 1, 6).unwrap();
        assert_eq!(completion(end).bytes, [5]);
    });
}

/// Who puts when the peer is gone is told so, and so is who lets things get on after that.
pub fn a_put_after_the_end_is_told_of_it(subject: &impl Subject) {
    let (connected, accepted) = meet(subject);
    let (mut end, mut owner) = (connected.remote_copy().unwrap(), accepted.remote_copy().unwrap());
    let key = owner.expose(&Region::new(1000, Rights::ALL)).unwrap();
    drop(owner);
    told_of_the_end(|| end.try_put(key, 0, &[1; 1000], 1));
    for _ in 0..2 {
        told_of_the_end(|| end.try_progress().map(drop));
    }
}

fn told_of_the_end(mut ask: impl FnMut() -> crate::Result<()>) {
    let late = soon();
    loop {
        match ask() {
            Ok(()) | Err(Error::WouldBlock) => assert!(late.left().is_some(), "nobody tells"),
            Err(error) => return assert!(is_end(&error), "{error}"),
        }
    }
}
