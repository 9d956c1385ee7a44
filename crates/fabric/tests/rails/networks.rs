//! Rails that end, and networks that are set down, come back and differ in what they can carry: two
//! network namespaces with two pairs of virtual cards between them, which need root.

use crate::{hello, listen_by, soon, told, watched};
use muster_fabric::Error;
use muster_fabric::address::Address;
use muster_fabric::strategy::Datagram;
use muster_fabric::transport::Transport;
use muster_fabric::transport::rails::Rails;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::io::{IoSlice, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const MESSAGE: usize = 256 * 1024;

/// What follows the number in each message.
static BODY: LazyLock<Vec<u8>> =
    LazyLock::new(|| (8..MESSAGE).map(|at| (at ^ (at >> 8)) as u8).collect());

/// Takes the next ones and finds them whole and in order.
fn take(end: &mut dyn Datagram, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let check = &mut |message: &[u8]| {
            assert_eq!(message[..8], number.to_le_bytes());
            assert!(message[8..] == **BODY, "number {number}");
        };
        end.take(soon(), check).unwrap();
    }
}

/// Sends one after the other until nobody wants more; why.
fn send_on(end: &mut dyn Datagram) -> Error {
    let mut numbers = (0..).map(u64::to_le_bytes);
    let send =
        |number: [u8; 8]| end.send(&[IoSlice::new(&number), IoSlice::new(&BODY)], soon()).err();
    numbers.find_map(send).expect("there is no end")
}

/// Stands between a connector and a rail, and can cut it.
struct Relay {
    address: Address,
    ends: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    fn to(there: &Address) -> Relay {
        let Address::Tcp(host, port) = there.clone() else { panic!("TCP") };
        let door = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = Address::Tcp("127.0.0.1".to_owned(), door.local_addr().unwrap().port());
        let ends = Arc::new(Mutex::new(Vec::new()));
        let kept = ends.clone();
        thread::spawn(move || {
            let here = door.accept().unwrap().0;
            let there = TcpStream::connect((host, port)).unwrap();
            kept.lock().unwrap().extend([here.try_clone().unwrap(), there.try_clone().unwrap()]);
            let ways = [(here.try_clone().unwrap(), there.try_clone().unwrap()), (there, here)];
            for (mut from, mut to) in ways {
                thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Both);
                });
            }
        });
        Relay { address, ends }
    }

    fn cut(&self) {
        for end in &*self.ends.lock().unwrap() {
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

#[test]
fn a_rail_that_ends_is_made_up_for_and_named_and_the_last_one_is_the_end() {
    let (transport, tales) = watched();
    let mut listener = listen_by(&transport);
    let Address::Rails(rails) = listener.address() else { panic!("rails") };
    let relays = [Relay::to(&rails[0]), Relay::to(&rails[1])];
    let there = Address::Rails(relays.iter().map(|relay| relay.address.clone()).collect());
    let sending = thread::spawn(move || {
        let mut end = transport.connect(&there, &hello(), soon()).unwrap().datagram().unwrap();
        send_on(&mut *end)
    });
    let mut end = listener.accept(soon()).unwrap().datagram().unwrap();
    take(&mut *end, 0..20);
    relays[0].cut();
    take(&mut *end, 20..80);
    told(&tales, &[&format!("1 left: {}: ", relays[0].address)]);
    relays[1].cut();
    let error = (0..1000).find_map(|_| end.take(soon(), &mut |_| {}).err()).unwrap();
    assert!(matches!(error, Error::Dead { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("no rail is left: rail 0: ") && text.contains("rail 1: "), "{text}");
    assert!(matches!(sending.join().unwrap(), Error::Dead { .. }));
}

/// A network namespace; it goes with its process.
struct Network(Child);

impl Network {
    fn new() -> Network {
        let mut command = Command::new("unshare");
        command.args(["--net", "cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut network = Network(command.spawn().expect("unshare(1) is there"));
        // It answers when it is where it should be.
        network.0.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        network.0.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        network
    }

    fn run(&self, command: &str) -> String {
        let pid = self.0.id().to_string();
        let mut inside = Command::new("nsenter");
        inside.args(["--target", &pid, "--net"]).args(command.split(' '));
        let output = inside.output().expect("nsenter(1) is there");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {told}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// This thread's network from now on, and that of threads that it starts.
    fn enter(&self) {
        let file = File::open(format!("/proc/{}/ns/net", self.0.id())).unwrap();
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
    }

    /// Bytes that a card has sent.
    fn sent(&self, card: &str) -> u64 {
        let table = self.run("cat /proc/self/net/dev");
        let line = table.lines().find(|line| line.trim_start().starts_with(card)).unwrap();
        line.split_whitespace().nth(9).unwrap().parse().unwrap()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two machines with two networks between them, `r0` and `r1`; none where that needs more rights.
fn machines() -> Option<[Network; 2]> {
    if !rustix::process::geteuid().is_root() {
        println!("  (only root makes networks)");
        return None;
    }
    let machines = [Network::new(), Network::new()];
    let other = machines[1].0.id();
    for rail in 0..2 {
        let card = format!("r{rail}");
        machines[0].run(&format!("ip link add {card} type veth peer name {card} netns {other}"));
        for (machine, number) in machines.iter().zip(1..) {
            machine.run(&format!("ip addr add 10.77.{rail}.{number}/24 dev {card}"));
            machine.run(&format!("ip link set {card} up"));
        }
    }
    Some(machines)
}

/// Lets the machine's networks carry so many Mbit/s: little enough for them to be what is slow.
fn limit(machine: &Network, rates: [u32; 2]) {
    for (card, rate) in ["r0", "r1"].into_iter().zip(rates) {
        let bucket = format!("tbf rate {rate}mbit burst 64kb latency 50ms");
        machine.run(&format!("tc qdisc add dev {card} root {bucket}"));
    }
}

/// The second machine's rails.
fn address() -> Address {
    let rail = |rail| Address::Tcp(format!("10.77.{rail}.2"), 0);
    Address::Rails(vec![rail(0), rail(1)])
}

/// The first machine sends without end, until the second, which does this, has had enough.
fn stream(
    machines: &[Network; 2],
    transport: &Rails,
    receive: impl FnOnce(&mut dyn Datagram) + Send,
) {
    let (listens, there) = channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            machines[1].enter();
            let mut listener = Rails::default().listen(&address()).unwrap();
            listens.send(listener.address().clone()).unwrap();
            let mut end = listener.accept(soon()).unwrap().datagram().unwrap();
            receive(&mut *end);
        });
        scope.spawn(move || {
            machines[0].enter();
            let there = there.recv().unwrap();
            let mut end = transport.connect(&there, &hello(), soon()).unwrap().datagram().unwrap();
            let error = send_on(&mut *end);
            assert!(matches!(error, Error::Closed { .. } | Error::Dead { .. }), "{error}");
        });
    });
}

#[test]
fn a_network_that_is_set_down_is_made_up_for_and_used_again_when_it_is_back() {
    let Some(machines) = machines() else { return };
    limit(&machines[0], [100, 100]);
    let (transport, tales) = watched();
    stream(&machines, &transport, |end| {
        take(end, 0..50);
        for card in ["r0", "r1"] {
            let sent = machines[0].sent(card);
            assert!(sent > 1 << 20, "{card} has carried {sent} bytes");
        }
        machines[0].run("ip link set r0 down");
        let before = machines[0].sent("r0");
        // More than was under way.
        take(end, 50..100);
        assert!(machines[0].sent("r0") - before < MESSAGE as u64, "it is down");
        machines[0].run("ip link set r0 up");
        let mut next = 100;
        let patience = soon();
        while machines[0].sent("r0") < before + (4 << 20) {
            assert!(patience.left().is_some(), "it is used again");
            take(end, next..next + 10);
            next += 10;
        }
    });
    told(&tales, &["is silent, others take over: tcp!10.77.0.2!"]);
}

#[test]
fn networks_share_by_what_they_can_carry() {
    let Some(machines) = machines() else { return };
    limit(&machines[0], [20, 80]);
    let before = ["r0", "r1"].map(|card| machines[0].sent(card));
    let start = Instant::now();
    stream(&machines, &Rails::default(), |end| take(end, 0..80));
    let time = start.elapsed();
    let [slow, fast] = [0, 1].map(|rail| machines[0].sent(["r0", "r1"][rail]) - before[rail]);
    println!("{slow} and {fast} bytes in {time:?}: {} Mbit/s", rate(slow + fast, time));
    let share = fast as f64 / slow as f64;
    // On a busy machine pauses count as well; the cores' test of the same has a clock of its own.
    assert!((1.5..16.0).contains(&share), "{fast} bytes go over the one, {slow} over the other");
}

fn rate(bytes: u64, time: Duration) -> u128 {
    u128::from(bytes) * 8 / time.as_micros()
}

#[test]
fn a_network_that_is_down_from_the_beginning_is_left_out_and_named() {
    let Some(machines) = machines() else { return };
    machines[1].run("ip link set r0 down");
    let (transport, tales) = watched();
    stream(&machines, &transport, |end| take(end, 0..10));
    told(&tales, &["cannot be had: tcp!10.77.0.2!"]);
}
