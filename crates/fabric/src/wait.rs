//! Waiting: spin briefly, then block.
