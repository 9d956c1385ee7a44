//! `muster export`: a directory of this machine, served over 9P.

use super::{Usage, because};
use crate::sys;
use anyhow::Result;
use muster_base::quote::quote;
use muster_ninep::address::Address;
use muster_ninep::host::{HostTree, Options};
use muster_ninep::serve::{Server, same_user};
use muster_ninep::stream::Listener;
use muster_ninep::tree::Peer;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::sync::{Arc, Once};
use std::time::Duration;

/// Serve a directory over 9P until Ctrl-C.
///
/// Nothing outside the directory can be reached through it. Over TCP only programs of this
/// machine are served, since plain 9P neither encrypts nor knows passwords; over a socket only
/// your own programs and root's.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster export data --listen 127.0.0.1:0\n  \
                        muster export data --listen /tmp/data.sock --rw")]
pub struct Args {
    /// The directory
    dir: PathBuf,
    /// Where to listen: HOST:PORT, with port 0 for any, or a socket's path
    #[arg(long, value_name = "ADDRESS")]
    listen: String,
    /// Let clients change files
    #[arg(long)]
    rw: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let address = address(&args.listen)?;
    let (tell, signals) = channel();
    // It ends but once.
    let heeded = sys::heed(&sys::END, move |signal| _ = tell.send(signal));
    heeded.map_err(because("signals", "E152"))?;
    // Each client's fids hold some. With fewer they have fewer.
    let _ = muster_machine::descriptors::take_all();
    let options = Options { writable: args.rw, ..Options::default() };
    let unable = format!("{} cannot be served", args.dir.display());
    let tree = Arc::new(HostTree::new(&args.dir, options).map_err(because(unable, "E152"))?);
    let unable = format!("cannot listen at {address}");
    let listener = Listener::bind(&address).map_err(because(unable, "E152"))?;
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(8);
    let admit = match address {
        Address::Unix(_) => same_user,
        // On loopback the tree itself decides what each known user may do.
        Address::Tcp(_) => known_user,
    };
    let server = Server::start(&tree, threads, admit).map_err(because("cannot serve", "E152"))?;
    let text = announcement(args, listener.address());
    server.listen(listener);
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    signals.recv()?;
    Ok(ExitCode::SUCCESS)
}

/// Serves peers of whom the kernel tells who they are: a client that closes behind its requests
/// is nobody, and must not be taken for somebody.
fn known_user(peer: &Peer) -> bool {
    static SAID: Once = Once::new();
    if peer.uid.is_none() {
        // Once: whoever can connect must not be able to fill a log.
        SAID.call_once(|| {
            let name = &peer.name;
            // Nobody may be listening any more.
            let _ = writeln!(
                io::stderr(),
                "muster: {name}: refused, as the kernel does not tell whose connection it is (a \
                 client must stay connected until it is served); others like it are refused in \
                 silence"
            );
        });
    }
    peer.uid.is_some()
}

/// How long a host's name is looked up.
const LOOK_UP: Duration = Duration::from_secs(10);

fn address(text: &str) -> Result<Address> {
    let address = Address::look_up(text, LOOK_UP);
    let address = address.map_err(|error| Usage(format!("--listen: {error}")))?;
    if !address.is_loopback() {
        let text = format!(
            "--listen {text}: plain 9P over TCP is neither encrypted nor guarded, so it is \
             served to this machine only. Listen at 127.0.0.1 and reach it with ssh -L  [E150]"
        );
        return Err(Usage(text).into());
    }
    Ok(address)
}

fn announcement(args: &Args, address: &Address) -> String {
    let (dir, how) = (args.dir.display(), if args.rw { "read and write" } else { "read only" });
    let (source, transport) = match address {
        Address::Tcp(at) => (at.ip().to_string(), format!("trans=tcp,port={}", at.port())),
        Address::Unix(path) => {
            (quote(&path.display().to_string()).into_owned(), "trans=unix".into())
        }
    };
    let ro = if args.rw { "" } else { "ro," };
    format!(
        "{dir} is served at {address}, {how}\nMount it: mount -t 9p -o \
         {ro}{transport},version=9p2000.L,access=client {source} /mnt\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tcp_is_for_this_machine_only() {
        for text in ["0.0.0.0:564", "[::]:564", "192.0.2.1:564"] {
            let said = address(text).expect_err(text).to_string();
            assert!(said.contains("[E150]"), "{said}");
        }
        assert!(address("x").expect_err("none").is::<Usage>());
        assert!(address("127.0.0.1:0").is_ok() && address("/tmp/s").is_ok());
    }

    #[test]
    fn a_peer_whose_user_the_kernel_does_not_tell_is_not_served() {
        let peer = |uid| Peer { uid, name: "tcp 127.0.0.1:4".into() };
        assert!(!known_user(&peer(None)));
        assert!(known_user(&peer(Some(0))) && known_user(&peer(Some(1000))));
    }

    #[test]
    fn the_hint_names_the_port_in_use() {
        let args = Args { dir: "data".into(), listen: String::new(), rw: false };
        let address = Address::Tcp("127.0.0.1:5640".parse().expect("an address"));
        let said = announcement(&args, &address);
        assert!(said.starts_with("data is served at tcp!127.0.0.1!5640, read only\n"), "{said}");
        assert!(said.contains("trans=tcp,port=5640,") && said.ends_with(" 127.0.0.1 /mnt\n"));
        assert!(said.contains(" -o ro,"), "{said}");
    }

    #[test]
    fn the_hint_is_for_a_shell() {
        let args = Args { dir: "data".into(), listen: String::new(), rw: true };
        let said = announcement(&args, &Address::Unix("/tmp/a b/s".into()));
        assert!(said.contains(" -o trans=unix,"), "{said}");
        assert!(said.ends_with(" '/tmp/a b/s' /mnt\n"), "{said}");
    }
}
