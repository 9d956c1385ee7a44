//! Shells over sockets of this machine.

use super::*;
use crate::heartbeat::{self, Heartbeat};
use crate::protocol::{Malformed, Outgoing, Payload};
use crate::strategy::Datagram;
use crate::transport::socket::Unix;
use crate::transport::{self, Adapter, Capabilities, Hello, Lane, ofi};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

/// Where nodes listen; goes with what is in it.
pub(crate) struct Place {
    dir: Option<PathBuf>,
    /// What an address in it is of.
    path: fn(PathBuf) -> Address,
    patience: Duration,
    /// Where all begin to listen, without a directory.
    door: Address,
    addresses: BTreeMap<NodeId, Address>,
    transports: Transports,
}

impl Place {
    pub(crate) fn tcp() -> Place {
        Place::at(Address::Tcp("127.0.0.1".to_owned(), 0), Transports::default())
    }

    /// Over connections without a descriptor.
    fn ofi() -> Place {
        let transports = Transports::default().with(ofi::tests::ofi());
        Place::at(Address::Ofi("tcp".to_owned(), "127.0.0.1".to_owned(), 0), transports)
    }

    fn at(door: Address, transports: Transports) -> Place {
        // Node 7 belongs to all clusters and has no shell: tests speak in its name.
        let addresses = BTreeMap::from([(NodeId(7), Address::Process("nobody".to_owned()))]);
        let patience = Duration::from_micros(20);
        Place { dir: None, path: Address::Unix, patience, door, addresses, transports }
    }

    pub(crate) fn unix() -> Place {
        Place::in_dir(Address::Unix)
    }

    /// Over shared memory: what has come shows without a call of the system.
    pub(crate) fn shm(patience: Duration) -> Place {
        let mut place = Place::in_dir(Address::Shared);
        place.patience = patience;
        place
    }

    fn in_dir(path: fn(PathBuf) -> Address) -> Place {
        static NUMBER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = format!("muster-shell-{}-{number}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir(&dir).expect("a directory can be made");
        let mut place = Place::tcp();
        (place.dir, place.path) = (Some(dir), path);
        place
    }

    /// Listens as nodes 0 to count - 1.
    pub(crate) fn listen(&mut self, count: u32) -> Vec<Box<dyn Listener>> {
        let mut listen = |node: u32| {
            let address = match &self.dir {
                Some(dir) => (self.path)(dir.join(node.to_string())),
                None => self.door.clone(),
            };
            let transport = self.transports.of(&address).expect("it is known");
            let listener = transport.listen(&address).expect("it is free");
            self.addresses.insert(NodeId(node), listener.address().clone());
            listener
        };
        (0..count).map(&mut listen).collect()
    }

    pub(crate) fn setup(&self, me: NodeId, service: &str) -> Setup {
        Setup {
            me,
            service: service.to_owned(),
            addresses: self.addresses.clone(),
            transports: self.transports.clone(),
            patience: self.patience,
            group: None,
        }
    }

    /// Connects as somebody, past any shell.
    fn connect(&self, to: u32, name: &str) -> Box<dyn Datagram> {
        let address = &self.addresses[&NodeId(to)];
        let name = name.to_owned();
        let hello = Hello { name, service: "talk".to_owned(), lane: Lane::System };
        let transport = transport::of(address).expect("it is known");
        let adapter = transport.connect(address, &hello, soon()).expect("it is there");
        adapter.datagram().expect("it has messages")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(dir) = &self.dir {
            let _ = std::fs::remove_dir_all(dir);
        }
    }
}

fn soon() -> Deadline {
    Deadline::after(Duration::from_secs(30))
}

/// A protocol that says what it is asked to say, and tells what it hears.
#[derive(Default)]
struct Talk {
    out: VecDeque<Outgoing>,
    heard: VecDeque<Heard>,
    alarm: Option<Time>,
}

#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Said(NodeId, Vec<u8>, Payload),
    Lost(NodeId),
    Alarm(Time),
}

enum Ask {
    Say(u32, Vec<u8>, Payload),
    Alarm(Time),
}

impl Protocol for Talk {
    type Request = Ask;
    type Notice = Heard;

    fn is_urgent(head: &[u8]) -> bool {
        head == b"now"
    }

    fn request(&mut self, _: Time, request: Ask) {
        match request {
            Ask::Say(to, head, body) => {
                self.out.push_back(Outgoing { to: NodeId(to), head, body });
            }
            Ask::Alarm(time) => self.alarm = Some(time),
        }
    }

    fn receive(
        &mut self,
        now: Time,
        from: NodeId,
        head: &[u8],
        body: Payload,
    ) -> std::result::Result<(), Malformed> {
        if head == b"slow" {
            // As if the whole node had been stopped.
            self.alarm = Some(now + Duration::from_millis(1));
            std::thread::sleep(Duration::from_millis(2));
        }
        if head == b"garbage" {
            return Err(Malformed { from, what: "garbage".to_owned() });
        }
        self.heard.push_back(Heard::Said(from, head.to_vec(), body));
        Ok(())
    }

    fn lost(&mut self, _: Time, peer: NodeId) {
        self.heard.push_back(Heard::Lost(peer));
    }

    fn tick(&mut self, now: Time) {
        self.alarm = None;
        self.heard.push_back(Heard::Alarm(now));
    }

    fn alarm(&self) -> Option<Time> {
        self.alarm
    }

    fn outgoing(&mut self) -> Option<Outgoing> {
        self.out.pop_front()
    }

    fn notice(&mut self) -> Option<Heard> {
        self.heard.pop_front()
    }
}

/// A shell that talks, and what it hears.
struct Talker {
    shell: Shell<Talk>,
    heard: Receiver<Heard>,
}

impl Talker {
    fn start(place: &Place, me: u32, listener: Box<dyn Listener>) -> Talker {
        let (tell, heard) = channel();
        let handler = move |_: Time, _: &Talk, notice: Heard| drop(tell.send(notice));
        let setup = place.setup(NodeId(me), "talk");
        let shell = Shell::start(setup, listener, |_| Talk::default(), handler).expect("it starts");
        Talker { shell, heard }
    }

    fn say(&self, to: u32, head: &[u8], body: impl Into<Payload>) {
        let body = body.into();
        while let Err(error) = self.shell.request(Ask::Say(to, head.to_vec(), body.clone())) {
            assert!(error.is_would_block(), "{error}");
            std::thread::yield_now();
        }
    }

    fn hear(&self) -> Heard {
        self.heard.recv_timeout(Duration::from_secs(30)).expect("something is heard")
    }
}

fn talkers(place: &mut Place, count: u32) -> Vec<Talker> {
    let listeners = place.listen(count);
    (0..count).zip(listeners).map(|(node, door)| Talker::start(place, node, door)).collect()
}

fn said(from: u32, head: &[u8], body: impl Into<Payload>) -> Heard {
    Heard::Said(NodeId(from), head.to_vec(), body.into())
}

fn messages_arrive_in_order(mut place: Place, longest: usize) {
    let talkers = talkers(&mut place, 2);
    let large = vec![7; longest];
    // Both begin at once, and use one connection.
    for number in 0..2000u32 {
        talkers[0].say(1, &number.to_le_bytes(), vec![]);
        talkers[1].say(0, &number.to_le_bytes(), vec![1]);
        if number % 500 == 0 {
            talkers[0].say(1, b"large", large.clone());
        }
    }
    for number in 0..2000u32 {
        assert_eq!(talkers[0].hear(), said(1, &number.to_le_bytes(), vec![1]));
        assert_eq!(talkers[1].hear(), said(0, &number.to_le_bytes(), vec![]));
        if number % 500 == 0 {
            assert!(talkers[1].hear() == said(0, b"large", large.clone()));
        }
    }
}

#[test]
fn a_shell_whose_service_no_hello_can_say_does_not_start() {
    for (service, why) in [("s".repeat(256), "at most 255"), ("a\n".to_owned(), "control")] {
        let mut place = Place::tcp();
        let listener = place.listen(1).remove(0);
        let handler = |_: Time, _: &Talk, _: Heard| {};
        let setup = place.setup(NodeId(0), &service);
        let started = Shell::start(setup, listener, |_| Talk::default(), handler);
        let error = started.err().expect("it is refused").to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn messages_of_two_who_begin_at_once_arrive_in_order_over_unix_sockets() {
    messages_arrive_in_order(Place::unix(), 3 << 20);
}

#[test]
fn messages_of_two_who_begin_at_once_arrive_in_order_over_shared_memory() {
    for patience in [Duration::ZERO, Duration::from_millis(1)] {
        messages_arrive_in_order(Place::shm(patience), 3 << 20);
    }
}

#[test]
fn messages_of_two_who_begin_at_once_arrive_in_order_over_tcp() {
    messages_arrive_in_order(Place::tcp(), 3 << 20);
}

#[test]
fn who_ends_is_lost_and_found_when_it_begins_again() {
    [Place::unix(), Place::shm(Duration::ZERO)].into_iter().for_each(who_ends_is_lost_and_found);
}

fn who_ends_is_lost_and_found(mut place: Place) {
    let mut all = talkers(&mut place, 2);
    all[0].say(1, b"hi", vec![]);
    assert_eq!(all[1].hear(), said(0, b"hi", vec![]));
    drop(all.pop());
    assert_eq!(all[0].hear(), Heard::Lost(NodeId(1)));
    // Nobody is there: what is said is lost.
    all[0].say(1, b"hi", vec![]);
    assert_eq!(all[0].hear(), Heard::Lost(NodeId(1)));
    let address = place.addresses[&NodeId(1)].clone();
    let listener = transport::of(&address).unwrap().listen(&address).expect("it is free again");
    let again = Talker::start(&place, 1, listener);
    again.say(0, b"here", vec![]);
    assert_eq!(all[0].hear(), said(1, b"here", vec![]));
    all[0].say(1, b"hi", vec![]);
    assert_eq!(again.hear(), said(0, b"hi", vec![]));
}

#[test]
fn messages_of_two_who_begin_at_once_arrive_in_order_without_descriptors() {
    messages_arrive_in_order(Place::ofi(), 1 << 20);
}

#[test]
fn a_head_may_be_longer_than_sixteen_bits_say() {
    let mut place = Place::unix();
    let all = talkers(&mut place, 2);
    for size in [0xffff, 0x1_0000, 0x2_0001] {
        let head = vec![1; size];
        all[0].say(1, &head, vec![2; 3]);
        assert!(all[1].hear() == said(0, &head, vec![2; 3]), "{size}");
    }
}

#[test]
fn garbage_ends_its_connection_and_no_other() {
    let mut place = Place::tcp();
    let all = talkers(&mut place, 2);
    for (number, garbage) in
        [&b"\xff"[..], b"\xff\xff\xff\xff", b"\x07\0\0\0garbage"].iter().enumerate()
    {
        let name = wire::name(NodeId(7), number as u64);
        let mut stranger = place.connect(0, &name);
        let mut verdict = Vec::new();
        stranger.take(soon(), &mut |message| verdict = message.to_vec()).expect("a verdict");
        assert_eq!(wire::read_verdict(&verdict).map(|(is_used, _)| is_used), Some(true));
        stranger.send(&[IoSlice::new(garbage)], soon()).expect("it is taken");
        stranger.take(soon(), &mut |_| ()).expect_err("the connection ends");
        assert_eq!(all[0].hear(), Heard::Lost(NodeId(7)));
    }
    // Names that are none, and one's own.
    for name in ["", "x", "7", "7.1", "07.0000000000000001"] {
        place.connect(0, name).take(soon(), &mut |_| ()).expect_err("nobody has this name");
    }
    let mut verdict = Vec::new();
    let mut myself = place.connect(0, &wire::name(NodeId(0), 1));
    myself.take(soon(), &mut |message| verdict = message.to_vec()).expect("a verdict");
    assert_eq!(verdict[0], 0);
    all[1].say(0, b"hi", vec![]);
    assert_eq!(all[0].hear(), said(1, b"hi", vec![]));
}

/// What the first message to somebody says.
fn first(stranger: &mut dyn Datagram) -> Vec<u8> {
    let mut first = Vec::new();
    stranger.take(soon(), &mut |message| first = message.to_vec()).expect("a first message");
    first
}

#[test]
fn who_is_not_in_the_membership_list_is_told_so_and_not_heard() {
    for mut place in [Place::tcp(), Place::unix()] {
        let all = talkers(&mut place, 2);
        let mut stranger = place.connect(0, &wire::name(NodeId(9), 1));
        let why = wire::read_refusal(&first(&mut *stranger)).expect("a refusal");
        assert_eq!(why, "node 9 is not in the membership list");
        let _ = stranger.send(&[IoSlice::new(b"\x02\0hi")], soon());
        stranger.take(soon(), &mut |_| ()).expect_err("the connection ends");
        all[1].say(0, b"hi", vec![]);
        assert_eq!(all[0].hear(), said(1, b"hi", vec![]));
    }
}

/// An address of this machine that other machines may know, if it has one.
fn outer_address() -> Option<std::net::IpAddr> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent: the kernel only says by which way it would go.
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip())
}

#[test]
fn without_protection_only_this_machines_nodes_are_talked_to() {
    let Some(outer) = outer_address() else { return };
    let mut place = Place::tcp();
    let at = Address::Tcp(outer.to_string(), 0);
    let listener = transport::of(&at).unwrap().listen(&at).expect("it is ours");
    place.addresses.insert(NodeId(0), listener.address().clone());
    let listeners = place.listen(2);
    let other = listeners.into_iter().nth(1).expect("two");
    place.addresses.insert(NodeId(0), listener.address().clone());
    let all = [Talker::start(&place, 0, listener), Talker::start(&place, 1, other)];
    let mut stranger = place.connect(0, &wire::name(NodeId(7), 1));
    let why = wire::read_refusal(&first(&mut *stranger)).expect("a refusal");
    assert!(why.contains("protection"), "{why}");
    // Nor does a node send anything there.
    all[1].say(0, b"hi", vec![]);
    assert_eq!(all[1].hear(), Heard::Lost(NodeId(0)));
    all[0].say(1, b"hi", vec![]);
    assert_eq!(all[1].hear(), said(0, b"hi", vec![]));
}

#[test]
fn a_peer_that_does_not_read_is_lost_and_holds_up_nobody() {
    let mut place = Place::unix();
    let all = talkers(&mut place, 2);
    let mut deaf = place.connect(0, &wire::name(NodeId(7), 1));
    deaf.take(soon(), &mut |_| ()).expect("a verdict");
    deaf.send(&[IoSlice::new(b"\x02\0\0\0hi")], soon()).expect("it is taken");
    assert_eq!(all[0].hear(), said(7, b"hi", vec![]));
    let body = Payload::from(vec![0; 1 << 20]);
    let mut lost = false;
    for _ in 0..100 {
        all[0].say(7, b"much", body.clone());
        all[0].say(1, b"hi", vec![]);
        assert_eq!(all[1].hear(), said(0, b"hi", vec![]));
        lost |= all[0].heard.try_iter().any(|heard| heard == Heard::Lost(NodeId(7)));
    }
    assert!(lost, "100 MiB are more than may wait");
}

/// A heartbeat is not to wait until all bodies before it are through.
#[test]
fn what_is_urgent_overtakes_bodies_that_wait() {
    let mut place = Place::unix();
    let all = talkers(&mut place, 1);
    let mut slow = place.connect(0, &wire::name(NodeId(7), 1));
    slow.take(soon(), &mut |_| ()).expect("a verdict");
    let body = Payload::from(vec![0; 1 << 20]);
    (0..16).for_each(|_| all[0].say(7, b"much", body.clone()));
    all[0].say(7, b"now", vec![1]);
    all[0].say(7, b"now", vec![2]);
    let mut heard = Vec::new();
    for _ in 0..18 {
        let take = &mut |message: &[u8]| {
            let (_, head, body) = wire::divide(message).expect("a message");
            heard.push(if head == b"now" { body[0] } else { 0 });
        };
        slow.take(soon(), take).expect("a message");
    }
    let at = heard.iter().position(|kind| *kind == 1).expect("it came");
    assert!(at <= 2, "one body was on its way, perhaps in two messages: {heard:?}");
    assert_eq!(heard[at + 1], 2, "{heard:?}");
    assert_eq!(heard.iter().filter(|kind| **kind == 0).count(), 16);
}

#[test]
fn an_alarm_is_never_early() {
    let mut place = Place::unix();
    let all = talkers(&mut place, 1);
    for _ in 0..20 {
        let time = all[0].shell.clock().now() + Duration::from_micros(777);
        all[0].shell.request(Ask::Alarm(time)).expect("it is taken");
        let Heard::Alarm(when) = all[0].hear() else { panic!("an alarm") };
        assert!(when >= time);
    }
}

/// Who was stopped between two messages that came at once knows it before it takes the second.
#[test]
fn an_alarm_goes_off_between_two_messages_that_came_at_once() {
    let mut place = Place::unix();
    let all = talkers(&mut place, 1);
    let mut stranger = place.connect(0, &wire::name(NodeId(7), 1));
    stranger.take(soon(), &mut |_| ()).expect("a verdict");
    for head in [b"slow", b"next"] {
        let size = wire::size(head.len(), false);
        stranger.try_queue(&[&size, head], &Payload::default()).expect("there is room");
    }
    assert!(stranger.try_flush().expect("it is taken"));
    assert_eq!(all[0].hear(), said(7, b"slow", vec![]));
    assert!(matches!(all[0].hear(), Heard::Alarm(_)));
    assert_eq!(all[0].hear(), said(7, b"next", vec![]));
}

/// Unix sockets of which there are no more.
struct Exhausted;

impl Transport for Exhausted {
    fn scheme(&self) -> &'static str {
        Unix.scheme()
    }

    fn capabilities(&self) -> Capabilities {
        Unix.capabilities()
    }

    fn listen(&self, at: &Address) -> Result<Box<dyn Listener>> {
        Unix.listen(at)
    }

    fn connect(&self, _: &Address, _: &Hello, _: Deadline) -> Result<Box<dyn Adapter>> {
        let source = std::io::Error::from_raw_os_error(libc::EMFILE);
        Err(Error::Exhausted { what: "file descriptors", source })
    }
}

/// That this node has nothing to connect with is no proof of another's death.
#[test]
fn who_could_not_be_connected_to_for_want_of_something_here_is_not_lost() {
    let mut place = Place::unix();
    let listeners = place.listen(2);
    place.transports = Transports::default().with(Exhausted);
    let mut doors = listeners.into_iter();
    let node = Talker::start(&place, 0, doors.next().expect("a listener"));
    for _ in 0..3 {
        node.say(1, b"hi", vec![]);
        let heard = node.heard.recv_timeout(Duration::from_millis(50));
        assert!(heard.is_err(), "{heard:?}");
    }
    // Nobody listens there: that is known for certain.
    drop(doors);
    place.transports = Transports::default();
    drop(node);
    let address = place.addresses[&NodeId(0)].clone();
    let listener = transport::of(&address).unwrap().listen(&address).expect("it is free again");
    let node = Talker::start(&place, 0, listener);
    node.say(1, b"hi", vec![]);
    assert_eq!(node.hear(), Heard::Lost(NodeId(1)));
}

#[test]
fn the_doors_of_a_shell_that_does_not_start_are_closed() {
    let mut place = Place::unix();
    let listener = place.listen(1).remove(0);
    let address = listener.address().clone();
    let inbox = Arc::new(Inbox::new().expect("descriptors"));
    let setup = place.setup(NodeId(0), "talk");
    drop(door::Doors::<Talk>::open(&setup, listener, inbox).expect("it listens"));
    transport::of(&address).unwrap().listen(&address).expect("nobody listens there");
}

#[test]
fn a_heartbeat_reaches_all_and_a_death_is_told() {
    let mut place = Place::unix();
    let listeners = place.listen(8);
    let mut shells = Vec::new();
    let mut notices = Vec::new();
    for (node, listener) in (0..8).zip(listeners) {
        let (tell, told) = channel();
        let handler =
            move |_: Time, _: &Heartbeat, notice: heartbeat::Notice| drop(tell.send(notice));
        let config = heartbeat::Config {
            arity: 2,
            period: Duration::from_millis(5),
            ..heartbeat::Config::new(NodeId(node), NodeId(0), 1)
        };
        let setup = place.setup(NodeId(node), "heartbeat");
        let start = |now| Heartbeat::new(config, now);
        shells.push(Shell::start(setup, listener, start, handler).expect("it starts"));
        notices.push(told);
    }
    let ask = |request| shells[0].request(request).expect("it is taken");
    ask(heartbeat::Request::Members { epoch: 1, members: (0..8).map(NodeId).collect() });
    ask(heartbeat::Request::Event(heartbeat::Event::new(heartbeat::USER, b"all".to_vec())));
    for told in &notices {
        let mut last = 0;
        loop {
            let notice = told.recv_timeout(Duration::from_secs(30)).expect("a strobe");
            let heartbeat::Notice::Strobe { sequence, events, .. } = notice else { continue };
            assert_eq!(sequence, last + 1);
            last = sequence;
            if events.iter().any(|event| event.kind == heartbeat::USER) {
                break;
            }
        }
    }
    drop(shells.pop());
    let lost = heartbeat::Notice::Lost { node: NodeId(7) };
    while notices[0].recv_timeout(Duration::from_secs(30)).expect("the death is told") != lost {}
}

#[test]
fn nothing_is_left_when_a_shell_ends() {
    let mut place = Place::unix();
    let all = talkers(&mut place, 3);
    all[0].say(1, b"hi", vec![]);
    all[0].say(2, b"hi", vec![]);
    assert_eq!(all[2].hear(), said(0, b"hi", vec![]));
    drop(all);
    let dir = place.dir.clone().expect("a directory");
    let sockets = std::fs::read_dir(dir).expect("it is there").filter(|entry| {
        use std::os::unix::fs::FileTypeExt;
        entry.as_ref().is_ok_and(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket()))
    });
    assert_eq!(sockets.count(), 0);
}

#[test]
fn the_samples_of_the_document_are_read() {
    let text = include_str!("../../../../docs/wire/shell.md");
    let sample = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("a sample");
        line.trim().to_owned()
    };
    let bytes = |text: String| -> Vec<u8> {
        text.split(' ').map(|hex| u8::from_str_radix(hex, 16).expect("hexadecimal")).collect()
    };
    assert_eq!(wire::read_name(&sample("name ")), Some((NodeId(7), 0xff)));
    assert_eq!(wire::name(NodeId(7), 0xff), sample("name "));
    let verdict = bytes(sample("verdict "));
    assert_eq!(wire::read_verdict(&verdict), Some((true, 0xff)));
    assert_eq!(wire::verdict(true, 0xff)[..], verdict);
    let refusal = bytes(sample("refusal "));
    assert_eq!(wire::refusal("no room"), refusal);
    assert_eq!(wire::read_refusal(&refusal).as_deref(), Some("no room"));
    assert_eq!((wire::read_verdict(&refusal), wire::read_refusal(&verdict)), (None, None));
    let message = bytes(sample("message "));
    assert_eq!(wire::divide(&message), Some((false, &b"head"[..], &b"body"[..])));
    assert_eq!((wire::divide(&message[..3]), wire::divide(&message[..7])), (None, None));
    let control = bytes(sample("control "));
    assert_eq!(wire::divide(&control), Some((true, &[1][..], &[][..])));
    assert_eq!((wire::size(4, false), wire::size(1, true)), ([4, 0, 0, 0], [1, 0, 0, 0x80]));
}

#[test]
fn who_looks_at_a_protocol_knows_no_more_than_its_handler_was_told() {
    use std::sync::atomic::{AtomicU64, Ordering};
    let mut place = Place::unix();
    let listener = place.listen(1).remove(0);
    let told = Arc::new(AtomicU64::new(0));
    let count = told.clone();
    let handler = move |_: Time, _: &Talk, _: Heard| {
        count.fetch_add(1, Ordering::Relaxed);
    };
    let setup = place.setup(NodeId(0), "talk");
    let shell = Shell::start(setup, listener, |_| Talk::default(), handler).expect("it starts");
    for round in 1..=100 {
        // It has passed already, so it goes off before anything else is done, which is told.
        shell.request(Ask::Alarm(Time(0))).expect("it is taken");
        let look = || {
            let told = told.clone();
            let look =
                move |_, talk: &mut Talk| (talk.alarm.is_some(), told.load(Ordering::Relaxed));
            shell.look(soon(), look).expect("it looks")
        };
        loop {
            let (is_set, told) = look();
            assert_eq!(told + u64::from(is_set), round);
            if !is_set {
                break;
            }
        }
    }
}

#[test]
fn every_kind_of_the_primitives_messages_is_counted_as_itself() {
    let traffic = Traffic::default();
    let kinds = crate::primitive::KINDS;
    (0..=u8::MAX).for_each(|kind| traffic.count(&[kind]));
    let counted = traffic.kinds.map(|count| count.load(Ordering::Relaxed));
    assert_eq!(counted.len(), kinds.len());
    assert!(counted[1..].iter().all(|count| *count == 1), "{counted:?}");
}
