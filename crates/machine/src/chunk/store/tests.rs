//! Tests of what is kept.

use super::*;
use crate::relay::receive::Landing;
use crate::scratch::Scratch;
use std::ops::{Deref, DerefMut};

/// Chunks whose directory goes with the test.
struct Kept {
    chunks: Chunks,
    _directory: Scratch,
}

impl Deref for Kept {
    type Target = Chunks;

    fn deref(&self) -> &Chunks {
        &self.chunks
    }
}

impl DerefMut for Kept {
    fn deref_mut(&mut self) -> &mut Chunks {
        &mut self.chunks
    }
}

fn chunks(of: &str) -> Kept {
    let directory = Scratch::new(&format!("chunks-{of}"));
    Kept { chunks: Chunks::new(directory.to_owned()), _directory: directory }
}

fn bytes(seed: u8, length: usize) -> Vec<u8> {
    (0..length).map(|at| seed.wrapping_add((at % 251) as u8)).collect()
}

fn recipe(parts: &[&[u8]]) -> Recipe {
    let size = parts.iter().map(|part| part.len() as u64).sum();
    Recipe { size, chunks: parts.iter().map(|part| Hash::of(part)).collect() }
}

#[test]
fn a_file_grows_out_of_its_chunks_and_shares_them_with_the_next() {
    let mut kept = chunks("grow");
    let (a, b, c) = (bytes(1, CHUNK), bytes(2, CHUNK), bytes(3, 77));
    let one = recipe(&[&a, &b, &a, &c]);
    let name = kept.keep(0o755, &one).unwrap();
    assert!(kept.lack(&[name], &one.chunks[0]) && !kept.is_whole(&name));
    for part in [&c, &a, &b] {
        kept.take(&Hash::of(part), part).unwrap();
    }
    let whole = [&a[..], &b, &a, &c].concat();
    assert_eq!(fs::read(kept.path(&name)).unwrap(), whole);
    assert_eq!(fs::metadata(kept.path(&name)).unwrap().mode() & 0o777, 0o755);
    // All of the second is there.
    let other = kept.keep(0o644, &recipe(&[&b, &c])).unwrap();
    assert_eq!(fs::read(kept.path(&other)).unwrap(), [&b[..], &c].concat());
    assert!(kept.is_whole(&other));
}

#[test]
fn the_nodes_of_a_machine_share_the_room() {
    let home = Scratch::new("chunks-share");
    let mut nodes = ["n1", "n2", "n3"].map(|node| Chunks::of_node(&home.join(node), &home));
    for node in &nodes {
        fs::create_dir_all(&node.directory).unwrap();
    }
    // What else is there keeps nothing.
    fs::create_dir_all(home.join("n4")).unwrap();
    assert_eq!(nodes.each_mut().map(Chunks::sharers), [3; 3]);
}

/// It filled the disk until the node ended, and nobody counted it.
#[test]
fn what_a_daemon_that_was_killed_has_kept_goes_with_the_next_one() {
    let home = Scratch::new("chunks-killed");
    let left = home.join("n1").join(CHUNKS);
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("part"), "x").unwrap();
    let _ = Chunks::of_node(&home.join("n1"), &home);
    assert!(!left.exists());
}

#[test]
fn what_is_left_of_a_file_that_grew_is_not_wanted_again_and_a_whole_one_is_taken_over() {
    let mut kept = chunks("left");
    let (a, b, c) = (bytes(1, CHUNK), bytes(2, CHUNK), bytes(3, CHUNK));
    let one = recipe(&[&a, &b, &c]);
    let name = kept.keep(0o755, &one).unwrap();
    kept.take(&one.chunks[0], &a).unwrap();
    kept.take(&one.chunks[1], &b).unwrap();
    // It is killed, and a byte of what it wrote was never written.
    let file = File::options().write(true).open(kept.path(&name)).unwrap();
    file.write_all_at(&[b[7] ^ 1], CHUNK as u64 + 7).unwrap();
    let mut next = Chunks::new(kept.directory.clone());
    assert_eq!(next.adopt(0o755, &one), None);
    next.keep(0o755, &one).unwrap();
    let lacks = |hash: &Hash| next.lack(&[name], hash);
    assert_eq!([&one.chunks[0], &one.chunks[1], &one.chunks[2]].map(lacks), [false, true, true]);
    next.take(&one.chunks[2], &c).unwrap();
    next.take(&one.chunks[1], &b).unwrap();
    assert_eq!(fs::read(next.path(&name)).unwrap(), [a, b, c].concat());
    assert_eq!(Chunks::new(kept.directory.clone()).adopt(0o755, &one), Some(name));
}

#[test]
fn a_link_under_the_name_of_a_file_that_grows_is_not_followed() {
    let mut kept = chunks("link");
    let of = recipe(&[&bytes(1, 5000)]);
    let precious = kept.directory.with_extension("precious");
    fs::create_dir_all(&kept.directory).unwrap();
    fs::write(&precious, "precious").unwrap();
    std::os::unix::fs::symlink(&precious, kept.path(&super::name(0o644, &of))).unwrap();
    let refused = kept.keep(0o644, &of).unwrap_err();
    assert_eq!(refused.errno, Errno::LOOP);
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    fs::remove_file(&precious).unwrap();
}

#[test]
fn a_file_that_two_have_taken_over_goes_with_the_second_of_them() {
    let mut kept = chunks("twice");
    let a = bytes(1, 5000);
    let of = recipe(&[&a]);
    let name = kept.keep(0o644, &of).unwrap();
    kept.take(&of.chunks[0], &a).unwrap();
    let mut next = Chunks::new(kept.directory.clone());
    assert_eq!([(); 2].map(|()| next.adopt(0o644, &of)), [Some(name); 2]);
    next.release(&name);
    // There is no room for so much, and still it stays.
    next.make_room(u64::MAX);
    assert!(next.path(&name).exists());
    next.release(&name);
    next.make_room(u64::MAX);
    assert!(!next.path(&name).exists());
}

#[test]
fn what_was_taken_over_and_is_wrong_comes_again_where_it_is_and_is_copied_to_nobody() {
    let mut kept = chunks("unseen");
    let (a, b) = (bytes(1, CHUNK), bytes(2, CHUNK));
    let of = recipe(&[&a, &b]);
    let name = kept.keep(0o644, &of).unwrap();
    of.chunks.iter().zip([&a, &b]).for_each(|(hash, part)| kept.take(hash, part).unwrap());
    let file = File::options().write(true).open(kept.path(&name)).unwrap();
    file.write_all_at(&[b[7] ^ 1], CHUNK as u64 + 7).unwrap();
    let mut next = Chunks::new(kept.directory.clone());
    assert_eq!(next.adopt(0o644, &of), Some(name));
    let open = next.open(&name).unwrap();
    let other = next.keep(0o600, &of).unwrap();
    assert_eq!([0, 1].map(|at| next.lack(&[other], &of.chunks[at])), [false, true]);
    let look = next.to_check(&name).expect("it seems to be whole");
    next.checked(&name, &look, absent(&look.file, &of)).unwrap();
    assert!(next.to_check(&name).is_none() && !next.is_whole(&name));
    assert_eq!(next.keep(0o644, &of).unwrap(), name);
    assert_eq!([0, 1].map(|at| next.lack(&[name], &of.chunks[at])), [false, true]);
    next.take(&of.chunks[1], &b).unwrap();
    assert!(next.is_whole(&name));
    let mut all = vec![0; 2 * CHUNK];
    open.read_exact_at(&mut all, 0).unwrap();
    assert_eq!(all, [a, b].concat(), "who had it open has what came again");
    // What is right is not asked for again.
    let look = next.to_check(&name).unwrap();
    next.checked(&name, &look, absent(&look.file, &of)).unwrap();
    assert!(next.is_whole(&name));
}

#[test]
fn a_corrupt_chunk_is_refused_and_the_right_one_still_taken() {
    let mut kept = chunks("corrupt");
    let a = bytes(1, 5000);
    let name = kept.keep(0o755, &recipe(&[&a])).unwrap();
    for wrong in [&bytes(2, 5000)[..], &a[..4999], b""] {
        let refused = kept.take(&Hash::of(&a), wrong).unwrap_err();
        assert!(refused.text.contains("corrupt"), "{refused}");
    }
    assert!(kept.lack(&[name], &Hash::of(&a)));
    kept.take(&Hash::of(&a), &a).unwrap();
    assert_eq!(fs::read(kept.path(&name)).unwrap(), a);
}

#[test]
fn a_file_that_was_written_to_is_made_anew() {
    let mut kept = chunks("written");
    let a = bytes(1, 5000);
    let of = recipe(&[&a]);
    let name = kept.keep(0o755, &of).unwrap();
    kept.take(&Hash::of(&a), &a).unwrap();
    assert!(kept.keep(0o755, &of).is_ok() && kept.is_whole(&name));
    fs::write(kept.path(&name), b"#!/bin/false\n").unwrap();
    kept.keep(0o755, &of).unwrap();
    assert!(kept.lack(&[name], &of.chunks[0]));
    // Nor does another file get its bytes.
    kept.take(&Hash::of(&a), &a).unwrap();
    fs::write(kept.path(&name), b"#!/bin/false\n").unwrap();
    let other = kept.keep(0o600, &of).unwrap();
    assert!(kept.lack(&[other], &of.chunks[0]));
    kept.release(&other);
    assert!(!kept.path(&other).exists() && kept.path(&name).exists());
}

#[test]
fn what_a_job_may_write_to_is_its_own() {
    let mut kept = chunks("own");
    let home = kept.directory.with_extension("session");
    let _ = fs::remove_dir_all(&home);
    fs::create_dir(&home).unwrap();
    let landing =
        Landing { directory: home.clone(), argv: Default::default(), env: Default::default() };
    let mut session = Unpacker::new(vec![landing.clone()], "").unwrap();
    let mut copier = Unpacker::new(vec![landing], "").unwrap().take_places();
    let data = bytes(1, 5000);
    let program = [b"\x7fELF", &data[..]].concat();
    let script = [b"#!/bin/sh\n", &data[..]].concat();
    let cases: [(&str, u32, &[u8], bool); 7] = [
        ("program", 0o755, &program, true),
        ("script", 0o700, &script, true),
        ("read-only", 0o444, &data, true),
        ("data", 0o644, &data, false),
        ("data-of-fat", 0o755, &data, false),
        ("data-of-all", 0o777, &data, false),
        ("program-of-all", 0o777, &program, false),
    ];
    for (path, mode, whole, is_shared) in cases {
        let name = kept.keep(mode, &recipe(&[whole])).unwrap();
        kept.take(&Hash::of(whole), whole).unwrap();
        assert_eq!(kept.give(&name, &mut session, path).unwrap(), is_shared);
        if !is_shared {
            let (file, mode) = kept.to_copy(&name, path).unwrap();
            copier.copy(path, (&file, mode), &mut |step| step()).unwrap();
        }
        let (own, store) = (home.join(path), kept.path(&name));
        assert_eq!(fs::read(&own).unwrap(), whole);
        let inode = |path| fs::metadata(path).unwrap().ino();
        assert_eq!(inode(&own) == inode(&store), is_shared, "{path}");
        if !is_shared {
            fs::write(&own, "changed").unwrap();
            assert_eq!(fs::read(&store).unwrap(), whole, "{path}");
        }
    }
    // What was written to all the same is given to nobody.
    let name = kept.keep(0o755, &recipe(&[&program])).unwrap();
    fs::write(home.join("program"), "changed").unwrap();
    let refused = kept.give(&name, &mut session, "again").unwrap_err();
    assert!(refused.text.contains("another job has written"), "{refused}");
    fs::remove_dir_all(&home).unwrap();
}

#[test]
fn what_was_used_longest_ago_makes_room() {
    let mut kept = chunks("room");
    let third = CHUNK_STORE_MAX / 3;
    let one = |seed: u8| {
        // Growing files are sparse, so this takes no room.
        let recipe = Recipe { size: third, chunks: vec![Hash([seed; 32])] };
        (recipe.clone(), Hash([seed; 32]))
    };
    let names: Vec<Name> = (1..=3)
        .map(|seed| {
            let name = kept.keep(0o755, &one(seed).0).unwrap();
            kept.files.get_mut(&name).unwrap().missing.clear();
            let file = kept.open_growing(&name, false).unwrap();
            kept.complete(&name, &file).unwrap();
            kept.release(&name);
            name
        })
        .collect();
    // One that a job waits for stays, though it was used longer ago than others.
    kept.keep(0o755, &one(1).0).unwrap();
    kept.keep(0o755, &one(4).0).unwrap();
    assert!(kept.files.contains_key(&names[0]) && !kept.files.contains_key(&names[1]));
    assert!(!kept.path(&names[1]).exists() && !kept.found.contains_key(&one(2).1));
}

/// Each file that went had all files looked at, while the node took no orders.
#[test]
fn files_that_nobody_wants_are_known_in_the_order_in_which_they_are_to_go() {
    let mut kept = chunks("unused");
    let parts = [1, 2, 3].map(|seed| bytes(seed, 5000));
    let recipes = parts.each_ref().map(|part| recipe(&[part]));
    let names = recipes.each_ref().map(|of| kept.keep(0o644, of).unwrap());
    parts.iter().for_each(|part| kept.take(&Hash::of(part), part).unwrap());
    let unused = |kept: &Kept| kept.unused.iter().map(|(_, name)| *name).collect::<Vec<_>>();
    assert_eq!(unused(&kept), []);
    [2, 0, 1].iter().for_each(|at: &usize| kept.release(&names[*at]));
    assert_eq!(unused(&kept), names);
    // The first is wanted by two more, and the first of these has it.
    (0..2).for_each(|_| assert_eq!(kept.keep(0o644, &recipes[0]).unwrap(), names[0]));
    kept.release(&names[0]);
    assert_eq!(unused(&kept), names[1..]);
    kept.release(&names[0]);
    assert_eq!(unused(&kept), [names[1], names[2], names[0]]);
    assert!(kept.forget(&names[2]));
    assert_eq!(unused(&kept), [names[1], names[0]]);
}

/// It stayed until another job brought files, and took memory of the machine.
#[test]
fn a_file_that_there_is_no_room_for_goes_with_the_last_who_wants_it() {
    let mut kept = chunks("long");
    // It is sparse, so it takes no room.
    let of = Recipe { size: CHUNK_STORE_MAX + 1, chunks: vec![Hash([1; 32])] };
    let name = kept.keep(0o755, &of).unwrap();
    kept.files.get_mut(&name).unwrap().missing.clear();
    let file = kept.open_growing(&name, false).unwrap();
    kept.complete(&name, &file).unwrap();
    kept.keep(0o755, &of).unwrap();
    kept.release(&name);
    assert!(kept.path(&name).exists() && kept.is_whole(&name));
    kept.release(&name);
    assert!(!kept.path(&name).exists() && kept.held == 0);
}

/// A job of more files than a process may have open failed.
#[test]
fn files_that_grow_keep_no_descriptor_open() {
    let mut kept = chunks("descriptors");
    let part = |at: usize| bytes(at as u8, 5000 + at);
    let names = (0..100).map(|at| kept.keep(0o644, &recipe(&[&part(at), b"end"])).unwrap());
    let names: Vec<Name> = names.collect();
    let open = |kept: &Kept| {
        let all = fs::read_dir("/proc/self/fd").unwrap().flatten();
        let files = all.filter_map(|entry| fs::read_link(entry.path()).ok());
        files.filter(|file| file.starts_with(&kept.directory)).count()
    };
    assert_eq!(open(&kept), 0);
    for at in 0..100 {
        kept.take(&Hash::of(&part(at)), &part(at)).unwrap();
    }
    assert_eq!(open(&kept), 0);
    kept.take(&Hash::of(b"end"), b"end").unwrap();
    assert!(names.iter().all(|name| kept.is_whole(name)));
}

/// It lacked nothing any more then, and was never whole.
#[test]
fn a_file_that_cannot_be_written_keeps_no_other_from_being_whole() {
    let mut kept = chunks("unwritten");
    let (a, b) = (bytes(1, CHUNK), bytes(2, 77));
    let of = recipe(&[&a, &b]);
    let names = [0o600, 0o640, 0o644].map(|mode| kept.keep(mode, &of).unwrap());
    kept.take(&Hash::of(&a), &a).unwrap();
    for at in [0, 2] {
        fs::remove_file(kept.path(&names[at])).unwrap();
    }
    kept.take(&Hash::of(&b), &b).unwrap_err();
    assert_eq!(names.map(|name| kept.is_whole(&name)), [false, true, false]);
    assert_eq!(names.map(|name| kept.lack(&[name], &Hash::of(&b))), [true, false, true]);
    assert_eq!(kept.wanted[&Hash::of(&b)], [names[0], names[2]]);
}

/// Each chunk that came had all files looked at, and each file that was begun all files summed up.
#[test]
fn what_is_known_of_who_lacks_what_and_of_the_room_goes_with_the_files() {
    let mut kept = chunks("index");
    let (a, b, c) = (bytes(1, CHUNK), bytes(2, CHUNK), bytes(3, 77));
    let one = kept.keep(0o755, &recipe(&[&a, &b, &c])).unwrap();
    let other = kept.keep(0o644, &recipe(&[&b, &c, &b])).unwrap();
    let files = |kept: &Kept, part: &[u8]| kept.wanted.get(&Hash::of(part)).map_or(0, Vec::len);
    assert_eq!([&a, &b, &c].map(|part| files(&kept, part)), [1, 2, 2]);
    assert_eq!(kept.held, 4 * CHUNK as u64 + 2 * 77);
    kept.take(&Hash::of(&b), &b).unwrap();
    assert_eq!(files(&kept, &b), 0);
    kept.release(&one);
    assert_eq!([&a, &c].map(|part| files(&kept, part)), [0, 1]);
    kept.take(&Hash::of(&c), &c).unwrap();
    assert!(kept.is_whole(&other) && kept.wanted.is_empty());
    assert_eq!(kept.held, 2 * CHUNK as u64 + 77);
    kept.release(&other);
    assert!(kept.forget(&other) && kept.found.is_empty() && kept.held == 0);
}
