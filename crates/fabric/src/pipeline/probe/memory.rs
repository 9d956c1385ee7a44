//! Shared memory as it is: a connection of `shm!PATH`, measured by who listens. The other end is
//! [`super::receiver`], in a process of its own if the caller starts one.

use super::{MESSAGE_MAX, Track};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::pipeline::calibrate::{Effort, calibrate};
use crate::pipeline::costs::Costs;
use crate::pipeline::plan::{Fixed, Plan};
use crate::transport::shared::Link;
use crate::transport::shared::trial::Trials;
use std::io::IoSlice;
use std::time::{Duration, Instant};

/// Whatever takes longer is broken.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Tries to find the receiver there; it is only late when others have its core.
const TRIES: usize = 100;

/// The sender's side.
pub(super) struct Memory {
    link: Link,
    source: Vec<u8>,
}

impl Memory {
    pub(super) fn new(link: Link) -> Memory {
        Memory { link, source: vec![1; MESSAGE_MAX] }
    }
}

impl Track for Memory {
    fn costs(&mut self, effort: Effort, time: Duration) -> Result<(Costs, Duration)> {
        for _ in 0..TRIES {
            let start = Instant::now();
            let mut trials = Trials::new(&mut self.link, time);
            let costs = calibrate(&mut trials, effort);
            if !trials.is_over() {
                return Ok((costs, start.elapsed()));
            }
            // What is still in the ring is received before this is.
            self.send(1, true)?;
            self.reply()?;
        }
        let whom = self.link.peer().name.clone();
        let (who, what) = ("the probe".to_owned(), "its part in trials".to_owned());
        Err(Error::Deadline { who, whom, what, waited: PATIENCE })
    }

    fn send(&mut self, bytes: usize, wants_reply: bool) -> Result<()> {
        self.source[0] = u8::from(wants_reply);
        self.link.send(&[IoSlice::new(&self.source[..bytes])], Deadline::after(PATIENCE))
    }

    fn reply(&mut self) -> Result<()> {
        self.link.receive(&mut [0; 1], Deadline::after(PATIENCE)).map(drop)
    }

    fn source(&self) -> &[u8] {
        &self.source
    }

    fn go_by(&mut self, plan: Plan) {
        let short = if plan == Plan::Short { usize::MAX } else { 0 };
        self.link.set_planner(Box::new(Fixed { short, long: plan }));
    }
}
