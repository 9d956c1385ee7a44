//! What an ELF file tells of itself: the processor that it is for, the loader that it wants, the
//! libraries that it needs. The file may be anybody's, so whatever it claims is checked before it
//! is gone after, and nothing of it is executed.

use std::fmt;

/// This machine's processor, by the kernel's name.
pub const HERE: &str = match std::env::consts::ARCH.as_bytes() {
    b"x86" => "i686",
    b"powerpc64" if cfg!(target_endian = "little") => "ppc64le",
    b"powerpc64" => "ppc64",
    _ => std::env::consts::ARCH,
};

/// Those that can be told apart.
pub const PROCESSORS: [&str; 9] =
    ["aarch64", "arm", "i686", "loongarch64", "ppc64", "ppc64le", "riscv64", "s390x", "x86_64"];

/// Bytes at a file's start that name its processor.
pub const HEAD: usize = 20;

/// Bytes of the header: of the wider kind, which has all of the other's.
const HEADER: usize = 64;

/// Segments of a file. Linkers make a dozen.
const SEGMENTS_MAX: usize = 512;

/// Bytes of the dynamic section: a thousand libraries take 16 KiB.
const DYNAMIC_MAX: usize = 64 * 1024;

/// Bytes of a name or a list of directories. Package managers write long ones.
const STRING_MAX: usize = 64 * 1024;

/// Bytes of a string that are read at once.
const STRING_PART: usize = 256;

/// Which programs a processor can run: its number, its width, its byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    number: u16,
    is_wide: bool,
    is_big: bool,
}

impl Kind {
    /// That of the file which begins so; none if it is no ELF file.
    pub fn of(head: &[u8]) -> Option<Kind> {
        let head = head.get(..HEAD).filter(|head| head.starts_with(b"\x7fELF"))?;
        let is_wide = match head[4] {
            1 => false,
            2 => true,
            _ => return None,
        };
        // EI_DATA says in which order numbers are written, the machine's among them.
        let is_big = match head[5] {
            1 => false,
            2 => true,
            _ => return None,
        };
        let kind = Kind { number: 0, is_wide, is_big };
        Some(Kind { number: kind.number(head, 18, 2)? as u16, ..kind })
    }

    /// The processor, by the kernel's name (`uname -m`), if it is one that is known here.
    pub fn processor(self) -> Option<&'static str> {
        Some(match (self.number, self.is_wide, self.is_big) {
            (3, ..) => "i686",
            (62, ..) => "x86_64",
            (40, ..) => "arm",
            (183, ..) => "aarch64",
            (243, true, _) => "riscv64",
            (21, _, true) => "ppc64",
            (21, _, false) => "ppc64le",
            (22, ..) => "s390x",
            (258, ..) => "loongarch64",
            _ => return None,
        })
    }

    /// A number of so many bytes at a place.
    fn number(self, bytes: &[u8], at: usize, width: usize) -> Option<u64> {
        let bytes = bytes.get(at..at.checked_add(width)?)?;
        let add = |sum, byte: &u8| sum << 8 | u64::from(*byte);
        Some(if self.is_big { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) })
    }

    /// The bytes of an address.
    fn width(self) -> usize {
        if self.is_wide { 8 } else { 4 }
    }

    /// A number that the two kinds have at different places, as wide as an address.
    fn address(self, bytes: &[u8], wide: usize, narrow: usize) -> Option<u64> {
        self.number(bytes, if self.is_wide { wide } else { narrow }, self.width())
    }
}

/// Whether a processor that the kernel calls `node` runs programs for `program`.
pub fn runs(node: &str, program: &str) -> bool {
    node == program
        || matches!((node, program), ("x86_64", "i686") | ("aarch64", "arm"))
        || (node.starts_with("arm") && program == "arm")
}

/// Why a file is not what it seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged(&'static str);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Damaged {}

const CUT: Damaged = Damaged("its table of segments is cut off");

/// A program or library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elf {
    /// What it runs on.
    pub kind: Kind,
    /// The loader that it wants.
    pub interpreter: Option<String>,
    /// The libraries that it needs itself.
    pub needed: Vec<String>,
    /// Where its own libraries and those of its libraries are looked for first (DT_RPATH).
    pub rpath: Option<String>,
    /// Where its own libraries are looked for (DT_RUNPATH).
    pub runpath: Option<String>,
}

/// Parts of the file that are in memory: their addresses, lengths and offsets.
struct Loads(Vec<(u64, u64, u64)>);

impl Loads {
    /// Where in the file an address is, and how many bytes from there on are in one piece.
    fn offset(&self, address: u64) -> Option<(u64, u64)> {
        self.0.iter().find_map(|(start, length, offset)| {
            let inside = address.checked_sub(*start).filter(|inside| inside < length)?;
            Some((offset.checked_add(inside)?, length - inside))
        })
    }
}

/// Reads a file by `part`, which gives the bytes from an offset on: as many as are asked for, fewer
/// at the file's end. None if it is no ELF file.
///
/// # Errors
/// What is wrong with it.
pub fn read(part: impl Fn(u64, usize) -> Vec<u8>) -> Result<Option<Elf>, Damaged> {
    let header = part(0, HEADER);
    let Some(kind) = Kind::of(&header) else { return Ok(None) };
    let whole = |offset: u64, length: usize| {
        Some(part(offset, length)).filter(|bytes| bytes.len() >= length).ok_or(CUT)
    };
    let number = |at| kind.number(&header, at, 2).map(|number| number as usize).ok_or(CUT);
    let table = kind.address(&header, 32, 28).ok_or(CUT)?;
    let (size, count) = match kind.is_wide {
        true => (number(54)?, number(56)?),
        false => (number(42)?, number(44)?),
    };
    if count > SEGMENTS_MAX || count > 0 && size < if kind.is_wide { 56 } else { 32 } {
        return Err(Damaged("its table of segments is none"));
    }
    let (mut loads, mut dynamic, mut interpreter) = (Loads(Vec::new()), None, None);
    for segment in whole(table, size * count)?.chunks_exact(size.max(1)) {
        let offset = kind.address(segment, 8, 4).ok_or(CUT)?;
        let address = kind.address(segment, 16, 8).ok_or(CUT)?;
        let length = kind.address(segment, 32, 16).ok_or(CUT)?;
        match kind.number(segment, 0, 4) {
            Some(1) => loads.0.push((address, length, offset)),
            Some(2) => dynamic = Some((offset, length)),
            Some(3) => interpreter = Some(string(&part, offset, length)?),
            _ => {}
        }
    }
    let mut elf = Elf { kind, interpreter, needed: Vec::new(), rpath: None, runpath: None };
    if let Some((offset, length)) = dynamic {
        let length = usize::try_from(length).ok().filter(|length| *length <= DYNAMIC_MAX);
        let length = length.ok_or(Damaged("its dynamic section is longer than any"))?;
        elf.link(&whole(offset, length)?, &loads, &part)?;
    }
    Ok(Some(elf))
}

impl Elf {
    /// Takes over what the dynamic section says.
    fn link(
        &mut self,
        section: &[u8],
        loads: &Loads,
        part: &impl Fn(u64, usize) -> Vec<u8>,
    ) -> Result<(), Damaged> {
        let (kind, width) = (self.kind, self.kind.width());
        let each =
            |entry: &[u8]| Some((kind.number(entry, 0, width)?, kind.number(entry, width, width)?));
        let entries = section.chunks_exact(2 * width).filter_map(each);
        let entries: Vec<(u64, u64)> = entries.take_while(|(tag, _)| *tag != 0).collect();
        let strings = entries.iter().find(|(tag, _)| *tag == 5).map(|(_, address)| *address);
        for (tag, at) in entries.iter().filter(|(tag, _)| matches!(tag, 1 | 15 | 29)) {
            let address = strings.and_then(|strings| strings.checked_add(*at));
            let place = address.and_then(|address| loads.offset(address));
            let (offset, most) = place.ok_or(Damaged("its dynamic section names nothing"))?;
            let text = string(part, offset, most)?;
            match tag {
                1 => self.needed.push(text),
                15 => self.rpath = Some(text),
                _ => self.runpath = Some(text),
            }
        }
        Ok(())
    }
}

/// The text at an offset, up to a zero.
fn string(
    part: &impl Fn(u64, usize) -> Vec<u8>,
    offset: u64,
    most: u64,
) -> Result<String, Damaged> {
    let most = usize::try_from(most).unwrap_or(usize::MAX).min(STRING_MAX);
    let mut bytes = Vec::new();
    while bytes.len() < most {
        let asked = STRING_PART.min(most - bytes.len());
        let more = offset.checked_add(bytes.len() as u64).map(|at| part(at, asked));
        let more = more.unwrap_or_default();
        let end = more.iter().position(|byte| *byte == 0);
        bytes.extend_from_slice(&more[..end.unwrap_or(more.len()).min(asked)]);
        if end.is_some() {
            return String::from_utf8(bytes).map_err(|_| Damaged("a name in it is no text"));
        }
        if more.len() < asked {
            break;
        }
    }
    Err(Damaged("a name in it has no end"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads bytes as a file has them.
    fn of(bytes: &[u8]) -> Result<Option<Elf>, Damaged> {
        read(|offset, length| {
            let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
            bytes[start..bytes.len().min(start.saturating_add(length))].to_vec()
        })
    }

    /// Writes a library of a kind: header, four segments, the strings, the dynamic section.
    fn library(is_wide: bool, is_big: bool) -> Vec<u8> {
        let strings = b"\0libq.so.1\0libz.so\0/opt/a:$ORIGIN\0/opt/b\0/lib/ld.so\0";
        let entries = [(1, 1), (1, 11), (29, 19), (15, 34), (5, 0x1000), (0, 0), (1, 999)];
        let put = |number: u64, width: usize| {
            let bytes = number.to_be_bytes()[8 - width..].to_vec();
            if is_big { bytes } else { bytes.into_iter().rev().collect() }
        };
        let width = if is_wide { 8 } else { 4 };
        let (header, segment) = if is_wide { (64, 56) } else { (52, 32) };
        let text = header + 3 * segment;
        let dynamic = text + strings.len();
        let mut file = b"\x7fELF\x01\x01\x01".to_vec();
        (file[4], file[5]) = (1 + u8::from(is_wide), 1 + u8::from(is_big));
        file.resize(16, 0);
        file.extend([put(3, 2), put(if is_wide { 183 } else { 40 }, 2), put(1, 4)].concat());
        file.extend([put(0, width), put(header as u64, width), put(0, width)].concat());
        let sizes = [header, segment, 3, 0, 0, 0].map(|size| put(size as u64, 2)).concat();
        file.extend([put(0, 4), sizes].concat());
        let length = entries.len() * 2 * width;
        let parts = [
            (1, text, 0x1000, strings.len()),
            (2, dynamic, 0x2000, length),
            (3, text + 41, 0x1041, 11),
        ];
        for (kind, offset, address, length) in parts {
            let numbers = [offset, address, address, length, length];
            let numbers = numbers.map(|number| put(number as u64, width));
            let flags = put(4, 4);
            let (early, late) = if is_wide { (flags, vec![]) } else { (vec![], flags) };
            file.extend([put(kind, 4), early, numbers.concat(), late, put(8, width)].concat());
        }
        assert_eq!(file.len(), text);
        file.extend(strings);
        entries
            .iter()
            .for_each(|(tag, at)| file.extend([put(*tag, width), put(*at, width)].concat()));
        file
    }

    #[test]
    fn a_library_tells_what_it_needs_whatever_its_width_and_byte_order() {
        for (is_wide, is_big) in [(true, false), (true, true), (false, false), (false, true)] {
            let elf = of(&library(is_wide, is_big)).unwrap().expect("an ELF file");
            assert_eq!(elf.needed, ["libq.so.1", "libz.so"]);
            assert_eq!(elf.runpath.as_deref(), Some("/opt/a:$ORIGIN"));
            assert_eq!(elf.rpath.as_deref(), Some("/opt/b"));
            assert_eq!(elf.interpreter.as_deref(), Some("/lib/ld.so"));
            assert_eq!(elf.kind.processor(), Some(if is_wide { "aarch64" } else { "arm" }));
        }
    }

    #[test]
    fn what_is_no_elf_file_is_none_and_a_damaged_one_is_told() {
        for bytes in
            [&b""[..], b"#!/bin/sh\n", b"\x7fELF", &[0; 100], b"\x7fELF\x03\x01.............."]
        {
            assert_eq!(of(bytes), Ok(None));
        }
        let whole = library(true, false);
        for length in HEAD..whole.len() - 32 {
            assert!(of(&whole[..length]).is_err(), "{length}");
        }
        let mut many = whole.clone();
        (many[56], many[57]) = (0xff, 0xff);
        assert!(of(&many).is_err());
    }

    #[test]
    fn a_wider_processor_runs_the_narrower_ones_programs() {
        assert!(runs("x86_64", "x86_64") && runs("x86_64", "i686") && runs("aarch64", "arm"));
        assert!(runs("armv7l", "arm"));
        assert!(!runs("i686", "x86_64") && !runs("x86_64", "aarch64") && !runs("ppc64le", "ppc64"));
    }

    proptest! {
        #[test]
        fn whatever_a_file_says_it_is_read_to_an_end(
            is_wide: bool,
            is_big: bool,
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
            length in any::<prop::sample::Index>(),
        ) {
            let mut bytes = library(is_wide, is_big);
            for (at, byte) in changes {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            let _ = of(&bytes);
            let _ = of(&bytes[..length.index(bytes.len())]);
        }

        #[test]
        fn any_bytes_behind_the_mark_are_read_to_an_end(
            class in 0..4_u8,
            order in 0..4_u8,
            rest in prop::collection::vec(any::<u8>(), 0..300),
        ) {
            let bytes = [&b"\x7fELF"[..], &[class, order], &rest].concat();
            let _ = of(&bytes);
        }
    }
}
