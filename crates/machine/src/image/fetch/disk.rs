//! The way of a whole image to the disk, which may be as slow as a memory card.

use super::sys::sync_part;
use std::fs::File;
use std::io;

/// Bytes that are waited for at once: a second of a slow disk's. Nothing ends a process, nor a
/// thread, that waits for one.
const PART: u64 = 16 << 20;

/// Has a file of so many bytes written to the disk; false if it is to stop before all is there.
/// What is left for a sync is little then.
///
/// # Errors
/// When it cannot be written, of which a sync later would know nothing.
pub(super) fn write_out(
    file: &File,
    size: u64,
    mut is_stopped: impl FnMut() -> bool,
) -> io::Result<bool> {
    for offset in (0..size).step_by(PART as usize) {
        if is_stopped() {
            return Ok(false);
        }
        match sync_part(file, offset, PART) {
            Err(error) if is_lost(&error) => return Err(error),
            // Not every file system can do it by parts.
            _ => {}
        }
    }
    Ok(!is_stopped())
}

fn is_lost(error: &io::Error) -> bool {
    let lost = [libc::EIO, libc::ENOSPC, libc::EDQUOT];
    error.raw_os_error().is_some_and(|error| lost.contains(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn who_stops_while_an_image_goes_to_the_disk_waits_for_one_part_at_most() {
        let scratch = Scratch::new("disk");
        let file = File::create(scratch.join("image")).unwrap();
        // Most of it is a hole.
        let size = 4 * PART + 1;
        file.set_len(size).unwrap();
        let looks = |most: usize| {
            let mut looks = 0;
            let is_stopped = || {
                looks += 1;
                looks > most
            };
            (write_out(&file, size, is_stopped).unwrap(), looks)
        };
        assert_eq!(looks(2), (false, 3));
        assert_eq!(looks(5), (false, 6), "also after the last of it");
        assert_eq!(looks(6), (true, 6));
    }
}
