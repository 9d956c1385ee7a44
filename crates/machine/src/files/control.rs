//! A file of commands: bytes are collected until a newline, each whole line is obeyed, and the
//! write is answered when its lines are done, with the first error if there was one.

use super::lane::Lane;
use super::told::Told;
use muster_base::limits::TEXT_MAX;
use muster_ninep::call::{Answer, Data};
use muster_ninep::error::{Errno, Result, fail};
use muster_ninep::synthetic::{File, Handle, SynCall};
use std::sync::{Arc, Mutex};

/// Who obeys.
pub trait Commands: Send + Sync + 'static {
    /// Carries out one line; it may wait.
    ///
    /// # Errors
    /// Why it could not.
    fn obey(&self, line: &str) -> Result<()>;

    /// What reading the file gives; it may wait.
    fn status(&self) -> String;
}

/// A file of commands for `commands()`, which is called each time the file is opened.
pub fn file<K: Commands>(
    permissions: u32,
    commands: impl Fn() -> K + Send + Sync + 'static,
) -> File {
    File::new(permissions, move |_| {
        let commands = Arc::new(commands());
        let (lane, told) = (Lane::default(), Told::default());
        Ok(Control { commands, partial: Arc::default(), lane, told })
    })
}

struct Control<K> {
    commands: Arc<K>,
    /// The start of a line.
    partial: Arc<Mutex<Vec<u8>>>,
    lane: Lane,
    /// It waits for no command.
    told: Told,
}

impl<K: Commands> Handle for Control<K> {
    fn read(&self, call: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        let commands = self.commands.clone();
        self.told.read(call, offset, count, move || Ok(commands.status()))
    }

    fn write(&self, call: &mut SynCall<'_>, _: u64, data: &[u8]) -> Answer<u32> {
        if data.len() > TEXT_MAX {
            return Ok(too_long()?);
        }
        let (written, data) = (data.len() as u32, data.to_vec());
        let (commands, partial) = (self.commands.clone(), self.partial.clone());
        // One that is taken back has no effect, not even on what was there before.
        self.lane.answer(call, move || {
            let lines = whole(&partial, &data)?;
            obey(&*commands, &lines).map(|()| written)
        })
    }

    fn truncate(&self, size: u64) -> Result<()> {
        if size == 0 {
            // Behind what was written before.
            let partial = self.partial.clone();
            self.lane.run(move || partial.lock().expect("no holder panics").clear());
        }
        Ok(())
    }
}

fn too_long<T>() -> Result<T> {
    fail(Errno::FBIG, format!("a command may have {TEXT_MAX} bytes at most"))
}

/// Adds bytes to what is there of a line, and takes the whole lines.
fn whole(partial: &Mutex<Vec<u8>>, data: &[u8]) -> Result<Vec<u8>> {
    let mut partial = partial.lock().expect("no holder panics");
    if partial.len() + data.len() > TEXT_MAX {
        return too_long();
    }
    partial.extend_from_slice(data);
    let whole = partial.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    let rest = partial.split_off(whole);
    Ok(std::mem::replace(&mut *partial, rest))
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
