//! Promises of the cores, over rails that are only queues, and of the listener.

mod cores;
mod doors;
