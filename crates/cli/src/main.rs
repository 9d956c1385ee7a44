//! The `muster` command.

mod cmd;
mod run;

fn main() {}
