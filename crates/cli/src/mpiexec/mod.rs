//! `mpiexec`: what the users of Open MPI and MPICH type becomes a `muster run`.
//!
//! A command line is *read* by the table of [`flags`] into a [`Line`] without looking at anything;
//! its hosts and numbers are *placed* on the nodes that there are ([`place`]); several programs
//! become one script that each rank finds its own in ([`programs`]).

pub mod flags;
mod lines;
mod outputs;
pub mod place;
pub mod programs;
mod soft;

use crate::run::Failure;
use crate::run::failure::exit;

/// What a command line asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Words that are as good for `muster run`.
    pub run: Vec<String>,
    /// Flags that mean nothing here, as they were written.
    pub ignored: Vec<String>,
    /// Ranks of each node.
    pub per_node: Option<u32>,
    /// Ranks go to as many nodes as there are, not to few.
    pub spread: bool,
    /// The hosts, each with its places if they were told. A host may be named repeatedly.
    pub hosts: Option<Vec<(String, Option<u32>)>>,
    /// Variables for the ranks of all parts, as `K=V` or `K`; a part's own come after them.
    pub global_env: Vec<String>,
    /// Whether only ranks are to be heard.
    pub is_quiet: bool,
    /// The programs, with what was asked for each.
    pub parts: Vec<Part>,
    /// What is to be told instead of running anything.
    pub tells: Option<Tells>,
}

/// What can be asked about `mpiexec` itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tells {
    Help,
    Version,
}

/// One program and its ranks.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Part {
    pub ranks: Option<u32>,
    /// Variables as `K=V`, or as `K` for what it is here.
    pub env: Vec<String>,
    /// Where it works.
    pub directory: Option<String>,
    /// Directories, parted by colons, in which a bare name is looked for first.
    pub path: Option<String>,
    /// The numbers of ranks that it may have.
    pub soft: Option<String>,
    /// What was said of its ranks on each socket.
    pub per_socket: Option<String>,
    /// It and its arguments.
    pub command: Vec<String>,
}

impl Line {
    /// The part that is being read.
    fn part(&mut self) -> &mut Part {
        if self.parts.is_empty() {
            self.parts.push(Part::default());
        }
        self.parts.last_mut().expect("there is one")
    }

    /// Takes out the variables that are to be passed on and are not there, as Open MPI does; which.
    pub fn drop_unset(&mut self, is_set: impl Fn(&str) -> bool) -> Vec<String> {
        let parts = self.parts.iter_mut().map(|part| &mut part.env);
        let all = std::iter::once(&mut self.global_env).chain(parts);
        // What names none is a mistake.
        let is_unset = |wish: &mut String| !wish.is_empty() && !wish.contains('=') && !is_set(wish);
        all.flat_map(|wishes| wishes.extract_if(.., is_unset).collect::<Vec<_>>()).collect()
    }

    /// All ranks, if any part says how many.
    fn ranks(&self) -> Option<u32> {
        let is_told = self.parts.len() > 1 || self.parts.iter().any(|part| part.ranks.is_some());
        let counts = self.parts.iter().map(|part| part.ranks.unwrap_or(1));
        is_told.then(|| counts.fold(0, u32::saturating_add))
    }
}

/// A mistake on the command line.
fn mistake(text: impl std::fmt::Display) -> Failure {
    Failure::new("E100", exit::USAGE, format!("mpiexec: {text}. See: mpiexec --help"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_is_not_set_is_left_out() {
        let words = "-x A -genvlist B,C -x D=1 x : -x E -x A y".split(' ').map(str::to_owned);
        let mut line = flags::read(&words.collect::<Vec<_>>()).expect("flags");
        assert_eq!(line.drop_unset(|name| name == "A" || name == "C"), ["B", "E"]);
        assert_eq!(line.global_env, ["C"]);
        assert_eq!(
            (&line.parts[0].env, &line.parts[1].env),
            (&vec!["A".to_owned(), "D=1".to_owned()], &vec!["A".to_owned()])
        );
    }
}
