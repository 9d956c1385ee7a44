//! Remote invocation: an object that is at another place, used as if it were here. This is the
//! stub; [`Invocation`] carries the calls, and the object behind it may itself be adapted, shared
//! or remote.

use crate::communicator::{Invocation, Object};
use crate::deadline::Deadline;
use crate::error::Error;
use crate::strategy::ActiveMessage;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The object of that number at the other end. Clones, and stubs of other objects made by
/// [`Remote::other`], use the same connection, one call after the other.
pub struct Remote<A> {
    invocation: Arc<Mutex<Invocation<A>>>,
    object: u32,
    patience: Duration,
}

impl<A> Clone for Remote<A> {
    fn clone(&self) -> Remote<A> {
        self.other(self.object)
    }
}

impl<A> Remote<A> {
    /// An object at the other end; a call may take so long.
    pub fn new(invocation: Invocation<A>, object: u32, patience: Duration) -> Remote<A> {
        Remote { invocation: Arc::new(Mutex::new(invocation)), object, patience }
    }

    /// Another object there.
    pub fn other(&self, object: u32) -> Remote<A> {
        Remote { invocation: self.invocation.clone(), object, patience: self.patience }
    }
}

impl<A: ActiveMessage> Object for Remote<A> {
    fn invoke(&mut self, method: u16, arguments: &[u8]) -> std::result::Result<Vec<u8>, String> {
        // A holder that panicked leaves calls behind, which are dropped like all late answers.
        let mut invocation = self.invocation.lock().unwrap_or_else(PoisonError::into_inner);
        let deadline = Deadline::after(self.patience);
        invocation.call(self.object, method, arguments, deadline).map_err(|error| match error {
            Error::Refused { why, .. } => why,
            other => other.to_string(),
        })
    }
}
