//! Over which connections something has come. Where they are few each is looked at; where they are
//! many the kernel has a list, so that a look is one call however many nodes there are: of 16 nodes
//! on two processors each look took 5 us before, and a barrier 1100.

use super::layout::Layout;
use crate::epoll;
use crate::error::{Error, Result};
use rustix::event::Timespec;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};

/// Connections from which on the list takes less time than a look at each.
const MANY: usize = 3;

/// Nodes told of at once; others come with the next look.
pub(super) const TOLD: usize = 64;

/// The connections of a process.
pub(super) struct Arrivals {
    /// The kernel's list. It tells of a connection as long as something lies there, also for those
    /// who look at it beside us.
    list: Option<OwnedFd>,
}

impl Arrivals {
    /// Those of a rank; of the daemon, which looks at one of them at a time, there is no list.
    pub(super) fn new(layout: &Layout, is_daemon: bool) -> Result<Arrivals> {
        let is_many = !is_daemon && layout.peers().count() >= MANY;
        let list = is_many.then(|| epoll::create(epoll::CreateFlags::CLOEXEC)).transpose();
        let list = list.map_err(|errno| Error::io("making a list of connections", errno))?;
        Ok(Arrivals { list })
    }

    /// A node is reached by that socket now.
    pub(super) fn add(&self, node: usize, socket: BorrowedFd<'_>) -> Result<()> {
        let Some(list) = &self.list else { return Ok(()) };
        let data = epoll::EventData::new_u64(node as u64);
        epoll::add(list, socket, data, epoll::EventFlags::IN)
            .map_err(|errno| Error::io("looking at another node", errno))
    }

    /// It is no more.
    pub(super) fn remove(&self, socket: BorrowedFd<'_>) {
        if let Some(list) = &self.list {
            // It was not in the list.
            let _ = epoll::delete(list, socket);
        }
    }

    /// Which nodes something may have come from.
    pub(super) fn look(&self, layout: &Layout, nodes: &mut Vec<usize>) {
        nodes.clear();
        let mut told = [const { MaybeUninit::<epoll::Event>::uninit() }; TOLD];
        let now = Some(Timespec::default());
        let listed = self.list.as_ref().map(|list| epoll::wait(list, &mut told, now.as_ref()));
        match listed {
            Some(Ok((told, _))) => nodes.extend(told.iter().map(|one| one.data.u64() as usize)),
            Some(Err(_)) | None => nodes.extend(layout.peers()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
    use std::os::fd::AsFd;

    #[test]
    fn a_look_tells_of_whom_something_lies_there_until_it_was_taken_and_of_no_others() {
        let layout = Layout::new(1, &[1; 5]);
        let pair = || {
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None)
                .unwrap()
        };
        let lines: Vec<(OwnedFd, OwnedFd)> = (0..5).map(|_| pair()).collect();
        let arrivals = Arrivals::new(&layout, false).unwrap();
        layout.peers().for_each(|node| arrivals.add(node, lines[node].0.as_fd()).unwrap());
        let looked = || {
            let mut nodes = vec![7];
            arrivals.look(&layout, &mut nodes);
            nodes.sort_unstable();
            nodes
        };
        assert_eq!(looked(), [0; 0]);
        for node in [3, 0] {
            rustix::io::write(&lines[node].1, b"piece").unwrap();
        }
        assert_eq!(looked(), [0, 3]);
        rustix::io::read(&lines[0].0, &mut [0_u8; 9]).unwrap();
        assert_eq!(looked(), [3], "what lies there is told again");
        arrivals.remove(lines[3].0.as_fd());
        assert_eq!(looked(), [0; 0]);
        // An end is something to look at.
        rustix::net::shutdown(&lines[4].1, rustix::net::Shutdown::Both).unwrap();
        assert_eq!(looked(), [4]);
    }

    #[test]
    fn of_few_connections_each_is_looked_at() {
        let layout = Layout::new(1, &[1; 3]);
        let mut nodes = Vec::new();
        Arrivals::new(&layout, false).unwrap().look(&layout, &mut nodes);
        assert_eq!(nodes, [0, 2]);
    }
}
