//! Extended attributes as fids: one that reads a value or the list, one that collects a new
//! value and sets it when it is clunked. What may be seen and set is the kernel's decision.

use super::HostTree;
use super::node::{Form, HostFid, Node};
use super::user;
use crate::call::Opened;
use crate::error::{Errno, Error, Result, fail};
use crate::wire::Name;
use muster_base::limits::{NAME_MAX, XATTR_MAX};
use rustix::fs::XattrFlags;
use std::os::fd::AsRawFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of values that all fids together may be collecting: 256 of the largest.
const COLLECTED_MAX: usize = 256 * XATTR_MAX;

static COLLECTED: AtomicUsize = AtomicUsize::new(0);

/// What a fid of `Txattrwalk` reads. The value is not kept but asked for again at each read, so
/// such fids cost no more than others.
#[derive(Debug)]
pub(super) struct Value {
    /// Empty: the list of names.
    name: Vec<u8>,
}

/// What a fid of `Txattrcreate` collects.
#[derive(Debug)]
pub(super) struct NewValue {
    name: Vec<u8>,
    size: usize,
    flags: u32,
    collected: Vec<u8>,
}

impl Drop for NewValue {
    fn drop(&mut self) {
        COLLECTED.fetch_sub(self.size, Ordering::Relaxed);
    }
}

/// The file's own path: calls for attributes refuse O_PATH descriptors. It ends at the file
/// itself, be it a symbolic link.
fn path(node: &Node) -> String {
    format!("/proc/self/fd/{}", node.fd.as_raw_fd())
}

fn get(node: &Node, name: &[u8]) -> Result<Vec<u8>> {
    user::act_as(&node.user, None)?;
    let mut value = vec![0; XATTR_MAX];
    let got = match name {
        [] => rustix::fs::listxattr(path(node), &mut value[..])?,
        name => rustix::fs::getxattr(path(node), name, &mut value[..])?,
    };
    value.truncate(got);
    Ok(value)
}

/// Reads a part of a value.
pub(super) fn read(node: &Node, value: &Value, offset: u64, count: usize) -> Result<Vec<u8>> {
    let whole = get(node, &value.name)?;
    let start = whole.len().min(usize::try_from(offset).unwrap_or(usize::MAX));
    let end = whole.len().min(start.saturating_add(count));
    Ok(whole[start..end].to_vec())
}

/// Appends to a new value.
pub(super) fn write(value: &Mutex<NewValue>, offset: u64, data: &[u8]) -> Result<u32> {
    let mut value = value.lock().expect("no holder panics");
    if offset != value.collected.len() as u64 {
        return fail(Errno::INVAL, "an attribute's value is written from front to back");
    }
    if data.len() > value.size - value.collected.len() {
        return fail(Errno::NOSPC, "more than the size that was announced for the attribute");
    }
    value.collected.extend_from_slice(data);
    Ok(data.len() as u32)
}

impl HostTree {
    /// A fid that reads an attribute ([`crate::tree::Tree::xattrwalk`]).
    ///
    /// # Errors
    /// Those of getxattr(2) and listxattr(2).
    pub fn xattrwalk(&self, fid: &HostFid, name: Name<'_>) -> Result<(HostFid, u64)> {
        check_name(name)?;
        let size = get(&fid.0, name)?.len() as u64;
        Ok((fid.0.with_form(Form::Value(Value { name: name.to_vec() })), size))
    }

    /// A fid that collects an attribute's new value ([`crate::tree::Tree::xattrcreate`]). With
    /// size 0 and XATTR_REPLACE it removes the attribute: the kernel's v9fs says it thus.
    ///
    /// # Errors
    /// E2BIG and ENOSPC before any memory is taken. Those of setxattr(2) come with the clunk.
    pub fn xattrcreate(
        &self,
        fid: &HostFid,
        name: Name<'_>,
        size: u64,
        flags: u32,
    ) -> Result<Opened<HostFid>> {
        self.writable()?;
        check_name(name)?;
        let known = (XattrFlags::CREATE | XattrFlags::REPLACE).bits();
        if name.is_empty() || flags & !known != 0 {
            return fail(Errno::INVAL, "no such attribute or flag");
        }
        let Some(size) = usize::try_from(size).ok().filter(|&size| size <= XATTR_MAX) else {
            return fail(Errno::TOOBIG, "larger than an attribute's value can be");
        };
        let add = |now: usize| now.checked_add(size).filter(|&sum| sum <= COLLECTED_MAX);
        COLLECTED
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .map_err(|_| Error::new(Errno::NOSPC, "too many attributes are being set"))?;
        let value = NewValue { name: name.to_vec(), size, flags, collected: Vec::new() };
        let stat = rustix::fs::fstat(fid.0.fd())?;
        let fid = fid.0.with_form(Form::NewValue(Mutex::new(value)));
        Ok(Opened { fid, qid: self.qids.qid(&stat), iounit: 0 })
    }

    /// Sets the attribute whose value was collected ([`crate::tree::Tree::commit`]).
    ///
    /// # Errors
    /// EINVAL when not all of the value has come, and those of setxattr(2) and removexattr(2).
    pub fn commit(&self, fid: &HostFid) -> Result<()> {
        let node = &fid.0;
        let Form::NewValue(value) = &node.form else {
            return fail(Errno::BADF, "the fid does not write an attribute");
        };
        let value = value.lock().expect("no holder panics");
        if value.collected.len() != value.size {
            return fail(Errno::INVAL, "fewer bytes than were announced for the attribute");
        }
        user::act_as(&node.user, None)?;
        let name = value.name.as_slice();
        let flags = XattrFlags::from_bits_truncate(value.flags);
        if value.size == 0 && flags.contains(XattrFlags::REPLACE) {
            rustix::fs::removexattr(path(node), name)?;
        } else {
            rustix::fs::setxattr(path(node), name, &value.collected, flags)?;
        }
        Ok(())
    }
}

fn check_name(name: Name<'_>) -> Result<()> {
    match name {
        _ if name.len() > NAME_MAX => fail(Errno::RANGE, "an attribute's name is too long"),
        _ if name.contains(&0) => fail(Errno::INVAL, "an attribute's name has a NUL in it"),
        _ => Ok(()),
    }
}
