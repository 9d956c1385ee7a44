//! Sessions of node daemons, and the spreading of one to others.

#![allow(dead_code, reason = "each user uses its part")]

use muster_ninep::address::Address;
use muster_ninep::client::{Client, Fid, Options};
use muster_ninep::error::Result;
use muster_ninep::tree::OpenFlags;
use std::path::{Path, PathBuf};

/// A session that lives as long as this.
pub struct Session {
    pub client: Client,
    pub number: u32,
    clone: Fid,
}

impl Session {
    /// Makes a session at the node of that socket.
    pub fn open(socket: &Path) -> Session {
        let client =
            Client::connect(&Address::Unix(socket.to_owned()), Options::default()).expect("a node");
        let clone = client.open("clone", OpenFlags::default()).expect("clone").into_fid();
        let number = String::from_utf8(clone.read_at(0, 32).expect("a number")).expect("digits");
        Session { client, number: number.parse().expect("a number"), clone }
    }

    pub fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.number)
    }

    /// Writes a line to its `ctl` and waits until it is done.
    pub fn order(&self, line: &str) -> Result<()> {
        let ctl = self.client.open(&self.path("ctl"), OpenFlags(OpenFlags::WRONLY))?.into_fid();
        ctl.write_at(0, format!("{line}\n").as_bytes()).map(drop)
    }

    /// Its directory, of a node whose directory is `node`.
    pub fn directory(&self, node: &Path) -> PathBuf {
        node.join(format!("xcpu-{:06}", self.number))
    }

    /// Spreads it to sessions at these sockets.
    pub fn spread(&self, most: usize, targets: &[(PathBuf, u32)]) -> Result<()> {
        let one = |(path, number): &(PathBuf, u32)| format!("unix!{}/{number}", path.display());
        let list: Vec<String> = targets.iter().map(one).collect();
        self.order(&format!("clone {most} {}", list.join(",")))
    }
}
