//! Put and get, by mapping and by message.

use super::*;
use crate::region::{Region, Rights};
use crate::strategy::{Completion, Key, RemoteCopy};
use muster_base::limits::{SHARED_WINDOW_BYTES_MAX, SHARED_WINDOWS_MAX};

fn ends() -> (Box<dyn RemoteCopy>, Box<dyn RemoteCopy>) {
    let (here, there) = pair(PIPELINED);
    (Box::new(here).remote_copy().unwrap(), Box::new(there).remote_copy().unwrap())
}

/// Lets both sides get on until an operation of the first has ended.
fn end(here: &mut dyn RemoteCopy, there: &mut dyn RemoteCopy) -> Completion {
    let end = soon();
    while end.left().is_some() {
        assert!(there.try_progress().unwrap().is_none());
        if let Some(done) = here.try_progress().unwrap() {
            return done;
        }
    }
    panic!("nothing has ended");
}

fn all_rights() -> [Rights; 3] {
    [Rights::ALL, Rights::READ, Rights::WRITE]
}

#[test]
fn a_mapped_region_is_reached_without_its_owners_doing() {
    let (mut here, mut there) = ends();
    let region = region(10_001, Rights::ALL).unwrap();
    let key = there.expose(&region).unwrap();
    let bytes = pattern(10_001, 5);
    here.try_put(key, 0, &bytes, 1).unwrap();
    assert!(matches!(here.try_progress().unwrap(), Some(Completion { token: 1, .. })));
    let mut got = vec![0; 10_001];
    region.read(0, &mut got).unwrap();
    assert!(got == bytes);
    here.try_get(key, 13, 77, 2).unwrap();
    let done = here.try_progress().unwrap().unwrap();
    assert!(done.token == 2 && done.bytes == bytes[13..90] && done.result.is_ok());
}

#[test]
fn every_kind_of_region_keeps_its_bounds_and_rights() {
    for rights in all_rights() {
        for region in [region(100, rights).unwrap(), Region::new(100, rights)] {
            let (mut here, mut there) = ends();
            let key = there.expose(&region).unwrap();
            let puts = [(key, 0, 100, rights.write), (key, 60, 41, false), (Key(99), 0, 1, false)];
            for (key, offset, count, is_right) in puts {
                here.try_put(key, offset, &vec![4; count], 7).unwrap();
                let done = end(&mut *here, &mut *there);
                assert_eq!(done.result.is_ok(), is_right, "{rights:?} put {offset} {count}");
            }
            let gets = [(0, 100, rights.read), (60, 41, false), (u64::MAX, 2, false)];
            for (offset, count, is_right) in gets {
                here.try_get(key, offset, count, 7).unwrap();
                let done = end(&mut *here, &mut *there);
                assert_eq!(done.result.is_ok(), is_right, "{rights:?} get {offset} {count}");
                assert!(!is_right || done.bytes == vec![if rights.write { 4 } else { 0 }; 100]);
            }
            there.withdraw(key).unwrap();
            here.try_get(key, 0, 1, 8).unwrap();
            assert!(end(&mut *here, &mut *there).result.is_err(), "{rights:?} after withdrawal");
        }
    }
}

/// A peer that exposes more than is mapped has it reached by messages, and one that says it exposes
/// more than there are addresses uses up none.
#[test]
fn what_a_peer_exposes_is_mapped_within_limits_and_reached_beyond() {
    let memory = segment::memory("test", 4096).unwrap();
    let mut windows = memory::Windows::default();
    for key in 0..SHARED_WINDOWS_MAX as u32 + 10 {
        windows.expose(key, 4096, &memory).unwrap();
    }
    let is_mapped = |windows: &memory::Windows, key: usize| windows.get(key as u32).is_some();
    assert!(is_mapped(&windows, 0) && is_mapped(&windows, SHARED_WINDOWS_MAX - 1));
    assert!(!is_mapped(&windows, SHARED_WINDOWS_MAX));
    windows.withdraw(3);
    windows.expose(3, SHARED_WINDOW_BYTES_MAX, &memory).unwrap();
    assert!(!is_mapped(&windows, 3), "too many bytes");
    windows.expose(3, 4096, &memory).unwrap();
    assert!(is_mapped(&windows, 3), "there is room again");

    let (mut here, mut there) = ends();
    let regions: Vec<Region> =
        (0..SHARED_WINDOWS_MAX + 3).map(|_| region(8, Rights::ALL).unwrap()).collect();
    let mut keys = Vec::new();
    for region in &regions {
        keys.push(there.expose(region).unwrap());
        // Looks at the socket, which has not room for all of them.
        here.try_get(keys[0], 0, 1, 0).unwrap();
        assert!(end(&mut *here, &mut *there).result.is_ok());
    }
    for (key, region) in keys.iter().zip(&regions) {
        here.try_put(*key, 0, &[9; 8], 1).unwrap();
        assert!(end(&mut *here, &mut *there).result.is_ok());
        let mut bytes = [0; 8];
        region.read(0, &mut bytes).unwrap();
        assert_eq!(bytes, [9; 8]);
    }
}

#[test]
fn a_region_that_no_memory_holds_is_an_error_and_not_a_small_one() {
    for size in [usize::MAX, usize::MAX - 7, isize::MAX as usize, 1 << 56] {
        let error = region(size, Rights::ALL).err().expect("no machine has it");
        assert!(matches!(error, Error::Exhausted { what: "memory", .. }), "{size}: {error}");
    }
}

#[test]
fn a_wait_for_room_is_not_over_because_something_has_ended() {
    let (mut here, mut there) = ends();
    let mapped = there.expose(&region(8, Rights::ALL).unwrap()).unwrap();
    let other = there.expose(&Region::new(8, Rights::ALL)).unwrap();
    here.try_put(mapped, 0, &[1], 0).unwrap();
    while here.try_put(other, 0, &[1], 1).is_ok() {}
    here.wait(Ready::Receive, soon()).unwrap();
    let error = here.wait(Ready::Send, Deadline::after(Duration::from_millis(5))).unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error}");
}

#[test]
fn the_kernel_keeps_a_peer_from_writing_what_it_may_only_read() {
    let region = region(100, Rights::READ).unwrap();
    let file = region.memory().file().unwrap();
    assert!(segment::map(file, 100, false).is_ok());
    assert!(segment::map(file, 100, true).is_err());
    region.write(0, &[1]).unwrap();
}

#[test]
fn operations_keep_their_order_when_some_are_messages() {
    let (mut here, mut there) = ends();
    let mapped = region(8, Rights::ALL).unwrap();
    let other = Region::new(8, Rights::ALL);
    let keys = [there.expose(&other).unwrap(), there.expose(&mapped).unwrap()];
    for token in 0..20_u64 {
        let key = keys[token as usize % 3 % 2];
        here.try_put(key, 0, &token.to_le_bytes(), token).unwrap();
    }
    for token in 0..20 {
        let done = end(&mut *here, &mut *there);
        assert!(done.token == token && done.result.is_ok(), "{done:?}");
    }
    let mut bytes = [0; 8];
    mapped.read(0, &mut bytes).unwrap();
    assert_eq!(u64::from_le_bytes(bytes), 19);
}
