//! The standard's interface as Rust: what `build.rs` makes of its tables.

/// Handles, integers and callbacks.
#[allow(non_camel_case_types, dead_code)]
pub mod types {
    /// What is known of a message, as the program sees it.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[allow(non_snake_case)]
    pub struct MPI_Status {
        /// The sender's rank.
        pub MPI_SOURCE: std::ffi::c_int,
        /// The message's tag.
        pub MPI_TAG: std::ffi::c_int,
        /// What went wrong, where several requests were waited for.
        pub MPI_ERROR: std::ffi::c_int,
        /// Ours.
        pub internal: [std::ffi::c_int; 5],
    }

    include!(concat!(env!("OUT_DIR"), "/types.rs"));
}

/// The constants, as in the header.
#[allow(dead_code)]
pub mod constants {
    use super::types::*;

    include!(concat!(env!("OUT_DIR"), "/constants.rs"));
}

/// The type of each function.
#[allow(non_camel_case_types, dead_code)]
pub mod signatures {
    use super::types::*;

    include!(concat!(env!("OUT_DIR"), "/signatures.rs"));
}

/// The names of each function's arguments.
#[allow(non_upper_case_globals, dead_code)]
pub mod arguments {
    include!(concat!(env!("OUT_DIR"), "/arguments.rs"));
}

/// The functions that are not implemented.
mod unsupported {
    include!(concat!(env!("OUT_DIR"), "/unsupported.rs"));
}
