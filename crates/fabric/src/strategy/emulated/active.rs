//! Active messages over messages: the handler's number, then its arguments.
//!
//! A handler's answer goes the same way back. Answers that have no room wait here, at most
//! [`ANSWERS_MAX`] bytes of them; beyond that no more messages are taken, so a peer that asks and
//! never reads its answers holds up itself. Answers go before new calls.

use super::{wait_for_room, with_head};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::{ActiveMessage, Datagram, Handler, Handlers, Ready, Wait};
use crate::transport::Peer;
use muster_base::limits::{ACTIVE_TURN, ANSWERS_MAX};
use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::BorrowedFd;

/// The handler's number.
const HEAD: usize = 2;

/// Active messages over messages.
#[derive(Debug)]
pub struct Active<D: Datagram> {
    inner: D,
    /// Answers without room, each whole, in order.
    answers: VecDeque<Vec<u8>>,
    waiting: usize,
    /// A buffer that was an answer.
    spare: Option<Vec<u8>>,
}

impl<D: Datagram> Active<D> {
    /// Over messages of which none was sent yet.
    pub fn new(inner: D) -> Active<D> {
        Active { inner, answers: VecDeque::new(), waiting: 0, spare: None }
    }

    /// Sends answers; whether all have gone.
    fn answer(&mut self) -> Result<bool> {
        while let Some(answer) = self.answers.front() {
            match self.inner.try_send(&[IoSlice::new(answer)]) {
                Ok(()) => self.waiting -= answer.len(),
                Err(Error::WouldBlock) => return Ok(false),
                Err(Error::Closed { .. } | Error::Dead { .. }) => {
                    // Nobody waits for them any more; what it sent before is carried out still.
                    self.waiting = 0;
                    self.answers.clear();
                    return Ok(true);
                }
                Err(error) => return Err(error),
            }
            self.spare = self.answers.pop_front();
        }
        Ok(true)
    }

    /// Carries out the next message.
    fn handle(&mut self, handlers: &mut dyn Handlers) -> Result<()> {
        let limit = self.limit();
        let Active { inner, answers, waiting, spare } = self;
        let mut outcome = Ok(());
        inner.try_take(&mut |message| {
            let Some((head, arguments)) = message.split_first_chunk::<HEAD>() else {
                outcome = Err("an active message names no handler".to_owned());
                return;
            };
            let mut answer = |handler: Handler, arguments: &[u8]| {
                assert!(arguments.len() <= limit, "an answer of {} bytes", arguments.len());
                let mut answer = spare.take().unwrap_or_default();
                answer.clear();
                answer.extend(handler.to_le_bytes());
                answer.extend_from_slice(arguments);
                *waiting += answer.len();
                answers.push_back(answer);
            };
            outcome = handlers.handle(Handler::from_le_bytes(*head), arguments, &mut answer);
        })?;
        let peer = &self.inner.peer().name;
        outcome.map_err(|what| Error::Malformed { peer: peer.clone(), what })
    }
}

impl<D: Datagram> Wait for Active<D> {
    fn peer(&self) -> &Peer {
        self.inner.peer()
    }

    fn me(&self) -> &str {
        self.inner.me()
    }

    fn wait(&mut self, ready: Ready, deadline: Deadline) -> Result<()> {
        if ready == Ready::Receive && !self.answer()? {
            return wait_for_room(&mut self.inner, deadline);
        }
        self.inner.wait(ready, deadline)
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inner.descriptor()
    }
}

impl<D: Datagram> ActiveMessage for Active<D> {
    fn limit(&self) -> usize {
        self.inner.limit() - HEAD
    }

    fn try_call(&mut self, handler: Handler, arguments: &[IoSlice<'_>]) -> Result<()> {
        if !self.answer()? {
            return Err(Error::WouldBlock);
        }
        with_head(&handler.to_le_bytes(), arguments, |parts| self.inner.try_send(parts))
    }

    fn try_progress(&mut self, handlers: &mut dyn Handlers) -> Result<usize> {
        let mut count = 0;
        let ended = loop {
            if count == ACTIVE_TURN || (!self.answer()? && self.waiting > ANSWERS_MAX) {
                break Ok(());
            }
            match self.handle(handlers) {
                Ok(()) => count += 1,
                Err(error) => break Err(error),
            }
        };
        match ended {
            Ok(()) | Err(Error::WouldBlock) => {
                self.inner.try_flush()?;
                Ok(count)
            }
            Err(error @ Error::Malformed { .. }) => Err(error),
            // What was carried out counts; the end is told next time.
            Err(_) if count > 0 => Ok(count),
            Err(error) => Err(error),
        }
    }
}
