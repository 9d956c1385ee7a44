//! The adaptive pipeline: how long packets are, and how many are under way.
//!
//! EPOS 3.2: a message goes through the stages of a medium in packets; each stage costs beta for a
//! packet and tau for a byte of it. What suits a message of a length is a [`plan::Plan`].
//!
//! The way from a measurement to a plan: a [`calibrate::Medium`] is measured at first contact, its
//! [`stage::Stage`]s are fitted and make up its [`costs::Costs`], the best plans for all lengths
//! are a table ([`choice::Ranges`]), and [`adapt::Adaptive`] answers each message out of it, looks
//! at how long some of them took, and changes to another table when the medium has changed; a
//! `tune::Tuner` tries what lies beside the table's plans.

pub mod adapt;
pub mod cache;
pub mod calibrate;
pub mod choice;
pub mod contact;
pub mod costs;
pub mod figure;
pub mod plan;
pub mod probe;
pub mod stage;
mod tune;
