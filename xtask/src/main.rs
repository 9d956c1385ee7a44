//! All automation of the project: `cargo xtask NAME`.
fn main() {}
