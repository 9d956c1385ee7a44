//! A text that clients edit.

use muster_base::limits::TEXT_MAX;
use muster_ninep::call::{Answer, Data};
use muster_ninep::error::{Errno, Result, fail};
use muster_ninep::synthetic::{File, Handle, SynCall, slice};
use muster_ninep::tree::OpenFlags;
use std::sync::{Arc, Mutex, MutexGuard};

/// The text, shared by its owner and its file.
#[derive(Clone, Debug, Default)]
pub struct Text {
    bytes: Arc<Mutex<Vec<u8>>>,
}

impl Text {
    /// A text with this content.
    pub fn new(content: impl Into<Vec<u8>>) -> Text {
        Text { bytes: Arc::new(Mutex::new(content.into())) }
    }

    fn locked(&self) -> MutexGuard<'_, Vec<u8>> {
        self.bytes.lock().expect("no holder panics")
    }

    /// The content.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub fn get(&self) -> Result<String> {
        let bytes = self.locked().clone();
        String::from_utf8(bytes).or_else(|_| fail(Errno::ILSEQ, "the text is not UTF-8"))
    }

    /// Another text that begins with this content, whatever it is.
    pub fn copy(&self) -> Text {
        Text::new(self.locked().clone())
    }

    /// Replaces the content.
    pub fn set(&self, content: impl Into<Vec<u8>>) {
        *self.locked() = content.into();
    }

    /// As a file.
    pub fn file(&self, permissions: u32) -> File {
        let (text, size) = (self.clone(), self.clone());
        File::new(permissions, move |flags| Ok(Editor(text.clone(), flags.has(OpenFlags::APPEND))))
            .sized(move || size.locked().len() as u64)
    }
}

/// The text as one open file has it; and whether each write goes to the end.
struct Editor(Text, bool);

impl Editor {
    fn put(&self, offset: u64, data: &[u8]) -> Result<u32> {
        let mut bytes = self.0.locked();
        let offset = if self.1 { bytes.len() as u64 } else { offset };
        let end = usize::try_from(offset).ok().and_then(|offset| offset.checked_add(data.len()));
        let Some(end) = end.filter(|end| *end <= TEXT_MAX) else {
            return fail(Errno::FBIG, format!("this text may have {TEXT_MAX} bytes at most"));
        };
        let size = bytes.len().max(end);
        bytes.resize(size, 0);
        bytes[end - data.len()..end].copy_from_slice(data);
        Ok(data.len() as u32)
    }
}

impl Handle for Editor {
    fn read(&self, _: &mut SynCall<'_>, offset: u64, count: usize) -> Answer<Data> {
        Ok(slice(&self.0.locked(), offset, count).to_vec().into())
    }

    fn write(&self, _: &mut SynCall<'_>, offset: u64, data: &[u8]) -> Answer<u32> {
        Ok(self.put(offset, data)?)
    }

    fn truncate(&self, size: u64) -> Result<()> {
        if size > TEXT_MAX as u64 {
            return fail(Errno::FBIG, format!("this text may have {TEXT_MAX} bytes at most"));
        }
        self.0.locked().resize(size as usize, 0);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that leaves the place to the server overwrote the start.
    #[test]
    fn what_is_opened_to_append_grows_at_its_end_whatever_the_offset() {
        let text = Text::new("first\n");
        for (append, after) in [(true, "first\nnext\n"), (false, "last\n\nnext\n")] {
            let word = if append { "next\n" } else { "last\n" };
            assert_eq!(Editor(text.clone(), append).put(0, word.as_bytes()), Ok(5));
            assert_eq!(text.get(), Ok(after.to_owned()));
        }
    }
}
