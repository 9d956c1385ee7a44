//! A program that is sent: `true`, of any length, and with chunks that nobody has.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result};

use crate::child::in_path;

/// A program that is sent.
pub struct Program {
    file: File,
    pub path: String,
    bytes: usize,
}

impl Program {
    /// `true`, made longer by bytes that nobody reads.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn make(path: &Path, bytes: usize) -> Result<Program> {
        let mut text = fs::read(in_path("true").context("there is no true")?)?;
        let start = text.len() as u32;
        let more = start..(bytes as u32).max(start);
        text.extend(more.map(|n| (n.wrapping_mul(2_654_435_761) >> 9) as u8));
        let _ = fs::remove_file(path);
        fs::write(path, &text)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
        let file = File::options().write(true).open(path)?;
        Ok(Program { file, path: path.display().to_string(), bytes: text.len() })
    }

    /// Changes every chunk, so that no node has one any more, and touches the memory that copies
    /// for so many nodes will take.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn renew(&self, nodes: usize) -> Result<()> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let mark = [LAST.fetch_add(1, Ordering::Relaxed), std::process::id().into()];
        let mark = mark.map(u64::to_le_bytes).concat();
        let chunk = muster_base::limits::CHUNK;
        for start in (0..self.bytes).step_by(chunk) {
            let end = (start + chunk).min(self.bytes);
            self.file.write_all_at(&mark, (end - mark.len()) as u64)?;
        }
        touch(nodes * self.bytes)
    }
}

/// Uses so many bytes of memory for a moment. The host of a virtual machine may have taken back
/// what was free for some seconds (free page reporting of virtio-balloon), and to be given a page
/// again took 10 us here, twenty times what it takes to copy one. Nodes that are machines would
/// have each its own memory: who is measured first must not pay for what all 64 of one need.
fn touch(bytes: usize) -> Result<()> {
    let memory = rustix::fs::memfd_create("touched", rustix::fs::MemfdFlags::CLOEXEC)?;
    let memory = File::from(memory);
    let some = vec![1; 1024 * 1024];
    (0..bytes.div_ceil(some.len())).try_for_each(|_| (&memory).write_all(&some))?;
    Ok(())
}
