//! What requests make of a target's elements.
//!
//! Memory that one process alone has at an address is changed by that one, request by request.
//! Where ranks share it several change it at once: there each element that can be an atom
//! (`atom.rs`) is changed as one, also by the owner for those who ask it, and all others are the
//! owner's to change. Nothing but their datatype and where they are says which elements are atoms,
//! so all ranks agree.

use super::wire::{Head, Kind};
use crate::buffer::Memory;
use crate::datatype::{Area, Datatype, Predefined, Run};
use crate::error::{Class, Error, Result};
use crate::op::{self, Kernel, Op};
use std::sync::atomic::{Ordering, fence};

/// The most bytes that are changed as one.
const MOST: usize = 8;

fn wrong() -> Error {
    Error::new(Class::Op, "there is no such operation, or no such datatype")
}

/// What becomes of each element.
enum Change {
    /// It stays.
    Keep,
    /// It is another one now.
    Replace,
    /// An operation's result.
    Combine(Kernel),
    /// The first of two, if it is the second.
    Swap,
}

impl Change {
    fn of(head: &Head) -> Result<Change> {
        if head.kind == Kind::Swap {
            return Ok(Change::Swap);
        }
        let op = op::Predefined::of_handle(head.code.into()).ok_or_else(wrong)?;
        Ok(match op {
            op::Predefined::NoOp => Change::Keep,
            op::Predefined::Replace => Change::Replace,
            op => {
                let element = Predefined::of_handle(head.element.into()).ok_or_else(wrong)?;
                Change::Combine(Op::Predefined(op).accumulation(Datatype::of(element))?)
            }
        })
    }

    /// Bytes that come with it, for so many at the target.
    fn operands(&self, size: usize) -> usize {
        match self {
            Change::Keep => 0,
            Change::Replace | Change::Combine(_) => size,
            Change::Swap => size.saturating_mul(2),
        }
    }
}

/// The size of a request's elements, where each can be an atom.
fn size_of_atoms(head: &Head) -> Option<usize> {
    let element = Datatype::of(Predefined::of_handle(head.element.into())?);
    let size = element.size();
    (size <= MOST && size.is_power_of_two() && element.extent() == size as isize).then_some(size)
}

/// Whether all elements of a request are atoms.
pub(super) fn is_of_atoms<M: Memory>(memory: &M, head: &Head) -> bool {
    // Elements of a run lie one behind the other.
    size_of_atoms(head)
        .is_some_and(|size| head.runs.iter().all(|run| memory.atom(run.at, size).is_some()))
}

/// Changes elements of memory that ranks share, each as one where it is an atom; what was there is
/// written where there is room for it. Whether it was done: it is not where none can be an atom.
pub(super) fn each<M: Memory>(
    places: impl Iterator<Item = (M, Run)>,
    head: &Head,
    data: &[u8],
    old: &mut [u8],
) -> Result<bool> {
    let all = head.size();
    // Elements that there are none of need no operation.
    let Some(size) = size_of_atoms(head).filter(|_| all > 0) else { return Ok(false) };
    let change = Change::of(head)?;
    if data.len() != change.operands(all) || !(old.is_empty() || old.len() == all) {
        return Err(wrong());
    }
    let (data, expected) = data.split_at(data.len().min(all));
    let mut done = 0;
    for (mut memory, run) in places {
        let (mut at, end) = (run.at, done + run.length);
        while end - done >= size {
            let (length, bytes) = row(&memory, at, size, (end - done, &change));
            let part = done..done + bytes;
            let from = data.get(part.clone()).unwrap_or_default();
            let expected = expected.get(part.clone()).unwrap_or_default();
            let old = old.get_mut(part).unwrap_or_default();
            if length == MOST {
                change_row(&mut memory, (at, bytes, MOST), &change, (from, expected), old);
            } else {
                change_row(&mut memory, (at, bytes, length), &change, (from, expected), old);
            }
            (at, done) = (at + bytes as isize, done + bytes);
        }
        done = end;
    }
    if matches!(change, Change::Replace) {
        fence(Ordering::SeqCst);
    }
    Ok(true)
}

/// The length of the atoms from a place on, and how many bytes such ones are: several elements are
/// changed at once where they make one, for an exchange takes as long whatever its size.
fn row<M: Memory>(
    memory: &M,
    at: isize,
    size: usize,
    (left, change): (usize, &Change),
) -> (usize, usize) {
    let is_alone = left < MOST || matches!(change, Change::Swap);
    let is_wide = size == MOST || !is_alone && memory.atom(at, MOST).is_some();
    if is_wide { (MOST, left - left % MOST) } else { (size, size) }
}

/// Changes atoms that lie in a row; what was there is written where there is room for it. A length
/// that the compiler knows makes one instruction of most of it.
#[inline(always)]
fn change_row<M: Memory>(
    memory: &mut M,
    (at, bytes, length): (isize, usize, usize),
    change: &Change,
    (from, expected): (&[u8], &[u8]),
    old: &mut [u8],
) {
    for first in (0..bytes).step_by(length) {
        let part = first..first + length;
        let from = from.get(part.clone()).unwrap_or_default();
        let Some(atom) = memory.atom(at + first as isize, length) else {
            let expected = expected.get(part.clone()).unwrap_or_default();
            let old = old.get_mut(part).unwrap_or_default();
            change_bytes(
                memory.bytes_mut(at + first as isize, length),
                change,
                (from, expected),
                old,
            );
            continue;
        };
        let was = match change {
            Change::Replace if old.is_empty() => {
                atom.store(from);
                continue;
            }
            Change::Keep => atom.load(),
            Change::Replace => atom.combine(|input, inout| inout.copy_from_slice(input), from),
            Change::Combine(kernel) => atom.combine(*kernel, from),
            Change::Swap => atom.exchange(&expected[part.clone()], from),
        };
        if let Some(old) = old.get_mut(part) {
            old.copy_from_slice(&was[..length]);
        }
    }
}

/// The same of bytes that only their owner changes.
fn change_bytes(
    bytes: &mut [u8],
    change: &Change,
    (from, expected): (&[u8], &[u8]),
    old: &mut [u8],
) {
    old.copy_from_slice(&bytes[..old.len()]);
    match change {
        Change::Keep => {}
        Change::Replace => bytes.copy_from_slice(from),
        Change::Combine(kernel) => kernel(from, bytes),
        Change::Swap if bytes == expected => bytes.copy_from_slice(from),
        Change::Swap => {}
    }
}

/// Changes elements that nobody else changes at the same time; what was there.
pub(super) fn all<M: Memory>(places: &mut [(M, Run)], head: &Head, data: &[u8]) -> Result<Vec<u8>> {
    let mut old = vec![0; head.size()];
    read(places, &mut old);
    if head.kind == Kind::Swap {
        let (new, expected) = data.split_at(data.len() / 2);
        if old == expected {
            write(places, new);
        }
    } else if let Some(new) = combined(head, data, &old)? {
        // What only reads must not write: the owner may store to it meanwhile.
        write(places, &new);
    }
    Ok(old)
}

/// Reads as many bytes as there is room for.
pub(super) fn read<M: Memory>(places: &[(M, Run)], mut into: &mut [u8]) {
    for (memory, run) in places {
        let (next, rest) = into.split_at_mut(run.length.min(into.len()));
        next.copy_from_slice(memory.bytes(run.at, next.len()));
        into = rest;
    }
}

/// Writes as many bytes as there are.
pub(super) fn write<M: Memory>(places: &mut [(M, Run)], mut data: &[u8]) {
    for (memory, run) in places {
        let (next, rest) = data.split_at(run.length.min(data.len()));
        memory.bytes_mut(run.at, next.len()).copy_from_slice(next);
        data = rest;
    }
}

/// What elements become; none where nothing does.
fn combined(head: &Head, data: &[u8], old: &[u8]) -> Result<Option<Vec<u8>>> {
    let op = op::Predefined::of_handle(head.code.into()).ok_or_else(wrong)?;
    if op == op::Predefined::NoOp || old.is_empty() {
        return Ok(None);
    }
    let element = Predefined::of_handle(head.element.into()).ok_or_else(wrong)?;
    let element = Datatype::of(element);
    let kernel = Op::Predefined(op).accumulation(element)?;
    if data.len() != old.len() || element.size() == 0 {
        return Err(wrong());
    }
    let count = old.len() / element.size();
    if element.size() as isize == element.extent() {
        let mut new = old.to_vec();
        kernel(data, &mut new);
        return Ok(Some(new));
    }
    // Loops take elements as they lie in C: pairs may have gaps.
    let spread = |packed: &[u8]| {
        let mut area = Area::new(vec![0; count * element.extent() as usize], 0);
        element.cursor(count).unpack(&mut area, packed);
        area.into_inner()
    };
    let (from, mut into) = (spread(data), spread(old));
    kernel(&from, &mut into);
    let mut new = vec![0; old.len()];
    element.cursor(count).pack(&Area::new(into, 0), &mut new);
    Ok(Some(new))
}
