//! Against real libraries: the one that `cargo xtask setup` builds, and others that are no good.

use super::channel::{Header, Kind, PIECE, WINDOW};
use super::meeting::{Offer, farewell, read_farewell};
use super::remote::Word;
use super::sys::Place;
use super::*;
use crate::region::{Region, Rights};
use crate::strategy::{Completion, Handler, Handlers, Key, Ready};
use crate::transport::Lane;
use muster_base::limits::{OFI_LINGER, OFI_MESSAGE_MAX};
use std::io::{IoSlice, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

/// What the tests can run here; both are emulated memory access, by sockets and by shared memory.
const PROVIDERS: [&str; 2] = ["tcp", "shm"];

/// Where another process of the tests is to connect, and what it does there.
const TO: &str = "MUSTER_TEST_OFI_TO";
const ROLE: &str = "MUSTER_TEST_OFI_ROLE";

pub(super) fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}

/// The peer library's folder, in the target directory that this test was built in.
fn folder() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a file");
    let target = test.ancestors().nth(3).expect("target/PROFILE/deps/TEST");
    target.join("peers/libfabric")
}

pub(crate) fn ofi() -> Ofi {
    let file = folder().join("lib/libfabric.so.1");
    assert!(file.exists(), "{} is missing: type `cargo xtask setup`", file.display());
    Ofi::with_library(file)
}

fn hello() -> Hello {
    Hello { name: "node 7".to_owned(), service: "test".to_owned(), lane: Lane::Bulk }
}

fn listen(ofi: &Ofi, provider: &str) -> Box<dyn Listener> {
    let at = Address::Ofi(provider.to_owned(), "127.0.0.1".to_owned(), 0);
    ofi.listen(&at).expect("the provider is there")
}

/// Two ends in this process.
fn pair(provider: &str) -> (Box<dyn Adapter>, Box<dyn Adapter>) {
    let ofi = ofi();
    let mut listener = listen(&ofi, provider);
    let to = listener.address().clone();
    thread::scope(|scope| {
        let connector = scope.spawn(|| ofi.connect(&to, &hello(), soon()).expect("connected"));
        let accepted = listener.accept(soon()).expect("accepted");
        (connector.join().expect("no panic"), accepted)
    })
}

/// Two ends of remote copy in this process.
pub(super) fn copies(provider: &str) -> (Copies, Copies) {
    let ofi = ofi();
    let at = Address::Ofi(provider.to_owned(), "127.0.0.1".to_owned(), 0);
    let mut door = ofi.door(&at).expect("the provider is there");
    let to = door.address.clone();
    thread::scope(|scope| {
        let connector = scope.spawn(|| ofi.reach(&to, &hello(), soon()).expect("connected"));
        let accepted = door.next(soon()).expect("accepted");
        (Copies::new(connector.join().expect("no panic")), Copies::new(accepted))
    })
}

fn message(size: usize) -> Vec<u8> {
    (0..size).map(|at| (at * 7 + at / 251) as u8).collect()
}

fn take(end: &mut dyn Datagram) -> Vec<u8> {
    let mut got = Vec::new();
    end.take(soon(), &mut |bytes| got.extend(bytes)).expect("a message");
    got
}

/// The other process, which ends with its connection, or when this is dropped.
struct Other(Child);

impl Other {
    fn start(role: &str, to: &Address) -> Other {
        let mut command = Command::new(std::env::current_exe().expect("a test has a file"));
        command.args(["--exact", "transport::ofi::tests::the_other_process"]);
        command.env(TO, to.to_string()).env(ROLE, role).stdout(Stdio::null());
        Other(command.spawn().expect("the test runs twice"))
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Other tests run it in another process; by itself it has nothing to do.
#[test]
fn the_other_process() {
    let Ok(to) = std::env::var(TO) else { return };
    let to: Address = to.parse().expect("an address");
    let adapter = ofi().connect(&to, &hello(), soon()).expect("connected");
    if std::env::var(ROLE).expect("a role") == "owner" {
        let region = Region::new(100_000, Rights::ALL);
        region.write(10, b"was here").expect("inside");
        let mut copies = adapter.remote_copy().expect("buffers");
        assert_eq!(copies.expose(&region).expect("exposed"), Key(0));
        // Until the peer goes.
        assert!(copies.wait(Ready::Receive, soon()).is_err());
        let mut end = [0; 3];
        region.read(99_997, &mut end).expect("inside");
        assert_eq!(&end, b"end");
        return;
    }
    let mut echo = adapter.datagram().expect("buffers");
    let mut got = Vec::new();
    loop {
        got.clear();
        match echo.take(soon(), &mut |bytes| got.extend(bytes)) {
            Ok(()) => echo.send(&[IoSlice::new(&got)], soon()).expect("sent"),
            Err(Error::Closed { .. }) => return,
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn messages_of_all_sizes_arrive_whole_and_in_order_at_another_process() {
    for provider in PROVIDERS {
        let mut listener = listen(&ofi(), provider);
        let mut other = Other::start("echo", listener.address());
        let adapter = listener.accept(soon()).expect("accepted");
        assert_eq!((adapter.hello(), &*adapter.peer().name), (&hello(), "node 7"));
        let mut end = adapter.datagram().expect("buffers");
        for size in [0, 1, 4096, PIECE - 1, PIECE, PIECE + 1, 300_000, OFI_MESSAGE_MAX] {
            let sent = message(size);
            end.send(&[IoSlice::new(&sent[..size / 3]), IoSlice::new(&sent[size / 3..])], soon())
                .expect("sent");
            assert!(take(&mut *end) == sent, "{size} bytes over {provider}");
        }
        for number in 0u32..510 {
            if number < 500 {
                end.send(&[IoSlice::new(&number.to_le_bytes())], soon()).expect("sent");
            }
            // Ten are under way.
            if let Some(back) = number.checked_sub(10) {
                assert_eq!(take(&mut *end), back.to_le_bytes());
            }
        }
        let too_long = end.try_fill(OFI_MESSAGE_MAX + 1, &mut |_| unreachable!());
        assert!(matches!(too_long, Err(Error::TooLarge { .. })));
        drop(end);
        assert!(other.0.wait().expect("it ends").success());
    }
}

#[test]
fn who_closes_is_heard_to_the_end() {
    for provider in PROVIDERS {
        let (first, second) = pair(provider);
        let mut sender = first.datagram().expect("buffers");
        let mut receiver = second.datagram().expect("buffers");
        for size in [5, 3 * PIECE] {
            sender.send(&[IoSlice::new(&message(size))], soon()).expect("sent");
        }
        let dropping = thread::spawn(move || drop(sender));
        for size in [5, 3 * PIECE] {
            assert!(take(&mut *receiver) == message(size), "{size} bytes over {provider}");
        }
        dropping.join().expect("no panic");
        let end = receiver.take(soon(), &mut |_| panic!("there is nothing more"));
        assert!(matches!(end, Err(Error::Closed { .. })), "{end:?}");
        assert!(matches!(receiver.try_send(&[]), Err(Error::Closed { .. })));
    }
}

#[test]
fn what_was_sent_arrives_though_the_sender_ends_and_the_receiver_is_busy() {
    for provider in PROVIDERS {
        let (first, second) = pair(provider);
        let mut sender = first.datagram().expect("buffers");
        let mut receiver = second.datagram().expect("buffers");
        let size = 3 * WINDOW * PIECE / 2;
        thread::scope(|scope| {
            scope.spawn(move || {
                sender.send(&[IoSlice::new(&message(size))], soon()).expect("sent");
            });
            // For longer than who ends would wait.
            thread::sleep(OFI_LINGER * 3 / 2);
            assert!(take(&mut *receiver) == message(size), "over {provider}");
        });
    }
}

#[test]
fn a_listener_for_both_families_is_reached_over_the_older_one() {
    let ofi = ofi();
    let at = Address::Ofi("tcp".to_owned(), "::".to_owned(), 0);
    // Not every machine has IPv6.
    let Ok(mut listener) = ofi.listen(&at) else { return };
    let Address::Ofi(_, _, port) = *listener.address() else { panic!("another kind") };
    let to = Address::Ofi("tcp".to_owned(), "127.0.0.1".to_owned(), port);
    thread::scope(|scope| {
        scope.spawn(|| ofi.connect(&to, &hello(), soon()).expect("connected"));
        listener.accept(soon()).expect("accepted");
    });
}

#[test]
fn who_does_not_take_stops_the_sender_and_loses_nothing() {
    for provider in PROVIDERS {
        let (first, second) = pair(provider);
        let mut sender = first.datagram().expect("buffers");
        let mut receiver = second.datagram().expect("buffers");
        let mut sent = 0u32;
        loop {
            match sender.try_send(&[IoSlice::new(&sent.to_le_bytes())]) {
                Ok(()) => sent += 1,
                Err(Error::WouldBlock) => break,
                Err(other) => panic!("{other}"),
            }
            assert!(sent < 1000, "nothing stops it");
        }
        let late = sender.wait(Ready::Send, Deadline::after(Duration::from_millis(50)));
        let text = late.expect_err("there is no room").to_string();
        assert!(text.contains("room for a message"), "{text}");
        for number in 0..sent {
            assert_eq!(take(&mut *receiver), number.to_le_bytes());
        }
        sender.send(&[IoSlice::new(b"on")], soon()).expect("there is room again");
        assert_eq!(take(&mut *receiver), b"on");
    }
}

#[test]
fn who_flushes_waits_for_what_has_not_left_though_there_is_room() {
    let (first, second) = pair("shm");
    let mut sender = first.datagram().expect("buffers");
    let mut receiver = second.datagram().expect("buffers");
    // The receiver's side of the provider has to see to it, and does when it is asked.
    sender.try_send(&[IoSlice::new(&message(PIECE))]).expect("there is room");
    assert!(!sender.try_flush().expect("sent"));
    let late = sender.wait(Ready::Send, Deadline::after(Duration::from_millis(10)));
    assert!(matches!(late, Err(Error::Deadline { .. })), "{late:?}");
    sender.try_send(&[IoSlice::new(b"on")]).expect("there is room");
    thread::scope(|scope| {
        scope.spawn(move || {
            while !sender.try_flush().expect("sent") {
                sender.wait(Ready::Send, soon()).expect("it is taken");
            }
        });
        assert_eq!(take(&mut *receiver), message(PIECE));
        assert_eq!(take(&mut *receiver), b"on");
    });
}

#[test]
fn a_killed_peer_is_dead_and_leaves_no_segment() {
    for provider in PROVIDERS {
        let mut listener = listen(&ofi(), provider);
        let mut other = Other::start("echo", listener.address());
        let mut end = listener.accept(soon()).expect("accepted").datagram().expect("buffers");
        end.send(&[IoSlice::new(b"x")], soon()).expect("sent");
        assert_eq!(take(&mut *end), b"x");
        other.0.kill().expect("it runs");
        other.0.wait().expect("it ends");
        let dead = end.take(soon(), &mut |_| panic!("it is dead"));
        assert!(matches!(dead, Err(Error::Dead { .. })), "{dead:?}");
        let dead = end.send(&[IoSlice::new(b"x")], soon());
        assert!(matches!(dead, Err(Error::Dead { .. })), "{dead:?}");
        let theirs = format!("{}:", other.0.id());
        let names = std::fs::read_dir("/dev/shm").expect("Linux").flatten();
        let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let left: Vec<_> = names.filter(|name| name.starts_with(&theirs)).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

fn ended(copies: &mut dyn RemoteCopy) -> Completion {
    loop {
        if let Some(completion) = copies.try_progress().expect("connected") {
            return completion;
        }
        copies.wait(Ready::Receive, soon()).expect("connected");
    }
}

#[test]
fn puts_and_gets_reach_another_process_in_their_order() {
    for provider in PROVIDERS {
        let mut listener = listen(&ofi(), provider);
        let mut other = Other::start("owner", listener.address());
        let adapter = listener.accept(soon()).expect("accepted");
        let mut copies = adapter.remote_copy().expect("buffers");
        copies.try_get(Key(0), 10, 8, 1).expect("begun");
        let got = ended(&mut *copies);
        assert_eq!((got.token, &*got.bytes), (1, &b"was here"[..]));
        let long = message(90_000);
        copies.try_put(Key(0), 5, &long, 2).expect("begun");
        copies.try_put(Key(0), 99_997, b"end", 3).expect("begun");
        copies.try_get(Key(0), 5, 90_000, 4).expect("begun");
        for token in 2..4 {
            let put = ended(&mut *copies);
            assert_eq!((put.token, put.bytes.len(), put.result.is_ok()), (token, 0, true));
        }
        let got = ended(&mut *copies);
        assert!(got.token == 4 && got.bytes == long, "over {provider}");
        drop(copies);
        assert!(other.0.wait().expect("it ends").success());
    }
}

#[test]
fn what_a_region_does_not_allow_is_refused_and_nothing_else_suffers() {
    for provider in PROVIDERS {
        let (first, second) = pair(provider);
        let mut owner = first.remote_copy().expect("buffers");
        let mut peer = second.remote_copy().expect("buffers");
        let regions = [Rights::ALL, Rights::READ, Rights::WRITE].map(|may| Region::new(64, may));
        let keys: Vec<Key> = regions.iter().map(|at| owner.expose(at).expect("exposed")).collect();
        let serve = |owner: &mut dyn RemoteCopy, peer: &mut dyn RemoteCopy| loop {
            assert!(owner.try_progress().expect("connected").is_none());
            if let Some(completion) = peer.try_progress().expect("connected") {
                return completion.result.is_ok();
            }
        };
        let mut is_allowed = |key: Key, offset: u64, is_put: bool| {
            match is_put {
                true => peer.try_put(key, offset, &[1; 8], 0).expect("begun"),
                false => peer.try_get(key, offset, 8, 0).expect("begun"),
            }
            serve(&mut *owner, &mut *peer)
        };
        for is_put in [true, false] {
            assert!(is_allowed(keys[0], 56, is_put));
            assert!(!is_allowed(keys[0], 57, is_put));
            assert!(!is_allowed(keys[0], u64::MAX, is_put));
            assert!(!is_allowed(Key(77), 0, is_put));
            assert_eq!(is_allowed(keys[1], 0, is_put), !is_put);
            assert_eq!(is_allowed(keys[2], 0, is_put), is_put);
        }
        owner.withdraw(keys[0]).expect("connected");
        peer.try_progress().expect("connected");
        peer.try_get(keys[0], 0, 8, 0).expect("begun");
        assert!(!serve(&mut *owner, &mut *peer));
        peer.try_get(keys[1], 0, 8, 0).expect("begun");
        assert!(serve(&mut *owner, &mut *peer));
    }
}

struct Adder(u32);

impl Handlers for Adder {
    fn handle(
        &mut self,
        handler: Handler,
        arguments: &[u8],
        _: &mut dyn FnMut(Handler, &[u8]),
    ) -> std::result::Result<(), String> {
        self.0 += u32::from(handler) + u32::from(arguments[0]);
        Ok(())
    }
}

#[test]
fn streams_and_active_messages_go_over_it() {
    for provider in PROVIDERS {
        let (first, second) = pair(provider);
        let mut out = first.stream().expect("buffers");
        let mut back = second.stream().expect("buffers");
        assert_eq!(out.try_write(b"bytes").expect("room"), 5);
        let mut got = [0; 8];
        back.wait(Ready::Receive, soon()).expect("connected");
        assert_eq!(back.try_read(&mut got).expect("there are some"), 5);
        let (first, second) = pair(provider);
        let mut caller = first.active_message().expect("buffers");
        let mut callee = second.active_message().expect("buffers");
        caller.try_call(3, &[IoSlice::new(&[4])]).expect("room");
        let mut adder = Adder(0);
        while callee.try_progress(&mut adder).expect("connected") == 0 {
            callee.wait(Ready::Receive, soon()).expect("connected");
        }
        assert_eq!(adder.0, 7);
    }
}

#[test]
fn garbage_at_the_door_disturbs_nobody() {
    let ofi = ofi();
    let mut listener = listen(&ofi, "tcp");
    let to = listener.address().clone();
    let Address::Ofi(_, host, port) = &to else { panic!("{to}") };
    let call = || TcpStream::connect((host.as_str(), *port)).expect("it listens");
    let silent = call();
    let mut garbage = call();
    garbage.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("sent");
    let mut liar = call();
    liar.write_all(&hello::write(&hello())).expect("sent");
    liar.write_all(&Offer { provider: "tcp".into(), rma: true, name: vec![9; 3] }.write())
        .expect("sent");
    thread::scope(|scope| {
        let connector = scope.spawn(|| ofi.connect(&to, &hello(), soon()).expect("connected"));
        let mut end = listener.accept(soon()).expect("accepted").datagram().expect("buffers");
        let mut other = connector.join().expect("no panic").datagram().expect("buffers");
        end.send(&[IoSlice::new(b"well")], soon()).expect("sent");
        assert_eq!(take(&mut *other), b"well");
    });
    let mut answer = Vec::new();
    garbage.read_to_end(&mut answer).expect("it is told");
    let refusal = hello::read_answer(&answer).expect_err("it is refused").to_string();
    assert!(refusal.contains("MSTR"), "{refusal}");
    drop((silent, liar));
}

#[test]
fn want_of_a_library_says_what_to_install() {
    let unsupported = |ofi: &Ofi, provider: &str| {
        let at = Address::Ofi(provider.to_owned(), "127.0.0.1".to_owned(), 0);
        match ofi.listen(&at).map(drop) {
            Err(error @ Error::Unsupported { .. }) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let absent = unsupported(&Ofi::with_library("/nowhere/libfabric.so.1".into()), "tcp");
    assert!(absent.contains("/nowhere/libfabric.so.1"), "{absent}");
    assert!(absent.contains("install libfabric 2.0 or newer"), "{absent}");
    let folder = Folder::new();
    let old = folder.library("uint32_t fi_version(void) { return 1u << 16 | 17; }");
    let old = unsupported(&Ofi::with_library(old), "tcp");
    assert!(old.contains("is version 1.17") && old.contains("2.0 or newer"), "{old}");
    let other = unsupported(&Ofi::with_library(folder.compile("int x;")), "tcp");
    assert!(other.contains("is no libfabric"), "{other}");
    let provider = unsupported(&ofi(), "nonsense");
    assert!(provider.contains("\"nonsense\""), "{provider}");
}

/// A folder for what a C compiler makes.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let name = format!("muster-ofi-{}-{:?}", std::process::id(), thread::current().id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a new folder");
        Folder(path)
    }

    /// A library with all of libfabric's names, and one of them done.
    fn library(&self, version: &str) -> PathBuf {
        let others = ["getinfo", "dupinfo", "freeinfo", "fabric", "strerror"];
        let others: String =
            others.iter().map(|name| format!("void fi_{name}(void) {{}}")).collect();
        self.compile(&format!("#include <stdint.h>\n{version}\n{others}"))
    }

    fn compile(&self, source: &str) -> PathBuf {
        let library = self.0.join(format!("{}.so", source.len()));
        self.cc(source, &library, &["-shared", "-fPIC"]);
        library
    }

    fn cc(&self, source: &str, to: &Path, options: &[&str]) {
        let file = self.0.join("source.c");
        std::fs::write(&file, source).expect("written");
        let mut cc = Command::new("cc");
        cc.args(options).arg(&file).arg("-o").arg(to);
        assert!(cc.status().expect("a C compiler").success(), "{source}");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Rust's offsets of these members, and C's, as a line each.
macro_rules! offsets {
    ($($rust:ident $c:literal: $($member:ident $name:literal),+;)+) => {
        [$(
            $((
                format!("{} {} {}", $c, $name, std::mem::offset_of!(abi::$rust, $member)),
                format!(
                    r#"printf("%s %s %zu\n", "{0}", "{1}", offsetof(struct {0}, {1}));"#,
                    $c, $name
                ),
            ),)+
        )+]
    };
}

#[test]
fn structures_lie_as_the_headers_of_libfabric_say() {
    let all = offsets! {
        Fid "fid": class "fclass", context "context", ops "ops";
        FidOps "fi_ops": close "close", bind "bind", control "control";
        Fabric "fid_fabric": ops "ops", api_version "api_version";
        FabricOps "fi_ops_fabric": domain "domain", trywait "trywait";
        Domain "fid_domain": ops "ops", mr "mr";
        DomainOps "fi_ops_domain": av_open "av_open", cq_open "cq_open", endpoint "endpoint";
        MrOps "fi_ops_mr": reg "reg";
        Mr "fid_mr": mem_desc "mem_desc", key "key";
        Av "fid_av": ops "ops";
        AvOps "fi_ops_av": insert "insert";
        AvAttr "fi_av_attr": kind "type", count "count", flags "flags";
        Cq "fid_cq": ops "ops";
        CqOps "fi_ops_cq": read "read", readerr "readerr";
        CqAttr "fi_cq_attr": size "size", format "format", wait_obj "wait_obj",
            signaling_vector "signaling_vector", wait_cond "wait_cond", wait_set "wait_set";
        CqMsgEntry "fi_cq_msg_entry": op_context "op_context", flags "flags", len "len";
        CqErrEntry "fi_cq_err_entry": op_context "op_context", olen "olen", err "err",
            prov_errno "prov_errno", err_data_size "err_data_size", src_addr "src_addr";
        Ep "fid_ep": ops "ops", cm "cm", msg "msg", rma "rma";
        CmOps "fi_ops_cm": getname "getname";
        MsgOps "fi_ops_msg": recv "recv", send "send";
        RmaOps "fi_ops_rma": readmsg "readmsg", writemsg "writemsg";
        RmaIov "fi_rma_iov": addr "addr", len "len", key "key";
        MsgRma "fi_msg_rma": msg_iov "msg_iov", desc "desc", iov_count "iov_count", addr "addr",
            rma_iov "rma_iov", rma_iov_count "rma_iov_count", context "context", data "data";
        Info "fi_info": caps "caps", mode "mode", addr_format "addr_format",
            tx_attr "tx_attr", rx_attr "rx_attr", ep_attr "ep_attr", domain_attr "domain_attr",
            fabric_attr "fabric_attr", nic "nic";
        TxAttr "fi_tx_attr": caps "caps", msg_order "msg_order", size "size";
        RxAttr "fi_rx_attr": caps "caps", msg_order "msg_order", size "size";
        EpAttr "fi_ep_attr": kind "type", max_msg_size "max_msg_size";
        DomainAttr "fi_domain_attr": threading "threading", control_progress "control_progress",
            data_progress "data_progress", resource_mgmt "resource_mgmt", mr_mode "mr_mode";
        FabricAttr "fi_fabric_attr": prov_name "prov_name", api_version "api_version";
    };
    let headers = ["fabric", "fi_domain", "fi_endpoint", "fi_cm", "fi_rma", "fi_eq"];
    let includes: String =
        headers.iter().map(|name| format!("#include <rdma/{name}.h>\n")).collect();
    let ours = all.iter().map(|(line, _)| format!("{line}\n")).collect::<String>();
    let prints: String = all.iter().map(|(_, print)| format!("{print}\n")).collect();
    let source = format!(
        "#include <stddef.h>\n#include <stdio.h>\n{includes}int main(void) {{\n{prints}return 0; }}"
    );
    let (made, include) = (Folder::new(), folder().join("include"));
    let program = made.0.join("offsets");
    made.cc(&source, &program, &["-I", include.to_str().expect("UTF-8")]);
    let output = Command::new(program).output().expect("it runs").stdout;
    assert_eq!(ours, String::from_utf8_lossy(&output));
    // What operations need, and the size of the entries that a library fills.
    assert_eq!(size_of::<abi::CqMsgEntry>(), 24);
    assert_eq!(size_of::<abi::CqErrEntry>(), 88);
}

/// The bytes that `docs/wire/ofi.md` shows below a heading.
fn sample(name: &str) -> Vec<u8> {
    let text = include_str!("../../../../../docs/wire/ofi.md");
    let from = text.find(&format!("```{name}\n")).expect("the document has it") + name.len() + 4;
    let hex = text[from..].split("```").next().expect("it ends");
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).expect("hex")).collect()
}

#[test]
fn the_documents_samples_are_what_is_said() {
    let offer = Offer { provider: "tcp".into(), rma: true, name: vec![2, 0, 0x1b, 0x58] };
    assert_eq!(offer.write(), sample("offer"));
    assert_eq!(Offer::read(&sample("offer")), Ok(Some((offer, sample("offer").len()))));
    assert_eq!(farewell(258).to_vec(), sample("farewell"));
    assert_eq!(read_farewell(&sample("farewell")), Ok(Some(258)));
    let header = Header { kind: Kind::First, order: 3, credits: 8, number: 5 };
    let mut piece = header.write().to_vec();
    piece.extend(b"hello");
    assert_eq!(piece, sample("piece"));
    assert_eq!(Header::read(&piece), Ok((header, &b"hello"[..])));
    let place = Place { key: 1, address: 0x7f00 };
    let word = Word::Region { place, size: 64, rights: Rights::READ };
    assert_eq!(word.write(), sample("region"));
    assert_eq!(Word::read(&sample("region")), Ok(word));
    for word in [Word::None, Word::Gone, Word::Released, Word::Ask] {
        assert_eq!(Word::read(&word.write()), Ok(word));
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_something_or_refused(bytes: Vec<u8>) {
        let _ = (Offer::read(&bytes), read_farewell(&bytes), Word::read(&bytes));
        let _ = Header::read(&bytes);
    }
}
