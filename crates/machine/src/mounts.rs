//! What is mounted where, as the text of `/proc/self/mountinfo` tells (proc_pid_mountinfo(5)).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Its number.
    pub id: u64,
    /// Major and minor number of the device by which its files are known.
    pub device: (u32, u32),
    /// What of the file system is mounted.
    pub root: PathBuf,
    /// Where.
    pub at: PathBuf,
    /// Kind of file system.
    pub kind: String,
    /// What is mounted.
    pub source: String,
    /// How, as that kind of file system has it, with commas.
    pub options: String,
}

/// All mounts of a table; of several at one place the topmost is the last.
pub fn read(table: &[u8]) -> impl Iterator<Item = Mount> {
    table.split(|byte| *byte == b'\n').filter_map(mount)
}

fn mount(line: &[u8]) -> Option<Mount> {
    // ID PARENT DEVICE ROOT AT OPTIONS [TAGS] - KIND SOURCE OPTIONS
    let mut words = line.split(|byte| *byte == b' ').map(plain);
    let mut text = || words.next()?.into_string().ok();
    let (id, _, device) = (text()?.parse().ok()?, text()?, text()?);
    let (major, minor) = device.split_once(':')?;
    let device = (major.parse().ok()?, minor.parse().ok()?);
    let (root, at) = (words.next()?.into(), words.next()?.into());
    let mut behind = words.skip_while(|word| word != "-").skip(1);
    let mut text = || Some(behind.next()?.to_string_lossy().into_owned());
    let (kind, source, options) = (text()?, text()?, text()?);
    Some(Mount { id, device, root, at, kind, source, options })
}

/// Undoes the octal escapes of blanks.
fn plain(word: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((&byte, behind)) = rest.split_first() {
        let octal = (byte == b'\\').then(|| std::str::from_utf8(behind.get(..3)?).ok()).flatten();
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[3..];
            }
            None => {
                bytes.push(byte);
                rest = behind;
            }
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_blanks_and_tags_in_them() {
        let table = b"22 1 0:20 / /proc rw - proc proc rw\n\
            nonsense\n - cgroup2\n\
            40 22 8:44 /pod /a\\040b\\011c\\134040\\ rw shared:3 master:1 - fuse.muster m rw,a\n";
        let found: Vec<Mount> = read(table).collect();
        assert_eq!((found.len(), &*found[0].kind), (2, "proc"));
        let blanks = Mount {
            id: 40,
            device: (8, 44),
            root: "/pod".into(),
            at: "/a b\tc\\040\\".into(),
            kind: "fuse.muster".into(),
            source: "m".into(),
            options: "rw,a".into(),
        };
        assert_eq!(found[1], blanks);
    }
}
