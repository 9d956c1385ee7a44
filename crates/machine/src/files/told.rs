//! A text that is made when somebody reads it, beside the thread that serves: it may take a while.

use super::lane::Lane;
use muster_ninep::call::{Answer, Data};
use muster_ninep::error::Result;
use muster_ninep::synthetic::{File, Handle, SynCall, slice};
use std::sync::{Arc, Mutex};

/// The text as one open file has it.
#[derive(Default)]
pub struct Told {
    lane: Lane,
    text: Arc<Mutex<Option<String>>>,
}

impl Told {
    /// One that is made behind what this lane has to do.
    pub fn on(lane: &Lane) -> Told {
        Told { lane: lane.clone(), text: Arc::default() }
    }

    /// Reads it. A read at the start has it made anew, and the others are of what was made then:
    /// in pieces of several texts nobody could tell where one ends.
    ///
    /// # Errors
    /// Only that it is parked, or is to come later.
    pub fn read(
        &self,
        call: &mut SynCall<'_>,
        offset: u64,
        count: usize,
        make: impl FnOnce() -> Result<String> + Send + 'static,
    ) -> Answer<Data> {
        call.brings(count)?;
        let kept = self.text.clone();
        self.lane.answer(call, move || {
            // The one before may have made it. Where it cannot be made anew, nothing goes on.
            let old = kept.lock().expect("no holder panics").take().filter(|_| offset > 0);
            let text = old.map_or_else(make, Ok)?;
            let part = slice(text.as_bytes(), offset, count).to_vec().into();
            *kept.lock().expect("no holder panics") = Some(text);
            Ok(part)
        })
    }
}

/// A file of a text that `make` makes.
pub fn file(
    permissions: u32,
    make: impl Fn() -> Result<String> + Clone + Send + Sync + 'static,
) -> File {
    File::new(permissions, move |_| Ok(Made { make: make.clone(), told: Told::default() }))
}

struct Made<M> {
    make: M,
    told: Told,
}

impl<M: Fn() -> Result<String> + Clone + Send + Sync + 'static> Handle for Made<M> {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        self.told.read(call, offset, count, self.make.clone())
    }
}

#[cfg(test)]
mod tests;
