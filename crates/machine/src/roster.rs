//! Who belongs to a cluster, and where each is reached.
//!
//! On one machine nobody has to be told: a member's sockets are in the cluster's directory, under
//! its name. A cluster of several hosts has the file `roster` in the directory of each: a line a
//! member, with its number, its host, its address there, its ports and its public key. It is made
//! when the cluster is brought up and does not change; whose key is not in it is nobody. A line
//! `multicast ADDRESS:PORT` names the group in which all members hear long bodies at once.
//!
//! A process is one member. It [enters](Roster::enter) with its key, and from then on reaches the
//! others over TLS; between members of one machine nothing is entered.

use crate::hosts::address_towards;
use crate::keeper::Directory;
use crate::memory::{id_of, name_of};
use muster_base::limits::NODES_HERE_MAX;
use muster_fabric::protocol::NodeId;
use muster_fabric::shell::Transports;
use muster_fabric::shell::multicast::Group;
use muster_fabric::transport::socket::{Identity, Members, PublicKey, Tls};
use muster_fabric::transport::{self, Peer, Transport};
use muster_fabric::{self as fabric, Address};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::OnceLock;

/// The manager's number.
pub const MANAGER: NodeId = NodeId(0);

/// How the line with the group begins.
const GROUP: &str = "multicast ";

/// The file's name.
const FILE: &str = "roster";

/// Which member this process is, and how it proves that.
static SELF: OnceLock<Entered> = OnceLock::new();

struct Entered {
    me: NodeId,
    tls: Tls,
    /// Who is reached where.
    places: BTreeMap<(String, u16), NodeId>,
}

/// A member that is reached over the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub node: NodeId,
    /// Its host, as people name it.
    pub host: String,
    /// The host's address.
    pub address: IpAddr,
    /// The port of its files.
    pub line: u16,
    /// The port of its part of the global memory.
    pub shell: u16,
    /// Its key.
    pub key: PublicKey,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { node, host, address, line, shell, key } = self;
        write!(f, "{} {host} {address} {line} {shell} {key}", node.0)
    }
}

impl FromStr for Entry {
    type Err = io::Error;

    fn from_str(text: &str) -> io::Result<Entry> {
        let bad = || io::Error::other(format!("{text:?} is no member of a roster"));
        let words: Vec<&str> = text.split(' ').collect();
        let [node, host, address, line, shell, key] = words[..] else { return Err(bad()) };
        Ok(Entry {
            node: NodeId(node.parse().map_err(|_| bad())?),
            host: host.to_owned(),
            address: address.parse().map_err(|_| bad())?,
            line: line.parse().map_err(|_| bad())?,
            shell: shell.parse().map_err(|_| bad())?,
            key: key.parse().map_err(|_| bad())?,
        })
    }
}

/// Writes the roster of the cluster in `directory`, with its group if it has one.
///
/// # Errors
/// What the system says.
pub fn write(directory: &Path, entries: &[Entry], group: Option<SocketAddrV4>) -> io::Result<()> {
    let group = group.map(|group| format!("{GROUP}{group}\n"));
    let entries = entries.iter().map(|entry| format!("{entry}\n"));
    fs::write(directory.join(FILE), group.into_iter().chain(entries).collect::<String>())
}

/// Where a node's key is, in its cluster's directory.
pub fn key_file(directory: &Path, name: &str) -> PathBuf {
    directory.join(format!("{name}.key"))
}

/// The members of one cluster.
#[derive(Clone, Debug)]
pub struct Roster {
    directory: PathBuf,
    /// None on one machine.
    entries: Option<BTreeMap<NodeId, Entry>>,
    group: Option<SocketAddrV4>,
}

impl Roster {
    /// That of the cluster in `directory`.
    ///
    /// # Errors
    /// When its file cannot be read.
    pub fn of(directory: &Directory) -> io::Result<Roster> {
        let directory = directory.path().to_owned();
        let text = match fs::read_to_string(directory.join(FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Roster { directory, entries: None, group: None });
            }
            other => other?,
        };
        Roster::read(directory, &text)
    }

    fn read(directory: PathBuf, text: &str) -> io::Result<Roster> {
        let (mut entries, mut group) = (BTreeMap::new(), None);
        for line in text.lines() {
            if let Some(address) = line.strip_prefix(GROUP) {
                let bad = |_| io::Error::other(format!("{address:?} is no multicast group"));
                group = Some(address.parse().map_err(bad)?);
            } else {
                let entry: Entry = line.parse()?;
                entries.insert(entry.node, entry);
            }
        }
        Ok(Roster { directory, entries: Some(entries), group })
    }

    /// Whether its members are on several hosts.
    pub fn is_beyond(&self) -> bool {
        self.entries.is_some()
    }

    /// From now on this process is a member of that name, and has its key.
    ///
    /// # Errors
    /// When the key is not the one that the others know.
    pub fn enter(&self, me: NodeId, identity: &Identity) -> io::Result<()> {
        let Some(entries) = &self.entries else { return Ok(()) };
        if entries.get(&me).is_none_or(|entry| entry.key != identity.public_key()) {
            return Err(io::Error::other("the key is not the one that the roster has"));
        }
        let members = Members::default();
        for entry in entries.values() {
            members.pin(&entry.node.0.to_string(), entry.key).map_err(io::Error::other)?;
        }
        let places = |entry: &Entry| {
            let (host, node) = (entry.address.to_string(), entry.node);
            [((host.clone(), entry.line), node), ((host, entry.shell), node)]
        };
        let places = entries.values().flat_map(places).collect();
        // A process that enters again is the same member.
        let _ = SELF.set(Entered { me, tls: Tls::new(identity, &members), places });
        Ok(())
    }

    /// The same, of a node whose key is in the directory.
    ///
    /// # Errors
    /// As [`Roster::enter`], and when the key cannot be read.
    pub fn enter_node(&self, name: &str) -> io::Result<()> {
        if !self.is_beyond() {
            return Ok(());
        }
        let identity = Identity::load(&key_file(&self.directory, name));
        let me = id_of(name).ok_or_else(|| io::Error::other(format!("{name} is no node")))?;
        self.enter(me, &identity.map_err(io::Error::other)?)
    }

    /// Where a member serves its files; none for who is no member.
    pub fn line(&self, node: NodeId) -> Option<Address> {
        self.address(
            node,
            |entry| entry.line,
            || match node.0.checked_sub(1) {
                None => "manager.sock".to_owned(),
                Some(number) => format!("n{number}.sock"),
            },
        )
    }

    /// Where nodes on other hosts look for the manager, as far as it knows.
    pub fn manager_beyond(&self) -> Option<SocketAddr> {
        let manager = self.entries.as_ref()?.get(&MANAGER)?;
        Some(SocketAddr::new(manager.address, manager.line))
    }

    /// Where the parts of the global memory are, with their nodes.
    pub fn shells(&self) -> BTreeMap<NodeId, Address> {
        let all = match &self.entries {
            None => (0..=NODES_HERE_MAX as u32).map(NodeId).collect(),
            Some(entries) => entries.keys().copied().collect::<Vec<_>>(),
        };
        let shell = |node: NodeId| {
            let file = || format!("f{}.sock", node.0);
            Some((node, self.address(node, |entry| entry.shell, file)?))
        };
        all.into_iter().filter_map(shell).collect()
    }

    fn address(
        &self,
        node: NodeId,
        port: impl FnOnce(&Entry) -> u16,
        file: impl FnOnce() -> String,
    ) -> Option<Address> {
        match &self.entries {
            None => Some(Address::Unix(self.directory.join(file()))),
            Some(entries) => {
                let entry = entries.get(&node)?;
                Some(Address::Tls(entry.address.to_string(), port(entry)))
            }
        }
    }

    /// Where all members hear long bodies at once that the manager sends, as one of them takes
    /// part in it.
    pub fn group(&self, me: NodeId) -> Option<Group> {
        match self.interface(me)? {
            IpAddr::V4(interface) => Some(Group::new(self.group?, interface, MANAGER)),
            IpAddr::V6(_) => None,
        }
    }

    /// The interface that leads a node to the manager, by its address; the manager's is the one
    /// that leads to a node of another machine, if there is one.
    fn interface(&self, me: NodeId) -> Option<IpAddr> {
        let entries = self.entries.as_ref()?;
        if me != MANAGER {
            return Some(entries.get(&me)?.address);
        }
        let nodes = entries.values().filter(|entry| entry.node != MANAGER);
        match nodes.map(|entry| entry.address).find(|address| !address.is_loopback()) {
            Some(there) => address_towards(there).ok(),
            None => Some(Ipv4Addr::LOCALHOST.into()),
        }
    }

    /// The host of a member, where there are several.
    pub fn host(&self, node: NodeId) -> Option<&str> {
        Some(&self.entries.as_ref()?.get(&node)?.host)
    }
}

/// Where one listens who is reached at an address: over the network at all of the host's, for they
/// may look different from elsewhere. Those of IPv6 hear IPv4, too.
pub fn listening(at: Address) -> Address {
    match at {
        Address::Tls(host, port) => {
            let any = if host.contains(':') { "::" } else { "0.0.0.0" };
            Address::Tls(any.to_owned(), port)
        }
        other => other,
    }
}

/// The transport of an address, TLS as the member that this process is.
///
/// # Errors
/// As [`transport::of`].
pub fn transport_of(address: &Address) -> fabric::Result<&'static dyn Transport> {
    match (address, SELF.get()) {
        (Address::Tls(..), Some(entered)) => Ok(&entered.tls),
        _ => transport::of(address),
    }
}

/// The same for shells.
pub fn transports() -> Transports {
    let tls = SELF.get().map(|entered| entered.tls.clone());
    tls.map_or_else(Transports::default, |tls| Transports::default().with(tls))
}

/// Checks that who has answered at an address is the member that is reached there: a key of the
/// roster lets nobody stand in for another.
///
/// # Errors
/// [`fabric::Error::Untrusted`].
pub fn check_peer(address: &Address, peer: &Peer) -> fabric::Result<()> {
    let (Address::Tls(host, port), Some(entered)) = (address, SELF.get()) else { return Ok(()) };
    let expected = entered.places.get(&(host.clone(), *port)).map(|node| node.0.to_string());
    let shown = peer.member.as_ref().map(|member| &member.name);
    if shown.is_some() && shown == expected.as_ref() {
        return Ok(());
    }
    let name =
        |number: &String| number.parse().map_or_else(|_| number.clone(), |n| name_of(NodeId(n)));
    let shown = shown.map_or_else(|| "nobody".to_owned(), name);
    let expected = expected.as_ref().map_or_else(|| "no member".to_owned(), name);
    let why = format!("its key is that of {shown}, and {expected} is reached there");
    Err(fabric::Error::Untrusted { peer: address.to_string(), why })
}

/// What this process calls itself where it is `from`: over the network with its number in front,
/// for which it has the key.
pub fn name_to(address: &Address, from: &str) -> String {
    match (address, SELF.get()) {
        (Address::Tls(..), Some(entered)) => format!("{}.{from}", entered.me.0),
        _ => from.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use muster_fabric::Deadline;
    use std::time::Duration;

    #[test]
    fn an_entry_is_read_as_it_is_written() {
        for address in ["10.78.0.3", "fd00::3"] {
            let entry = Entry {
                node: NodeId(4),
                host: "lab3".into(),
                address: address.parse().expect("an address"),
                line: 4711,
                shell: 4712,
                key: Identity::from_secret(&[7; 32]).public_key(),
            };
            assert_eq!(entry.to_string().parse::<Entry>().expect("it was written"), entry);
            let short = entry.to_string().rsplit_once(' ').expect("words").0.to_owned();
            assert!(short.parse::<Entry>().is_err() && "".parse::<Entry>().is_err());
        }
    }

    #[test]
    fn members_take_part_in_the_group_where_they_are_reached() {
        let key = Identity::from_secret(&[7; 32]).public_key();
        let read = |group: &str, nodes: [&str; 2]| {
            let of = |(number, address)| format!("{number} lab {address} 1 2 {key}\n");
            let members = (0..).zip(["127.0.0.9"].into_iter().chain(nodes)).map(of);
            let text = group.to_owned() + &members.collect::<String>();
            Roster::read(PathBuf::new(), &text).expect("a roster")
        };
        let at = |roster: &Roster, node| roster.group(NodeId(node)).map(|group| group.interface);
        let named = "multicast 239.255.1.2:77\n";
        let roster = read(named, ["10.0.0.1", "fd00::3"]);
        let group = roster.group(NodeId(1)).expect("it is in it");
        assert_eq!((group.address.to_string(), group.root), ("239.255.1.2:77".into(), MANAGER));
        assert_eq!(at(&roster, 1), Some(Ipv4Addr::new(10, 0, 0, 1)));
        assert_eq!((at(&roster, 2), at(&roster, 3)), (None, None), "IPv6, and no member");
        // Who is not on another machine hears what does not leave this one.
        let roster = read(named, ["127.0.0.1", "127.0.0.1"]);
        for node in [0, 2] {
            assert_eq!(at(&roster, node), Some(Ipv4Addr::LOCALHOST));
        }
        assert_eq!(at(&read("", ["10.0.0.1", "10.0.0.2"]), 1), None);
        assert!(Roster::read(PathBuf::new(), "multicast all\n").is_err());
    }

    /// Waits for one who connects, with this key.
    fn listen(key: u8, members: &Members) -> (u16, std::thread::JoinHandle<()>) {
        let tls = Tls::new(&Identity::from_secret(&[key; 32]), members);
        let mut door = tls.listen(&"tls!127.0.0.1!0".parse().expect("an address")).expect("a port");
        let Address::Tls(_, port) = *door.address() else { unreachable!("it is one") };
        let wait = move || drop(door.accept(Deadline::after(Duration::from_secs(20))));
        (port, std::thread::spawn(wait))
    }

    #[test]
    fn a_member_at_the_address_of_another_is_not_talked_to() {
        let key = |number: u8| Identity::from_secret(&[number; 32]).public_key();
        let members = Members::default();
        for number in 0..3 {
            members.pin(&number.to_string(), key(number)).expect("a name");
        }
        // Node n0 listens where it is reached, and where the manager is.
        let ((own, first), (foreign, second)) = (listen(1, &members), listen(1, &members));
        let entry = |number: u8, line| Entry {
            node: NodeId(number.into()),
            host: "lab".into(),
            address: "127.0.0.1".parse().expect("an address"),
            line,
            shell: 1,
            key: key(number),
        };
        let entries = [entry(0, foreign), entry(1, own), entry(2, 2)];
        let entries = Some(entries.into_iter().map(|entry| (entry.node, entry)).collect());
        let roster = Roster { directory: PathBuf::new(), entries, group: None };
        roster.enter(NodeId(2), &Identity::from_secret(&[2; 32])).expect("its own key");
        let hello = |to: &Address| transport::Hello {
            name: name_to(to, "test"),
            service: "9p".into(),
            lane: transport::Lane::Bulk,
        };
        let connect = |node| {
            let to = roster.line(NodeId(node)).expect("it is a member");
            let deadline = Deadline::after(Duration::from_secs(20));
            let transport = transport_of(&to).expect("it has entered");
            let adapter = transport.connect(&to, &hello(&to), deadline).expect("a member");
            check_peer(&to, adapter.peer()).map_err(|error| error.to_string())
        };
        assert_eq!(connect(1), Ok(()));
        let refused = connect(0).expect_err("it is n0");
        assert!(refused.contains("its key is that of n0, and the manager is reached"), "{refused}");
        first.join().and_then(|()| second.join()).expect("they do not panic");
    }

    #[test]
    fn who_listens_at_all_addresses_of_ipv6_is_reached_over_ipv4_too() {
        let members = Members::default();
        let identity = Identity::from_secret(&[1; 32]);
        members.pin("0", identity.public_key()).expect("a name");
        let tls = Tls::new(&identity, &members);
        // A machine may have no IPv6.
        let Ok(mut door) = tls.listen(&listening("tls!::1!0".parse().expect("an address"))) else {
            return;
        };
        let Address::Tls(_, port) = *door.address() else { unreachable!("it is one") };
        let deadline = Deadline::after(Duration::from_secs(20));
        let wait = std::thread::spawn(move || {
            [(); 2].map(|()| door.accept(deadline).map(drop).map_err(|error| error.to_string()))
        });
        for host in ["127.0.0.1", "::1"] {
            let hello = transport::Hello {
                name: "0.test".into(),
                service: "9p".into(),
                lane: transport::Lane::Bulk,
            };
            let connected = tls.connect(&Address::Tls(host.into(), port), &hello, deadline);
            connected.unwrap_or_else(|error| panic!("{host}: {error}"));
        }
        assert_eq!(wait.join().expect("it does not panic"), [Ok(()), Ok(())]);
    }

    #[test]
    fn one_listens_at_all_addresses_of_the_family() {
        for (at, listens) in [
            ("tls!10.0.0.1!7", "tls!0.0.0.0!7"),
            ("tls!fd00::3!7", "tls!::!7"),
            ("unix!/run/x", "unix!/run/x"),
        ] {
            assert_eq!(listening(at.parse().expect("an address")).to_string(), listens);
        }
    }
}
