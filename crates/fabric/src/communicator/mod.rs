//! Communicators: what programs use.
