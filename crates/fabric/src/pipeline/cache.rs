//! The sizes of this machine's caches, as the kernel tells them.

use std::fs;
use std::path::Path;

/// Used where the kernel does not tell: small enough for any core of the last ten years.
pub const UNKNOWN: usize = 256 * 1024;

/// Bytes of the second-level cache of a core of this machine.
pub fn second_level() -> usize {
    at(Path::new("/sys/devices/system/cpu/cpu0/cache")).unwrap_or(UNKNOWN)
}

fn at(directory: &Path) -> Option<usize> {
    let indices = fs::read_dir(directory).ok()?.flatten();
    let read = |path: &Path, name: &str| {
        fs::read_to_string(path.join(name)).ok().map(|text| text.trim().to_owned())
    };
    indices.map(|entry| entry.path()).find_map(|path| {
        let is_second = read(&path, "level").as_deref() == Some("2");
        let is_data = read(&path, "type").as_deref() != Some("Instruction");
        if is_second && is_data { size(&read(&path, "size")?) } else { None }
    })
}

/// As sysfs writes it: `512K`, `4M`.
fn size(text: &str) -> Option<usize> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    digits.parse::<usize>().ok()?.checked_mul(unit).filter(|&bytes| bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_the_kernel_writes_them() {
        assert_eq!(
            [size("512K"), size("4M"), size("100")],
            [Some(512 << 10), Some(4 << 20), Some(100)]
        );
        assert_eq!(
            [size(""), size("K"), size("0K"), size("x"), size("99999999999999999999K")],
            [None; 5]
        );
    }

    #[test]
    fn a_machine_that_does_not_tell_has_a_small_cache() {
        assert_eq!(at(Path::new("/proc/self/no-such-directory")), None);
        assert!(second_level() >= 64 << 10);
    }
}
