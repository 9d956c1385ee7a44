//! The client against a server that says by hand what the test wants.

mod core;
mod fake;
mod files;
mod hostile;
mod requests;
