//! `libmpi_abi.so.1`: MPI by the standard's binary interface (MPI-5.0, chapter 20), for programs in
//! C, C++ and Fortran.
//!
//! This crate is the only one that sees C's pointers. A function of the standard is written with
//! the macro [`export!`](export), which gives it both of its names, holds its type against the
//! standard's table and turns an error into what the error handler makes of it; its body takes
//! handles and the types of [`mod@pointer`], and is safe Rust. What the standard has and no file
//! here exports is there, too, and says so.
//!
//! What is generated from the tables in `standard/`: `build.rs`.

// C's pointers are dereferenced here, and nowhere else in the workspace.
#![allow(unsafe_code)]

mod abi;
mod argument;
mod array;
mod attached;
mod attribute;
mod buffer;
mod choice;
mod codes;
mod collective;
mod communicator;
mod compiler;
mod datatype;
mod door;
mod environment;
mod errhandler;
mod export;
mod failure;
mod file;
mod fortran;
mod generalized;
mod group;
mod hint;
mod info;
mod integers;
mod intercommunicator;
mod line;
mod memory;
mod object;
mod operation;
mod order;
mod outside;
mod pack;
mod partitioned;
mod place;
mod point;
mod pointer;
mod request;
mod session;
mod startup;
mod status;
mod table;
mod tools;
mod topology;
mod waiting;
mod window;
mod world;
