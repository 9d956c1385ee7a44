//! `-soft`: how many ranks a program may have (MPI, "Portable MPI process startup" and the info key
//! `soft`). `2,4:10:2` is 2, 4, 6, 8 and 10: commas between ranges `a`, `a:b` and `a:b:step`.

/// The largest number of a set that is no larger than what is asked for.
///
/// # Errors
/// It is no set, or has no such number.
pub fn granted(set: &str, asked: u32) -> Result<u32, String> {
    let found = set.split(',').map(|range| largest(range, asked));
    let found: Option<Vec<Option<u32>>> = found.collect();
    let found = found.ok_or_else(|| {
        format!("'{set}' is no set of numbers: it is written 2,4:10:2, for 2, 4, 6, 8 and 10")
    })?;
    let most = found.into_iter().flatten().max();
    most.ok_or_else(|| format!("{set} has no number from 1 to {asked}, as -n asks for"))
}

/// That of a range; none within if it has none, and none at all if it is no range.
fn largest(range: &str, asked: u32) -> Option<Option<u32>> {
    let numbers: Result<Vec<i64>, _> = range.split(':').map(|word| word.trim().parse()).collect();
    let (first, last, step) = match numbers.ok()?[..] {
        [one] => (one, one, 1),
        [first, last] => (first, last, 1),
        [first, last, step] if step != 0 => (first, last, step),
        _ => return None,
    };
    // A range that goes down has the same numbers from its other end.
    let steps = last.checked_sub(first)?.checked_div(step)?;
    if steps < 0 {
        return Some(None);
    }
    let (low, high) = (first.min(first + steps * step), first.max(first + steps * step));
    let step = step.checked_abs()?;
    let asked = i64::from(asked).min(high);
    let most = asked - (asked - low).rem_euclid(step);
    Some(u32::try_from(most).ok().filter(|most| *most > 0 && i64::from(*most) >= low))
}

#[cfg(test)]
mod tests {
    use super::granted;

    #[test]
    fn the_largest_number_of_the_set_that_is_asked_for_is_granted() {
        for (set, asked, most) in [
            ("4", 4, Some(4)),
            ("2:4", 5, Some(4)),
            ("2,4:10:2", 9, Some(8)),
            ("10:4:-2", 9, Some(8)),
            ("10:4:-2", 100, Some(10)),
            ("1,16", 15, Some(1)),
            ("-3:2", 5, Some(2)),
            ("4:2", 5, None),
            ("6:8", 5, None),
            ("0", 5, None),
        ] {
            assert_eq!(granted(set, asked).ok(), most, "{set} for {asked}");
        }
        for set in ["", "rubbish", "1:2:3:4", "1:2:0", "1,,2"] {
            assert!(granted(set, 4).unwrap_err().contains("is no set of numbers"), "{set}");
        }
    }
}
