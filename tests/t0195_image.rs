//! Boot images: pushed once, fetched by many who give each other what they have; who dies, lies or
//! has no room costs nobody else anything.

mod cluster;
#[path = "cluster/random.rs"]
mod random;

use cluster::{Cluster, Running, signal, stop, until};
use muster_base::limits::CHUNK;
use muster_fabric::shell::multicast::{SECRET, Secret, Voice};
use muster_fabric::transport::socket::Identity;
use muster_machine::line::{Circle, Door, read_address};
use muster_ninep::call::{Answer, Data, Ticket};
use muster_ninep::client::{Fid, Options};
use muster_ninep::error::Result;
use muster_ninep::serve::{Server, same_user};
use muster_ninep::synthetic::{Dir, Entry, File, Handle, Inode, SynCall, Synthetic};
use muster_ninep::tree::OpenFlags;
use random::Random;
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::fs::{FileExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// So many chunks and a bit, no two of them alike; `seed` makes others.
fn image(chunks: usize, seed: u64) -> Vec<u8> {
    Random::new(seed).bytes(chunks * CHUNK + 40)
}

/// A fetch to a file, with more words.
fn fetch(cluster: &Cluster, name: &str, file: &str, more: &[&str]) -> Running {
    let args = [&["image", "fetch", name, "-o", file, "--json"], more].concat();
    cluster.muster(&args).start()
}

/// What a fetch says when it has all; it may go on to serve.
fn told(fetch: &Running) -> Value {
    fetch.await_out("\n");
    serde_json::from_str(&fetch.out()).unwrap_or_else(|e| panic!("{e}: {:?}", fetch.out()))
}

fn same(cluster: &Cluster, file: &str, bytes: &[u8]) {
    let is_same = fs::read(cluster.work().join(file)).is_ok_and(|got| got == bytes);
    assert!(is_same, "{file} is not the image");
}

/// Nothing is left beside the files.
fn no_parts(cluster: &Cluster) {
    let parts = || {
        let names = fs::read_dir(cluster.work()).unwrap().flatten();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter(|name| name.ends_with(".part")).collect::<Vec<_>>()
    };
    assert!(parts().is_empty(), "{:?}", parts());
}

fn status(cluster: &Cluster) -> Value {
    cluster.json(&["image", "ls", "--json"])
}

#[test]
fn an_image_is_pushed_once_and_fetched_for_each_architecture_also_from_the_next_manager() {
    let cluster = Cluster::up("t0195push", 1);
    let (x86, arm) = (image(5, 1), image(3, 2));
    cluster.file("x86", 0o644, &x86);
    cluster.file("arm", 0o644, &arm);
    let push = |arch: &str, file: &str, sent: &str| {
        let said = cluster.muster(&["image", "push", "boot", "--arch", arch, file]).run().ok();
        assert!(said.out.contains(sent), "{}", said.out);
    };
    push("x86_64", "x86", "6 of 6 chunks");
    push("aarch64", "arm", "4 of 4 chunks");
    // The same again sends nothing, and a change what has changed.
    push("x86_64", "x86", "0 of 6 chunks");
    let mut changed = x86.clone();
    changed[2 * CHUNK + 9] ^= 1;
    cluster.file("x86", 0o644, &changed);
    push("x86_64", "x86", "1 of 6 chunks");
    let check = |name: &str| {
        for (arch, bytes) in [("x86_64", &changed), ("aarch64", &arm)] {
            let file = format!("{name}-{arch}");
            let got = fetch(&cluster, "boot", &file, &["--arch", arch, "--term", "0"]);
            got.wait().ok();
            same(&cluster, &file, bytes);
        }
    };
    check("first");
    cluster.kill("manager");
    cluster.await_nodes(1);
    check("second");
    // Any 9P client reads it as a file.
    let cat = cluster.muster(&["cat", "/images/boot/aarch64/data"]).run().ok();
    assert!(cat.bytes == arm);
    cluster.muster(&["image", "rm", "boot", "--arch", "aarch64"]).run().ok();
    let left = status(&cluster);
    assert_eq!(left["images"].as_array().map(Vec::len), Some(1), "{left}");
    cluster.muster(&["image", "rm", "boot"]).run().ok();
    let files = fs::read_dir(cluster.directory().join("images")).unwrap().count();
    assert_eq!(files, 1, "the index is left, and no file of an image");
    no_parts(&cluster);
    cluster.down();
}

#[test]
fn who_fetches_over_the_network_gives_to_others_and_the_server_gives_each_chunk_about_once() {
    let cluster = Cluster::up("t0195many", 1);
    let bytes = image(24, 3);
    cluster.file("image", 0o644, &bytes);
    cluster.muster(&["image", "push", "boot", "image"]).run().ok();
    let serve = ["image", "serve", "--listen", "127.0.0.1:0", "--no-multicast"];
    cluster.muster(&serve).run().ok();
    let door = status(&cluster)["door"].as_str().unwrap().replace("tls!", "").replace('!', ":");
    let key = cluster.directory().join("images/key");
    let more = ["--from", &door, "--key", key.to_str().unwrap(), "--term", "2s"];
    let all: Vec<Running> =
        (0..8).map(|at| fetch(&cluster, "boot", &format!("out{at}"), &more)).collect();
    let (mut from_server, mut from_helpers) = (0, 0);
    for (at, one) in all.iter().enumerate() {
        let told = told(one);
        same(&cluster, &format!("out{at}"), &bytes);
        from_server += told["from_server"].as_u64().unwrap();
        from_helpers += told["from_helpers"].as_u64().unwrap();
    }
    assert_eq!(from_server + from_helpers, 8 * 25);
    assert!(from_helpers > from_server, "{from_server} from the server, {from_helpers} else");
    // They serve for their term, and then are gone.
    all.into_iter().for_each(|one| drop(one.wait().ok()));
    until("all have left", || status(&cluster)["images"][0]["clients"] == 0);
    // The door opens again with the next manager, at the same port and with the same key.
    cluster.kill("manager");
    cluster.await_nodes(1);
    fetch(&cluster, "boot", "again", &more).wait().ok();
    same(&cluster, "again", &bytes);
    // Another's key opens nothing.
    let config = cluster.work().join("config");
    cluster.muster(&["init"]).env("MUSTER_CONFIG", config.to_str().unwrap()).run().ok();
    let other = config.join("key");
    let more = ["--from", &door, "--key", other.to_str().unwrap()];
    fetch(&cluster, "boot", "none", &more)
        .wait()
        .code(1)
        .says("its image key is not the one given")
        .says("[E173]");
    no_parts(&cluster);
    cluster.down();
}

#[test]
fn a_helper_that_is_killed_or_stands_still_costs_no_restart() {
    let cluster = Cluster::up("t0195lost", 1);
    let bytes = image(64, 4);
    cluster.file("image", 0o644, &bytes);
    cluster.muster(&["image", "push", "boot", "image"]).run().ok();
    let helpers: Vec<Running> = (0..2)
        .map(|at| fetch(&cluster, "boot", &format!("helper{at}"), &["--term", "1h"]))
        .collect();
    helpers.iter().for_each(|helper| drop(told(helper)));
    // One stands still and stays registered; the other dies when the fetch is on its way.
    stop(helpers[0].pid());
    let one = fetch(&cluster, "boot", "out", &["--term", "0"]);
    until("some has come", || cluster.work().join("out.part").exists());
    helpers[1].signal(Signal::KILL);
    one.wait().ok();
    same(&cluster, "out", &bytes);
    helpers[0].signal(Signal::KILL);
    until("both are gone", || status(&cluster)["images"][0]["clients"] == 0);
    cluster.down();
}

/// The next manager never heard of it, and all that came then took all from the server.
#[test]
fn a_helper_is_one_at_the_next_manager_too() {
    let cluster = Cluster::up("t0195next", 1);
    let bytes = image(6, 8);
    cluster.file("image", 0o644, &bytes);
    cluster.muster(&["image", "push", "boot", "image"]).run().ok();
    let helper = fetch(&cluster, "boot", "helper", &["--term", "1h"]);
    drop(told(&helper));
    signal(cluster.await_pid("manager"), Signal::KILL);
    cluster.await_nodes(1);
    until("it is back", || status(&cluster)["images"][0]["helpers"] == 1);
    // What a link leads to is the image then, not the link.
    symlink("out", cluster.work().join("link")).unwrap();
    cluster.file("out", 0o644, b"of yesterday");
    let said = told(&fetch(&cluster, "boot", "link", &["--term", "0"]));
    assert_eq!(said["helpers"], 1, "{said}");
    assert!(cluster.work().join("link").is_symlink());
    same(&cluster, "out", &bytes);
    helper.signal(Signal::TERM);
    drop(helper.wait());
    cluster.down();
}

#[test]
fn a_fetch_that_was_killed_goes_on_where_it_was_and_takes_no_chunk_on_trust() {
    let cluster = Cluster::up("t0195again", 1);
    let bytes = image(16, 5);
    cluster.file("image", 0o644, &bytes);
    cluster.muster(&["image", "push", "boot", "image"]).run().ok();
    // A helper that gives the first half only keeps the fetch from its end: all that it takes at
    // once are four chunks, each in four pieces.
    let (half, waiting) = (bytes[..8 * CHUNK].to_vec(), Arc::new(AtomicUsize::new(0)));
    let told_mute = waiting.clone();
    let mute = Fake::serving(&cluster, "mute", move |offset, count| {
        let given = half.get(offset..offset + count).map(<[u8]>::to_vec);
        told_mute.fetch_add(usize::from(given.is_none()), Ordering::SeqCst);
        given
    });
    let one = fetch(&cluster, "boot", "out", &["--term", "0"]);
    let part = cluster.work().join("out.part");
    until("it waits for what does not come", || waiting.load(Ordering::SeqCst) == 16);
    one.signal(Signal::KILL);
    drop(one.wait());
    drop(mute);
    let file = fs::read_dir(&part).unwrap().flatten();
    let file = file.map(|entry| entry.path()).find(|path| path.metadata().unwrap().len() > 4096);
    let file = file.expect("what has come is kept");
    // A byte of it rots.
    let held = |at: usize| {
        let (from, to) = (at * CHUNK, ((at + 1) * CHUNK).min(bytes.len()));
        let mut got = vec![0; to - from];
        let read = fs::File::open(&file).unwrap().read_at(&mut got, from as u64).unwrap();
        read == got.len() && got == bytes[from..to]
    };
    let before: Vec<usize> = (0..17).filter(|at| held(*at)).collect();
    assert!(before.len() > 1, "{before:?} have come");
    let at = before[0] * CHUNK + 5;
    let rotten = fs::File::options().write(true).open(&file).unwrap();
    rotten.write_all_at(&[!bytes[at]], at as u64).unwrap();
    let told = told(&fetch(&cluster, "boot", "out", &["--term", "0"]));
    assert_eq!(told["held"].as_u64(), Some(before.len() as u64 - 1), "{told}");
    same(&cluster, "out", &bytes);
    cluster.down();
}

#[test]
fn a_helper_that_lies_is_found_out_and_not_named_again() {
    let cluster = Cluster::up("t0195liar", 1);
    let bytes = image(32, 6);
    cluster.file("image", 0o644, &bytes);
    cluster.muster(&["image", "push", "boot", "image"]).run().ok();
    // It claims to have all, and gives what is wrong in one place.
    let mut wrong = bytes.clone();
    wrong.iter_mut().step_by(CHUNK).for_each(|byte| *byte ^= 1);
    let liar = Fake::serving(&cluster, "liar", move |offset, count| {
        let end = wrong.len().min(offset + count);
        Some(wrong[offset.min(end)..end].to_vec())
    });
    let first = told(&fetch(&cluster, "boot", "one", &["--term", "0"]));
    same(&cluster, "one", &bytes);
    assert!(first["lied"].as_u64().unwrap() > 0, "{first}");
    let asked = liar.asked();
    let second = told(&fetch(&cluster, "boot", "two", &["--term", "0"]));
    same(&cluster, "two", &bytes);
    assert_eq!((second["lied"].as_u64(), liar.asked()), (Some(0), asked), "{second}");
    cluster.down();
}

/// Says that it is over, however that came.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn who_has_the_key_and_casts_what_is_wrong_is_believed_by_nobody_and_nobody_else_is_accused() {
    let cluster = Cluster::up("t0195cast", 1);
    let bytes = image(32, 11);
    cluster.file("image", 0o644, &bytes);
    cluster.muster(&["image", "push", "boot", "image"]).run().ok();
    cluster.muster(&["image", "serve", "--listen", "127.0.0.1:0"]).run().ok();
    let door = status(&cluster)["door"].as_str().unwrap().replace("tls!", "").replace('!', ":");
    let key = cluster.directory().join("images/key");
    // None goes while another still takes from it.
    let more = ["--from", &door, "--key", key.to_str().unwrap(), "--term", "1h"];
    let group = format!("/images/boot/{}/group", std::env::consts::ARCH);
    let group = cluster.muster(&["cat", &group]).run().ok().out;
    let (address, digits) = group.trim_end().split_once(' ').unwrap();
    let mut secret = [0; SECRET];
    for (at, byte) in secret.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).unwrap();
    }
    let (address, secret) = (address.parse().unwrap(), Secret::decode(&secret));
    let mut voice = Voice::open(address, Ipv4Addr::LOCALHOST, &secret).unwrap();
    let (is_over, wrong) = (AtomicBool::new(false), vec![1; CHUNK]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for number in 1..=32 {
                    voice.send(number, &wrong, 50e6).unwrap();
                }
            }
        });
        let _over = Over(&is_over);
        let all: Vec<Running> =
            (0..3).map(|at| fetch(&cluster, "boot", &format!("out{at}"), &more)).collect();
        for (at, one) in all.iter().enumerate() {
            let told = told(one);
            same(&cluster, &format!("out{at}"), &bytes);
            assert_eq!(
                (told["lied"].as_u64(), told["lost"].as_u64()),
                (Some(0), Some(0)),
                "{told}"
            );
        }
        all.iter().for_each(|one| one.signal(Signal::TERM));
        all.into_iter().for_each(|one| drop(one.wait()));
    });
    no_parts(&cluster);
    cluster.down();
}

#[test]
fn what_is_corrupt_at_the_server_is_said_to_be_and_never_written() {
    let cluster = Cluster::up("t0195rot", 1);
    let bytes = image(4, 7);
    cluster.file("image", 0o644, &bytes);
    cluster.muster(&["image", "push", "boot", "image"]).run().ok();
    let digest = status(&cluster)["images"][0]["digest"].as_str().unwrap().to_owned();
    let file = cluster.directory().join("images").join(digest);
    let file = fs::File::options().write(true).open(file).unwrap();
    file.write_all_at(&[!bytes[3 * CHUNK]], 3 * CHUNK as u64).unwrap();
    let said = fetch(&cluster, "boot", "out", &[]).wait().code(1);
    said.says("chunk 3 of image boot").says("corrupt at the server").says("[E174]");
    assert!(!cluster.work().join("out").exists());
    // Pushed again, the rest of it comes.
    cluster.muster(&["image", "push", "boot", "image"]).run().ok();
    let told = told(&fetch(&cluster, "boot", "out", &["--term", "0"]));
    let (held, from_server) =
        (told["held"].as_u64().unwrap(), told["from_server"].as_u64().unwrap());
    assert!(held > 0 && held + from_server == 5, "{told}");
    same(&cluster, "out", &bytes);
    cluster.down();
}

#[test]
fn to_push_again_mends_what_is_corrupt_also_at_the_next_manager_and_for_all_its_names() {
    let cluster = Cluster::up("t0195mend", 1);
    let bytes = image(4, 9);
    cluster.file("image", 0o644, &bytes);
    let push = |name: &str, sent: &str| {
        let said = cluster.muster(&["image", "push", name, "image"]).run().ok();
        assert!(said.out.contains(sent), "{}", said.out);
    };
    push("boot", "5 of 5 chunks");
    push("twin", "0 of 5 chunks");
    let digest = status(&cluster)["images"][0]["digest"].as_str().unwrap().to_owned();
    let file = cluster.directory().join("images").join(digest);
    cluster.kill("manager");
    // Before the next one looks at it, or after: its time is what tells that it was written to.
    let open = fs::File::options().write(true).open(&file).unwrap();
    let changed = open.metadata().unwrap().modified().unwrap();
    open.write_all_at(&[!bytes[3 * CHUNK]], 3 * CHUNK as u64).unwrap();
    open.set_modified(changed).unwrap();
    cluster.await_nodes(1);
    let said = fetch(&cluster, "boot", "out", &[]).wait().code(1);
    said.says("chunk 3 of image boot").says("push the image again").says("[E174]");
    push("boot", "1 of 5 chunks");
    for name in ["boot", "twin"] {
        fetch(&cluster, name, name, &["--term", "0"]).wait().ok();
        same(&cluster, name, &bytes);
    }
    // The one that goes takes nothing from the other.
    cluster.muster(&["image", "rm", "twin"]).run().ok();
    fetch(&cluster, "boot", "left", &["--term", "0"]).wait().ok();
    // What the server cannot read is not asked for until it can.
    open.set_len(2 * CHUNK as u64).unwrap();
    let said = fetch(&cluster, "boot", "short", &[]).wait().code(1);
    said.says("the server cannot read chunk").says("of image boot").says("[E174]");
    push("boot", "3 of 5 chunks");
    fetch(&cluster, "boot", "short", &["--term", "0"]).wait().ok();
    same(&cluster, "short", &bytes);
    cluster.down();
}

#[test]
fn the_door_says_where_it_is_while_it_moves_and_stays_where_another_cannot_be_opened() {
    let cluster = Cluster::up("t0195door", 1);
    let bytes = image(1, 10);
    cluster.file("image", 0o644, &bytes);
    cluster.muster(&["image", "push", "boot", "image"]).run().ok();
    let listen = |at: &str| cluster.muster(&["image", "serve", "--listen", at]).run();
    let door = || status(&cluster)["door"].as_str().unwrap_or_default().to_owned();
    listen("127.0.0.1:0").ok();
    let first = door();
    let port = first.rsplit('!').next().unwrap().to_owned();
    // An address of no machine, at its own port and at another; and one of a service.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for at in [&format!("192.0.2.1:{port}"), "192.0.2.1:1", &taken] {
        listen(at).code(1).says("images cannot be served").says("[E172]");
        assert_eq!(door(), first, "{at}");
    }
    let key = cluster.directory().join("images/key");
    let key = key.to_str().unwrap().to_owned();
    let from = |at: &str| {
        let at = at.replace("tls!", "").replace('!', ":");
        ["--from".to_owned(), at, "--key".to_owned(), key.clone()]
    };
    let get = |file: &str, at: &str, term: &str| {
        let from = from(at);
        let more: Vec<&str> = from.iter().map(String::as_str).chain(["--term", term]).collect();
        fetch(&cluster, "boot", file, &more)
    };
    get("first", &first, "0").wait().ok();
    // Who comes in by the door asks what there is, again and again, while it moves.
    let circle = Circle::of(&Identity::load(std::path::Path::new(&key)).unwrap());
    let is_over = Arc::new(AtomicBool::new(false));
    let over = is_over.clone();
    // It is in before the door moves: who comes at that moment may be turned away.
    let client = circle.connect("test", &first.parse().unwrap(), Options::default()).unwrap();
    let asking = std::thread::spawn(move || {
        while !over.load(Ordering::Relaxed) && client.read("/images/status").is_ok() {}
    });
    for _ in 0..20 {
        listen(&format!("127.0.0.1:{port}")).ok();
    }
    is_over.store(true, Ordering::Relaxed);
    asking.join().unwrap();
    get("again", &first, "0").wait().ok();
    same(&cluster, "again", &bytes);
    cluster.down();
}

#[test]
fn who_has_all_needs_no_server_any_more() {
    let cluster = Cluster::up("t0195whole", 1);
    let bytes = image(3, 12);
    cluster.file("image", 0o644, &bytes);
    cluster.muster(&["image", "push", "boot", "image"]).run().ok();
    // It is asked for all four chunks at once, and gives them when the server stands still.
    let late = Fake::serving(&cluster, "late", |_, _| None);
    let _slow = late.slowly(&bytes);
    let one = fetch(&cluster, "boot", "out", &["--term", "0"]);
    until("all is asked for", || late.asked() > 3 * 4);
    let manager = cluster.await_pid("manager");
    stop(manager);
    late.give(&bytes);
    one.wait().ok();
    same(&cluster, "out", &bytes);
    no_parts(&cluster);
    signal(manager, Signal::CONT);
    cluster.down();
}

/// A server that does not answer is waited for, but not against a signal.
#[test]
fn a_fetch_that_has_only_begun_ends_by_a_signal() {
    let cluster = Cluster::none("t0195signal");
    let listener = UnixListener::bind(cluster.work().join("mute")).unwrap();
    let mute = format!("unix!{}", cluster.work().join("mute").display());
    let mut fetch = fetch(&cluster, "boot", "out", &["--from", &mute]);
    let connection = accepted(&listener);
    assert!(!fetch.ended());
    fetch.signal(Signal::INT);
    fetch.wait().code(130);
    drop(connection);
    no_parts(&cluster);
}

#[test]
fn a_fetch_that_comes_back_to_a_server_which_does_not_answer_ends_by_a_signal() {
    let cluster = Cluster::up("t0195back", 1);
    let bytes = image(3, 13);
    cluster.file("image", 0o644, &bytes);
    cluster.muster(&["image", "push", "boot", "image"]).run().ok();
    let late = Fake::serving(&cluster, "late", |_, _| None);
    let _slow = late.slowly(&bytes);
    let at = cluster.work().join("at");
    symlink(cluster.directory().join("manager.sock"), &at).unwrap();
    let fetch = fetch(&cluster, "boot", "out", &["--from", &format!("unix!{}", at.display())]);
    until("all is asked for", || late.asked() > 3 * 4);
    fs::remove_file(&at).unwrap();
    let mute = UnixListener::bind(&at).unwrap();
    cluster.kill("manager");
    let connection = accepted(&mute);
    fetch.signal(Signal::INT);
    fetch.wait().code(130).says("What has come is kept");
    drop(connection);
    cluster.down();
}

/// It asks the cluster where it is, and has threads by that before it begins.
#[test]
fn a_fetch_from_the_cluster_that_is_up_here_is_stopped_as_one_that_was_told_where() {
    let cluster = Cluster::up("t0195here", 1);
    let bytes = image(16, 14);
    cluster.file("image", 0o644, &bytes);
    cluster.muster(&["image", "push", "boot", "image"]).run().ok();
    let late = Fake::serving(&cluster, "late", |_, _| None);
    let slow = late.slowly(&bytes);
    let from = cluster.directory().join("manager.sock").display().to_string();
    let (there, part) = (["--from", &from], cluster.work().join("out.part"));
    let mut said = Vec::new();
    for (number, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        for more in [&there[..], &[]] {
            let before = late.asked();
            let fetch = fetch(&cluster, "boot", "out", more);
            until("it takes", || part.join("sock").exists() && late.asked() > before);
            fetch.signal(number);
            said.push(fetch.wait().code(code).says("What has come is kept").err);
            let left = fs::read_dir(&part).unwrap().flatten();
            let mut left: Vec<_> = left.map(|it| it.file_name().into_string().unwrap()).collect();
            left.sort_by_key(String::len);
            assert_eq!((left.len(), left[0].as_str()), (2, "lock"), "{left:?}");
        }
    }
    assert!(said.iter().all(|words| *words == said[0]), "{said:?}");
    drop((slow, late));
    // Who has all has nothing to keep.
    let fetch = fetch(&cluster, "boot", "out", &["--term", "1h"]);
    told(&fetch);
    fetch.signal(Signal::TERM);
    fetch.wait().ok();
    same(&cluster, "out", &bytes);
    no_parts(&cluster);
    cluster.down();
}

#[test]
fn a_disk_that_is_full_and_what_there_is_not_are_one_sentence_each() {
    let cluster = Cluster::up("t0195bad", 1);
    let bytes = image(8, 8);
    cluster.file("image", 0o644, &bytes);
    cluster.file("empty", 0o644, "");
    cluster.muster(&["image", "push", "boot", "--arch", "x86_64", "image"]).run().ok();
    let refused = |args: &[&str], code: i32, text: &str, id: &str| {
        let said = cluster.muster(&[&["image"], args].concat()).run().code(code);
        assert_eq!(said.err.trim_end().lines().count(), 1, "{}", said.err);
        said.says(text).says(id);
    };
    refused(&["fetch", "nope", "-o", "x"], 1, "there is no image nope", "[E171]");
    refused(&["fetch", "boot", "--arch", "mips", "-o", "x"], 1, "boot for mips", "[E171]");
    refused(&["fetch", "boot", "-o", "no/x"], 1, "no/x.part", "[E175]");
    refused(&["rm", "nope"], 1, "there is no image nope", "[E171]");
    refused(&["push", "boot", "empty"], 1, "empty: an image has 1 byte", "[E172]");
    // Both are said at once: nobody writes to the pipe, and to hash the file would take minutes.
    rustix::fs::mkfifoat(rustix::fs::CWD, cluster.work().join("pipe"), 0o600.into()).unwrap();
    refused(&["push", "boot", "pipe"], 1, "pipe is no ordinary file", "[E161]");
    let long = fs::File::create(cluster.work().join("long")).unwrap();
    long.set_len(1 << 41).unwrap();
    refused(&["push", "boot", "long"], 1, "this one 2199023255552 bytes", "[E172]");
    refused(&["push", "--", "-x", "image"], 1, "beginning with neither '-' nor '.'", "[E170]");
    refused(&["push", "a/b", "image"], 1, "'a/b' is no name", "[E170]");
    refused(&["push", "a b", "image"], 1, "'a b' is no name", "[E170]");
    refused(&["rm", "boot x86_64"], 1, "'boot x86_64' is no name", "[E170]");
    refused(&["push", "boot", "nope"], 1, "nope: No such file", "[E161]");
    refused(&["fetch", "boot", "-o", "x", "--from", "127.0.0.1:1"], 2, "needs --key", "");
    refused(&["fetch", "boot", "-o", "x", "--from", "here"], 2, "write HOST:PORT", "");
    let key = ["fetch", "boot", "-o", "x", "--from", "127.0.0.1:1", "--key", "image"];
    refused(&key, 1, "the image key image cannot be used", "[E172]");
    cluster.muster(&["image", "serve", "--listen", "127.0.0.1:0"]).run().ok();
    let own = cluster.directory().join("images/key");
    let mut key = key;
    key[6..].copy_from_slice(&["--key", own.to_str().unwrap()]);
    refused(&key, 1, "nobody serves there", "[E173]");
    // A file system of 2 MiB.
    let small = "mkdir -p small && mount -t tmpfs -o size=2m none small && exec \"$@\"";
    let mut call = cluster.muster(&["image", "fetch", "boot", "--arch", "x86_64"]);
    call.command.args(["-o", "small/out"]);
    let call = within(call, &["unshare", "-Urm", "sh", "-c", small, "sh"]);
    call.run().code(1).says("small/out: the disk is full").says("[E175]");
    no_parts(&cluster);
    cluster.down();
}

/// The same command, started by others.
fn within(mut call: cluster::Call, by: &[&str]) -> cluster::Call {
    let mut outer = std::process::Command::new(by[0]);
    outer.args(&by[1..]).arg(call.command.get_program()).args(call.command.get_args());
    outer.envs(call.command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    outer.current_dir(call.command.get_current_dir().expect("it has one"));
    call.command = outer;
    call
}

/// The next who connects. If nobody does, that fails the test instead of keeping it.
fn accepted(listener: &UnixListener) -> UnixStream {
    listener.set_nonblocking(true).unwrap();
    let mut connection = None;
    until("somebody connects", || {
        connection = listener.accept().ok();
        connection.is_some()
    });
    connection.unwrap().0
}

/// A helper that is none: it says that it has all of the image, and gives what it is told to.
struct Fake {
    asked: Arc<AtomicUsize>,
    waiting: Arc<Mutex<Vec<Waiting>>>,
    _door: Door,
    _sources: Fid,
}

/// A read that was not answered: of so many bytes from there on.
type Waiting = (usize, usize, Ticket<Data>);

fn answer(reads: impl Iterator<Item = Waiting>, bytes: &[u8]) {
    for (offset, count, ticket) in reads {
        ticket.answer(Ok(bytes[offset..offset + count].to_vec().into()));
    }
}

type Give = dyn Fn(usize, usize) -> Option<Vec<u8>> + Send + Sync;

impl Fake {
    /// One for the image `boot` of this machine's architecture.
    fn serving(
        cluster: &Cluster,
        name: &str,
        give: impl Fn(usize, usize) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Fake {
        let manager = cluster.client("manager");
        let at = format!("images/boot/{}", std::env::consts::ARCH);
        let digest = manager.read_to_string(&format!("{at}/digest")).unwrap();
        let (digest, size) = digest.trim_end().split_once(' ').unwrap();
        let chunks = size.parse::<usize>().unwrap().div_ceil(CHUNK);
        let (asked, waiting) = (Arc::new(AtomicUsize::new(0)), Arc::<Mutex<Vec<_>>>::default());
        let root = Root {
            inode: Inode::new(0o555),
            name: digest.into(),
            give: Arc::new(give),
            asked: asked.clone(),
            waiting: waiting.clone(),
        };
        let socket = cluster.work().join(name);
        let tree = Arc::new(Synthetic::new(Arc::new(root)));
        let server = Arc::new(Server::start(&tree, 1, same_user).unwrap());
        let door = Door::open(&read_address(socket.to_str().unwrap()).unwrap(), server).unwrap();
        let sources = manager.open(&format!("{at}/sources"), OpenFlags(OpenFlags::RDWR)).unwrap();
        let lines = format!("have 0-{}\nserve unix!{}\n", chunks - 1, socket.display());
        sources.fid().write_at(0, lines.as_bytes()).unwrap();
        Fake { asked, waiting, _door: door, _sources: sources.into_fid() }
    }

    /// Answers all that was asked for and not given.
    fn give(&self, bytes: &[u8]) {
        answer(self.waiting.lock().unwrap().drain(..), bytes);
    }

    /// Answers a read each second, until what this gives goes: of one that answers none for five
    /// seconds a client asks no more, however long the test has to wait for its turn.
    fn slowly(&self, bytes: &[u8]) -> mpsc::Sender<()> {
        let (slow, is_over) = mpsc::channel();
        let (waiting, bytes) = (self.waiting.clone(), bytes.to_vec());
        std::thread::spawn(move || {
            let second = Duration::from_secs(1);
            while is_over.recv_timeout(second) == Err(RecvTimeoutError::Timeout) {
                let mut waiting = waiting.lock().unwrap();
                let first = waiting.len().min(1);
                answer(waiting.drain(..first), &bytes);
            }
        });
        slow
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

struct Root {
    inode: Inode,
    name: String,
    give: Arc<Give>,
    asked: Arc<AtomicUsize>,
    waiting: Arc<Mutex<Vec<Waiting>>>,
}

impl Dir for Root {
    fn inode(&self) -> &Inode {
        &self.inode
    }

    fn get(&self, name: &str) -> Result<Option<Entry>> {
        let content = Content {
            give: self.give.clone(),
            asked: self.asked.clone(),
            waiting: self.waiting.clone(),
        };
        let open = move |_| Ok(content.clone());
        Ok((name == self.name).then(|| File::new(0o444, open).entry()))
    }

    fn list(&self) -> Vec<String> {
        vec![self.name.clone()]
    }
}

#[derive(Clone)]
struct Content {
    give: Arc<Give>,
    asked: Arc<AtomicUsize>,
    waiting: Arc<Mutex<Vec<Waiting>>>,
}

impl Handle for Content {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let answer = match (self.give)(offset as usize, count) {
            Some(bytes) => Ok(bytes.into()),
            // Its answer comes late, or never.
            None => call.park(|ticket| {
                self.waiting.lock().unwrap().push((offset as usize, count, ticket));
            }),
        };
        self.asked.fetch_add(1, Ordering::SeqCst);
        answer
    }
}
