//! What carries the process's messages: the gateway, a simulated network, or nothing where it is
//! alone.

use std::time::Duration;

use muster_message::{Alarm, Arrival, Boards, Carrier, Failure};
use muster_mpi::gateway::{self, Gateway};
use muster_mpi::simulated::Simulated;
use muster_mpi::strobe::Strobed;

/// What carries messages.
pub enum Line {
    /// A process that was started by itself: its only messages are to itself.
    Alone,
    /// A rank of a job.
    Gateway(Box<Gateway>),
    /// The same, at strobes.
    Strobed(Box<Strobed<Gateway>>),
    /// A rank of a job whose network is simulated.
    Simulated(Box<Simulated>),
}

impl Carrier for Line {
    #[inline]
    fn send(&mut self, to: u32, head: &[u8], body: &[u8], offset: usize) -> Result<usize, Failure> {
        match self {
            Line::Gateway(gateway) => gateway.send(to, head, body, offset),
            Line::Strobed(strobed) => strobed.send(to, head, body, offset),
            Line::Simulated(simulated) => simulated.send(to, head, body, offset),
            Line::Alone => Err(Failure::Broken(format!("there is no rank {to}"))),
        }
    }

    #[inline]
    fn take(&mut self, take: &mut impl FnMut(Arrival<'_>)) -> Result<bool, Failure> {
        match self {
            Line::Gateway(gateway) => gateway.take(take),
            Line::Strobed(strobed) => strobed.take(take),
            Line::Simulated(simulated) => simulated.take(take),
            Line::Alone => Ok(false),
        }
    }

    #[inline]
    fn looks(&self) -> u32 {
        match self {
            Line::Gateway(gateway) => gateway.looks(),
            Line::Strobed(strobed) => strobed.looks(),
            Line::Simulated(_) | Line::Alone => 0,
        }
    }

    #[inline]
    fn is_crowded(&self) -> bool {
        match self {
            Line::Gateway(gateway) => gateway.is_crowded(),
            Line::Strobed(strobed) => strobed.is_crowded(),
            Line::Simulated(_) | Line::Alone => false,
        }
    }

    #[inline]
    fn asked_in_vain(&mut self) -> Option<Duration> {
        match self {
            Line::Gateway(gateway) => gateway.asked_in_vain(),
            Line::Strobed(strobed) => strobed.asked_in_vain(),
            Line::Simulated(_) | Line::Alone => None,
        }
    }

    fn doze(&mut self, time: Duration) -> Result<(), Failure> {
        match self {
            Line::Gateway(gateway) => gateway.doze(time),
            Line::Strobed(strobed) => strobed.doze(time),
            Line::Simulated(_) | Line::Alone => Ok(()),
        }
    }

    #[inline]
    fn boards(&mut self) -> Option<&mut dyn Boards> {
        match self {
            Line::Gateway(gateway) => gateway.boards(),
            Line::Strobed(_) | Line::Simulated(_) | Line::Alone => None,
        }
    }

    fn wait(&mut self, room: &[u32], time: Duration) -> Result<(), Failure> {
        match self {
            Line::Gateway(gateway) => gateway.wait(room, time),
            Line::Strobed(strobed) => strobed.wait(room, time),
            Line::Simulated(simulated) => simulated.wait(room, time),
            // What it waits for it can only do itself, in another thread.
            Line::Alone => {
                std::thread::sleep(time.min(Duration::from_millis(1)));
                Ok(())
            }
        }
    }

    fn now(&self) -> Duration {
        match self {
            Line::Gateway(gateway) => gateway.now(),
            Line::Strobed(strobed) => strobed.now(),
            Line::Simulated(simulated) => simulated.now(),
            Line::Alone => gateway::now(),
        }
    }

    fn alarm(&self) -> Option<Alarm> {
        match self {
            Line::Gateway(gateway) => gateway.alarm(),
            Line::Strobed(strobed) => strobed.alarm(),
            Line::Simulated(simulated) => simulated.alarm(),
            Line::Alone => None,
        }
    }

    fn has_delivered(&mut self, time: Duration) -> Result<bool, Failure> {
        match self {
            Line::Gateway(gateway) => gateway.has_delivered(time),
            Line::Strobed(strobed) => strobed.has_delivered(time),
            Line::Simulated(simulated) => simulated.has_delivered(time),
            Line::Alone => Ok(true),
        }
    }

    #[inline]
    fn offered_from(&self, to: u32) -> usize {
        match self {
            Line::Gateway(gateway) => gateway.offered_from(to),
            Line::Strobed(strobed) => strobed.offered_from(to),
            Line::Simulated(simulated) => simulated.offered_from(to),
            Line::Alone => usize::MAX,
        }
    }

    fn is_gone(&self, rank: u32) -> Option<Failure> {
        match self {
            Line::Gateway(gateway) => gateway.is_gone(rank),
            Line::Strobed(strobed) => strobed.is_gone(rank),
            Line::Simulated(simulated) => simulated.is_gone(rank),
            Line::Alone => None,
        }
    }
}
