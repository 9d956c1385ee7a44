//! libfabric, opened at run time.
