//! A file of commands: bytes are collected until a newline, each whole line is obeyed, and the
//! write is answered when its lines are done, with the first error if there was one.

use super::lane::Lane;
use muster_base::limits::TEXT_MAX;
use muster_ninep::call::{Answer, Data};
use muster_ninep::error::{Errno, Result, fail};
use muster_ninep::synthetic::{File, Handle, SynCall, slice};
use std::sync::{Arc, Mutex};

/// Who obeys.
pub trait Commands: Send + Sync + 'static {
    /// Carries out one line; it may wait.
    ///
    /// # Errors
    /// Why it could not.
    fn obey(&self, line: &str) -> Result<()>;

    /// What reading the file gives.
    fn status(&self) -> String;
}

/// A file of commands for `commands(flags)`, which is called each time the file is opened.
pub fn file<K: Commands>(
    permissions: u32,
    commands: impl Fn() -> K + Send + Sync + 'static,
) -> File {
    File::new(permissions, move |_| {
        let commands = Arc::new(commands());
        Ok(Control { commands, partial: Mutex::default(), lane: Lane::default() })
    })
}

struct Control<K> {
    commands: Arc<K>,
    partial: Mutex<Vec<u8>>,
    lane: Lane,
}

impl<K: Commands> Handle for Control<K> {
    fn read(&self, _: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        Ok(slice(self.commands.status().as_bytes(), offset, count).to_vec().into())
    }

    fn write(&self, call: &mut SynCall<'_>, _: u64, data: &[u8]) -> Answer<u32> {
        let written = data.len() as u32;
        let mut partial = self.partial.lock().expect("no holder panics");
        if partial.len() + data.len() > TEXT_MAX {
            return fail(Errno::FBIG, format!("a command may have {TEXT_MAX} bytes at most"));
        }
        partial.extend_from_slice(data);
        let Some(last) = partial.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(written);
        };
        let rest = partial.split_off(last + 1);
        let lines = std::mem::replace(&mut *partial, rest);
        let commands = self.commands.clone();
        call.park(|ticket| {
            self.lane.run(move || {
                if ticket.claim() {
                    ticket.answer(obey(&*commands, &lines).map(|()| written));
                }
            });
        })
    }

    fn truncate(&self, size: u64) -> Result<()> {
        if size == 0 {
            self.partial.lock().expect("no holder panics").clear();
        }
        Ok(())
    }
}

/// Obeys all lines, whichever fail, and returns the first error.
fn obey<K: Commands>(commands: &K, lines: &[u8]) -> Result<()> {
    let Ok(lines) = std::str::from_utf8(lines) else {
        return fail(Errno::ILSEQ, "a command is not UTF-8");
    };
    let mut first = Ok(());
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let done = commands.obey(line);
        first = first.and(done);
    }
    first
}
