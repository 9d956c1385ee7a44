//! The cache of glibc's loader, `/etc/ld.so.cache`: which file has which name.
//!
//! A header, entries of 24 bytes, and the texts that these name by their offsets, all in this
//! machine's byte order. An older format may stand before it.

use std::collections::HashMap;

/// What the format begins with.
const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";

/// Bytes of the header.
const HEADER: usize = 48;

/// Bytes of an entry: flags, name, path, version of the kernel, and for which processors.
const ENTRY: usize = 24;

/// The names and their files, in the order in which the loader takes them.
#[derive(Debug, Default)]
pub struct Cache(HashMap<String, Vec<String>>);

impl Cache {
    /// Reads it, as far as it is one.
    pub fn read(bytes: &[u8]) -> Cache {
        let start = bytes.windows(MAGIC.len()).position(|part| part == MAGIC);
        let bytes = start.map_or(&[][..], |start| &bytes[start..]);
        let number = |at: usize| {
            let four = bytes.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_ne_bytes(four) as usize)
        };
        let text = |at: usize| {
            let rest = bytes.get(at..)?;
            let end = rest.iter().position(|byte| *byte == 0)?;
            std::str::from_utf8(&rest[..end]).ok().map(str::to_owned)
        };
        let mut cache = Cache::default();
        let entries = bytes.get(HEADER..).unwrap_or_default().chunks_exact(ENTRY);
        for (index, entry) in entries.enumerate().take(number(MAGIC.len()).unwrap_or(0)) {
            let at = HEADER + index * ENTRY;
            // Those that are not for every processor of the kind may not be for the nodes'.
            let is_common = entry[16..] == [0; 8];
            let pair = || Some((text(number(at + 4)?)?, text(number(at + 8)?)?));
            if let Some((name, path)) = pair().filter(|_| is_common) {
                cache.0.entry(name).or_default().push(path);
            }
        }
        cache
    }

    /// The files of a name.
    pub fn of(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.get(name).into_iter().flatten().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cache of these names and paths; the second for a certain model.
    fn sample(entries: &[(&str, &str, u64)]) -> Vec<u8> {
        let texts = HEADER + entries.len() * ENTRY;
        let (mut head, mut body) = (MAGIC.to_vec(), Vec::new());
        head.extend((entries.len() as u32).to_ne_bytes());
        head.resize(HEADER, 0);
        for (name, path, model) in entries {
            head.extend(0x303_u32.to_ne_bytes());
            for text in [name, path] {
                head.extend(((texts + body.len()) as u32).to_ne_bytes());
                body.extend(text.bytes().chain([0]));
            }
            head.extend([0; 4]);
            head.extend(model.to_ne_bytes());
        }
        [head, body].concat()
    }

    #[test]
    fn names_have_their_files_in_order_but_those_for_certain_models() {
        let entries = [
            ("libq.so.1", "/opt/hwcaps/libq.so.1", 1 << 62),
            ("libq.so.1", "/lib/libq.so.1", 0),
            ("libq.so.1", "/lib32/libq.so.1", 0),
            ("libz.so", "/lib/libz.so", 0),
        ];
        for before in [&b""[..], b"ld.so-1.7.0\0\x01\0\0\0older............"] {
            let cache = Cache::read(&[before, &sample(&entries)].concat());
            let of = |name: &str| cache.of(name).map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(of("libq.so.1"), ["/lib/libq.so.1", "/lib32/libq.so.1"]);
            assert_eq!((of("libz.so").len(), of("libx.so").len()), (1, 0));
        }
    }

    #[test]
    fn what_is_cut_off_or_changed_is_read_to_an_end() {
        let whole = sample(&[("libq.so.1", "/lib/libq.so.1", 0), ("libz.so", "/lib/libz.so", 0)]);
        for length in 0..whole.len() {
            Cache::read(&whole[..length]);
        }
        for at in MAGIC.len()..whole.len() {
            let mut changed = whole.clone();
            changed[at] = 0xff;
            Cache::read(&changed);
        }
    }
}
