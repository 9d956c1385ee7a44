//! The adaptive pipeline: how long packets are, and how many are under way.
//!
//! EPOS 3.2: a message goes through the stages of a medium in packets; each stage costs beta for a
//! packet and tau for a byte of it. What suits a message of a length is a [`plan::Plan`].

pub mod plan;
