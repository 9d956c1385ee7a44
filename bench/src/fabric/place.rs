//! Where the halves of a measurement meet, a folder that nobody else uses and that goes with it;
//! and which two processors they are on.

use crate::child::free_address;
use crate::folder::Folder;
use anyhow::Result;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::sync::OnceLock;

/// The variable that tells a half which the two are: it may be kept to one of them.
pub const PROCESSORS: &str = "MUSTER_BENCH_PROCESSORS";

/// The first two processors that we may use; in a container those need not be 0 and 1.
pub fn processors() -> [usize; 2] {
    static FOUND: OnceLock<[usize; 2]> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let told = std::env::var(PROCESSORS).unwrap_or_default();
        let told: Vec<usize> = told.split(',').filter_map(|word| word.parse().ok()).collect();
        if let &[first, second] = &told[..] {
            return [first, second];
        }
        let set = sched_getaffinity(None).unwrap_or_default();
        first_two((0..CpuSet::MAX_CPU).filter(|processor| set.is_set(*processor)))
    })
}

/// Where there is but one it is both.
fn first_two(mut all: impl Iterator<Item = usize>) -> [usize; 2] {
    let first = all.next().unwrap_or(0);
    [first, all.next().unwrap_or(first)]
}

/// A folder of its own.
pub struct Home(Folder);

impl Home {
    /// A new one.
    pub fn new() -> Result<Home> {
        Ok(Home(Folder::new(&std::env::temp_dir(), "fabric")?))
    }

    /// An address in it by a transport, or of loopback.
    pub fn address(&self, scheme: &str) -> Result<String> {
        match scheme {
            "tcp" | "tls" => Ok(format!("{scheme}!127.0.0.1!{}", free_address()?.port())),
            _ => Ok(format!("{scheme}!{}", self.0.path().join("door").display())),
        }
    }

    /// What is in it.
    pub fn entries(&self) -> Result<usize> {
        Ok(std::fs::read_dir(self.0.path())?.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_on_processors_that_we_may_use() {
        assert_eq!(first_two([4, 5, 7].into_iter()), [4, 5]);
        assert_eq!(first_two([3].into_iter()), [3, 3]);
        let set = sched_getaffinity(None).expect("there are some");
        assert!(processors().iter().all(|processor| set.is_set(*processor)));
    }
}
