//! The suite of `muster_fabric::conformance` over libfabric, with the library that `cargo xtask
//! setup` builds and each provider that needs no hardware.

use muster_fabric::address::Address;
use muster_fabric::conformance::{Raw, Subject};
use muster_fabric::transport::Transport;
use muster_fabric::transport::ofi::Ofi;
use std::net::TcpStream;
use std::time::Duration;

struct Provider {
    ofi: Ofi,
    name: &'static str,
}

impl Provider {
    fn new(name: &'static str) -> Provider {
        let test = std::env::current_exe().expect("a test has a file");
        let target = test.ancestors().nth(3).expect("target/PROFILE/deps/TEST");
        let file = target.join("peers/libfabric/lib/libfabric.so.1");
        assert!(file.exists(), "{} is missing: type `cargo xtask setup`", file.display());
        Provider { ofi: Ofi::with_library(file), name }
    }
}

impl Subject for Provider {
    fn transport(&self) -> &dyn Transport {
        &self.ofi
    }

    fn address(&self) -> Address {
        Address::Ofi(self.name.to_owned(), "127.0.0.1".to_owned(), 0)
    }

    fn raw(&self, at: &Address) -> Option<Box<dyn Raw>> {
        let Address::Ofi(_, host, port) = at else { return None };
        let stream = TcpStream::connect((host.as_str(), *port)).expect("a listener");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        Some(Box::new(stream))
    }

    /// As many as a busy machine has time for: each has 17 MB of the tcp provider's buffers, which
    /// it fills with zeros, 20 ms of a processor.
    fn crowd(&self) -> usize {
        64
    }
}

mod tcp {
    muster_fabric::conformance!(crate::Provider::new("tcp"));
}

mod shm {
    muster_fabric::conformance!(crate::Provider::new("shm"));
}
