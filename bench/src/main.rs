//! Benchmarks against peers; run them with `cargo xtask bench NAME`.
fn main() {}
