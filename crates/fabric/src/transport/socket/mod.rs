//! Sockets: TCP and Unix.
