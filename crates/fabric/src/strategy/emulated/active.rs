//! Active messages over messages: the handler's number, then its arguments.
//!
//! A handler's answer goes the same way back. Answers that have no room wait here, at most
//! [`ANSWERS_MAX`] bytes of them; beyond that no more messages are taken, so a peer that asks and
//! never reads its answers holds up itself. Answers go before new calls.
//!
//! Two ends that answer each other at length would stop each other like this for ever. Where the
//! handlers name one that alone answers ([`Handlers::answering`]), what comes for it is held back
//! instead, at most [`HELD_MAX`] bytes and one message of it, and what comes for the others is
//! carried out: neither end ever stops reading what the other has to get rid of.

use super::{wait_for_room, with_head};
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::strategy::{ActiveMessage, Datagram, Handler, Handlers, Ready, Wait};
use crate::transport::Peer;
use muster_base::limits::{ACTIVE_TURN, ANSWERS_MAX, HELD_MAX};
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
    /// What is carried out when answers have room again, each whole, in order.
    held: VecDeque<Vec<u8>>,
    holding: usize,
}

impl<D: Datagram> Active<D> {
    /// Over messages of which none was sent yet.
    pub fn new(inner: D) -> Active<D> {
        let (answers, held) = (VecDeque::new(), VecDeque::new());
        Active { inner, answers, waiting: 0, spare: None, held, holding: 0 }
    }

    /// Sends answers; whether all have gone.
    fn answer(&mut self) -> Result<bool> {
        while let Some(answer) = self.answers.front() {
            match self.inner.try_send(&[IoSlice::new(answer)]) {
                Ok(()) => self.waiting -= answer.len(),
                Err(Error::WouldBlock) => return Ok(false),
                Err(Error::Closed { .. } | Error::Dead { .. }) => {
                    self.forget_answers();
                    return Ok(true);
                }
                Err(error) => return Err(error),
            }
            self.spare = self.answers.pop_front();
        }
        Ok(true)
    }

    /// Nobody waits for them any more; what it sent before is carried out still.
    fn forget_answers(&mut self) {
        self.waiting = 0;
        self.answers.clear();
    }

    fn is_full(&self) -> bool {
        self.waiting > ANSWERS_MAX
    }

    /// Carries out the next message.
    fn handle(&mut self, handlers: &mut dyn Handlers) -> Result<()> {
        let (limit, is_full) = (self.limit(), self.is_full());
        let first = if is_full { None } else { self.held.pop_front() };
        let Active { inner, answers, waiting, spare, held, holding } = self;
        let answering = handlers.answering();
        let mut outcome = Ok(());
        let mut handle = |message: &[u8]| {
            let Some((head, arguments)) = message.split_first_chunk::<HEAD>() else {
                outcome = Err("an active message names no handler".to_owned());
                return;
            };
            let handler = Handler::from_le_bytes(*head);
            if is_full && answering == Some(handler) {
                *holding += message.len();
                held.push_back(message.to_vec());
                return;
            }
            let mut answer = |handler: Handler, arguments: &[u8]| {
                assert!(arguments.len() <= limit, "an answer of {} bytes", arguments.len());
                let mut answer = spare.take().unwrap_or_default();
                answer.clear();
                answer.extend(handler.to_le_bytes());
                answer.extend_from_slice(arguments);
                *waiting += answer.len();
                answers.push_back(answer);
            };
            outcome = handlers.handle(handler, arguments, &mut answer);
        };
        match &first {
            Some(message) => handle(message),
            None => inner.try_take(&mut handle)?,
        }
        self.holding -= first.map_or(0, |message| message.len());
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
        if ready == Ready::Receive {
            let have_gone = self.answer()?;
            if !self.held.is_empty() && !self.is_full() {
                return Ok(());
            }
            if !have_gone {
                return wait_for_room(&mut self.inner, deadline);
            }
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
            if count == ACTIVE_TURN {
                break Ok(());
            }
            self.answer()?;
            if self.is_full() && (handlers.answering().is_none() || self.holding > HELD_MAX) {
                break Ok(());
            }
            match self.handle(handlers) {
                Ok(()) => count += 1,
                Err(Error::Closed { .. } | Error::Dead { .. }) if !self.held.is_empty() => {
                    self.forget_answers();
                }
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

    fn try_flush(&mut self) -> Result<bool> {
        Ok(self.answer()? && self.held.is_empty() && self.inner.try_flush()?)
    }
}
