//! In-process: two threads of one process.
