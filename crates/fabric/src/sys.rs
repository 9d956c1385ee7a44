//! Copies out of memory that another processor has just written.
#![allow(unsafe_code)]

/// A cache line.
const LINE: usize = 64;

/// From how many bytes on it pays for packets: streams of 4 KB go at 18 GB/s instead of 8, and one
/// by itself takes a tenth longer (docs/decisions/fabric-speed.md).
const LANED: usize = 4096;

/// Copies bytes, from `laned` on in two lanes, the halves side by side. What limits a copy from
/// another processor's caches is how many lines are under way at a time: a processor fetches ahead
/// in each lane by itself, and lines that come from the other's first cache do not hold up those
/// that come from its second (docs/decisions/near.md).
///
/// # Safety
/// As of [`std::ptr::copy_nonoverlapping`].
pub(crate) unsafe fn copy(from: *const u8, to: *mut u8, count: usize, laned: usize) {
    // SAFETY: as the caller promises.
    let part = |start: usize, end: usize| unsafe {
        from.add(start).copy_to_nonoverlapping(to.add(start), end - start);
    };
    if count < laned {
        return part(0, count);
    }
    // Lines are written whole: half a line would wait for the other lane's.
    let (lane, head) = (count / (2 * LINE) * LINE, to.align_offset(LINE));
    let end = head + lane - LINE;
    for first in (head..end).step_by(LINE) {
        for at in [first, first + lane] {
            // SAFETY: as the caller promises: a line ends before `end`, a lane behind it.
            unsafe {
                let line = from.add(at).cast::<[u8; LINE]>().read_unaligned();
                to.add(at).cast::<[u8; LINE]>().write_unaligned(line);
            }
        }
    }
    part(0, head);
    part(end, lane + head);
    part(lane + end, count);
}

/// Copies all of one slice into another.
///
/// # Panics
/// Where their lengths differ.
pub(crate) fn copy_slice(from: &[u8], to: &mut [u8]) {
    assert_eq!(from.len(), to.len(), "a copy between slices of different lengths");
    // SAFETY: the lengths are equal, and what is exclusively borrowed is elsewhere.
    unsafe { copy(from.as_ptr(), to.as_mut_ptr(), from.len(), LANED) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_copied_whatever_the_length_and_wherever_they_lie() {
        let bytes: Vec<u8> = (0..20_000_u32).map(|at| (at ^ at >> 8) as u8).collect();
        let lengths = (0..200).chain(LANED - 70..LANED + 140).chain([16_384, 16_447, 19_900]);
        for (number, length) in lengths.enumerate() {
            for shift in [0, 1, 8, 16, 63] {
                let from = &bytes[number % 67..][..length];
                let mut room = vec![0xee; length + 128];
                copy_slice(from, &mut room[shift..][..length]);
                assert_eq!(&room[shift..][..length], from, "{length} bytes, {shift} further on");
                let (before, rest) = room.split_at(shift);
                let around = before.iter().chain(&rest[length..]);
                assert!(around.copied().all(|byte| byte == 0xee), "{length}, {shift}");
            }
        }
    }
}
