//! What carries the process's messages: the gateway, a simulated network, or nothing where it is
//! alone.

use std::sync::Arc;
use std::time::Duration;

use muster_message::{Alarm, Boards, Carrier, Failure, Take};
use muster_mpi::gateway::{self, Gateway};
use muster_mpi::simulated::Simulated;
use muster_mpi::strobe::Strobed;
use parking_lot::{Condvar, Mutex};

/// What carries messages.
pub enum Line {
    /// A process that was started by itself: its only messages are to itself.
    Alone(Bell),
    /// A rank of a job.
    Gateway(Box<Gateway>),
    /// The same, at strobes.
    Strobed(Box<Strobed<Gateway>>),
    /// A rank of a job whose network is simulated.
    Simulated(Box<Simulated>),
}

/// What ends the wait of a process that is alone: one of its threads wants to go on.
#[derive(Default)]
pub struct Bell(Arc<(Mutex<bool>, Condvar)>);

impl Bell {
    /// Waits so long, or until it has rung since the last wait.
    fn wait(&self, time: Duration) {
        let (has_rung, rings) = &*self.0;
        let mut has_rung = has_rung.lock();
        if !*has_rung {
            rings.wait_for(&mut has_rung, time);
        }
        *has_rung = false;
    }

    fn alarm(&self) -> Alarm {
        let bell = self.0.clone();
        Box::new(move || {
            *bell.0.lock() = true;
            bell.1.notify_one();
        })
    }
}

impl Carrier for Line {
    #[inline]
    fn send(&mut self, to: u32, head: &[u8], body: &[u8], offset: usize) -> Result<usize, Failure> {
        match self {
            Line::Gateway(gateway) => gateway.send(to, head, body, offset),
            Line::Strobed(strobed) => strobed.send(to, head, body, offset),
            Line::Simulated(simulated) => simulated.send(to, head, body, offset),
            Line::Alone(_) => Err(Failure::Broken(format!("there is no rank {to}"))),
        }
    }

    #[inline]
    fn take(&mut self, take: &mut impl Take) -> Result<bool, Failure> {
        match self {
            Line::Gateway(gateway) => gateway.take(take),
            Line::Strobed(strobed) => strobed.take(take),
            Line::Simulated(simulated) => simulated.take(take),
            Line::Alone(_) => Ok(false),
        }
    }

    #[inline]
    fn looks(&self) -> u32 {
        match self {
            Line::Gateway(gateway) => gateway.looks(),
            Line::Strobed(strobed) => strobed.looks(),
            Line::Simulated(_) | Line::Alone(_) => 0,
        }
    }

    #[inline]
    fn is_crowded(&self) -> bool {
        match self {
            Line::Gateway(gateway) => gateway.is_crowded(),
            Line::Strobed(strobed) => strobed.is_crowded(),
            Line::Simulated(_) | Line::Alone(_) => false,
        }
    }

    #[inline]
    fn asked_in_vain(&mut self) -> Option<Duration> {
        match self {
            Line::Gateway(gateway) => gateway.asked_in_vain(),
            Line::Strobed(strobed) => strobed.asked_in_vain(),
            Line::Simulated(_) | Line::Alone(_) => None,
        }
    }

    fn doze(&mut self, time: Duration) -> Result<(), Failure> {
        match self {
            Line::Gateway(gateway) => gateway.doze(time),
            Line::Strobed(strobed) => strobed.doze(time),
            Line::Simulated(_) | Line::Alone(_) => Ok(()),
        }
    }

    #[inline]
    fn boards(&mut self) -> Option<&mut dyn Boards> {
        match self {
            Line::Gateway(gateway) => gateway.boards(),
            Line::Strobed(_) | Line::Simulated(_) | Line::Alone(_) => None,
        }
    }

    fn wait(&mut self, room: &[u32], time: Duration) -> Result<(), Failure> {
        match self {
            Line::Gateway(gateway) => gateway.wait(room, time),
            Line::Strobed(strobed) => strobed.wait(room, time),
            Line::Simulated(simulated) => simulated.wait(room, time),
            // What it waits for it can only do itself, in another thread.
            Line::Alone(bell) => {
                bell.wait(time);
                Ok(())
            }
        }
    }

    fn now(&self) -> Duration {
        match self {
            Line::Gateway(gateway) => gateway.now(),
            Line::Strobed(strobed) => strobed.now(),
            Line::Simulated(simulated) => simulated.now(),
            Line::Alone(_) => gateway::now(),
        }
    }

    fn alarm(&self) -> Option<Alarm> {
        match self {
            Line::Gateway(gateway) => gateway.alarm(),
            Line::Strobed(strobed) => strobed.alarm(),
            Line::Simulated(simulated) => simulated.alarm(),
            Line::Alone(bell) => Some(bell.alarm()),
        }
    }

    fn has_delivered(&mut self, time: Duration) -> Result<bool, Failure> {
        match self {
            Line::Gateway(gateway) => gateway.has_delivered(time),
            Line::Strobed(strobed) => strobed.has_delivered(time),
            Line::Simulated(simulated) => simulated.has_delivered(time),
            Line::Alone(_) => Ok(true),
        }
    }

    #[inline]
    fn offered_from(&self, to: u32) -> usize {
        match self {
            Line::Gateway(gateway) => gateway.offered_from(to),
            Line::Strobed(strobed) => strobed.offered_from(to),
            Line::Simulated(simulated) => simulated.offered_from(to),
            Line::Alone(_) => usize::MAX,
        }
    }

    fn is_gone(&self, rank: u32) -> Option<Failure> {
        match self {
            Line::Gateway(gateway) => gateway.is_gone(rank),
            Line::Strobed(strobed) => strobed.is_gone(rank),
            Line::Simulated(simulated) => simulated.is_gone(rank),
            Line::Alone(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_of_a_process_that_is_alone_ends_when_a_thread_of_it_wants_to_go_on() {
        let mut line = Line::Alone(Bell::default());
        let alarm = line.alarm().expect("it has one");
        // Whoever would miss it would wait for ever: before, and meanwhile.
        alarm();
        line.wait(&[], Duration::MAX).unwrap();
        let ringing = std::thread::spawn(alarm);
        line.wait(&[], Duration::MAX).unwrap();
        ringing.join().unwrap();
    }
}
