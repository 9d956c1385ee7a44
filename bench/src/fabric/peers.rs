//! The peers, as programs of their own: UCX (`ucx_perftest`), libfabric (`fi_pingpong`), iperf3
//! and iceoryx2. Each has a server half and a client half, placed as ours are; the client prints
//! the figure.

use super::duel::{Call, Place, duel, figures, whole};
use crate::child::{self, free_address, in_path};
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How to get a peer.
pub const HOW_TO_GET: &str = "cargo xtask setup --bench";

/// That one is not there.
fn missing(what: &str) -> String {
    format!("no {what}: {HOW_TO_GET}")
}

/// How UCX is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ucx {
    /// As it comes: it takes the transport with a single copy (CMA) where the kernel permits.
    Default,
    /// Only shared memory with two copies.
    Posix,
    /// The same in longer pieces, and never by rendezvous: the longest that 1.13 runs with.
    PosixLong,
    /// Both.
    PosixCma,
    /// Only TCP.
    Tcp,
}

/// The settings among which the best for shared memory is.
pub const UCX_SHARED: [Ucx; 4] = [Ucx::Default, Ucx::Posix, Ucx::PosixLong, Ucx::PosixCma];

impl Ucx {
    fn transports(self) -> Option<&'static str> {
        match self {
            Ucx::Default => None,
            Ucx::Posix | Ucx::PosixLong => Some("posix,self"),
            Ucx::PosixCma => Some("posix,cma,self"),
            Ucx::Tcp => Some("tcp,self"),
        }
    }

    fn perftest(
        self,
        (test, wait): (&str, &str),
        size: usize,
        rounds: u64,
        place: Place,
    ) -> Result<Vec<f64>> {
        let program = in_path("ucx_perftest").with_context(|| missing("ucx_perftest"))?;
        let port = free_address()?.port().to_string();
        let mut both = Call::new(&program, &["-p", &port, "-f", "-E", wait]);
        both = both.set("UCX_WARN_UNUSED_ENV_VARS", "n");
        if let Some(transports) = self.transports() {
            both = both.set("UCX_TLS", transports);
        }
        if self == Ucx::PosixLong {
            both = both.set("UCX_POSIX_SEG_SIZE", "32768").set("UCX_RNDV_THRESH", "inf");
        }
        let warm = (rounds / 10).max(1).to_string();
        let (size, rounds) = (size.to_string(), rounds.to_string());
        let words = ["-t", test, "-s", &size, "-n", &rounds, "-w", &warm, "127.0.0.1"];
        let who = format!("ucx_perftest ({self:?})");
        let text = duel(&who, place, &both, &both.clone().with(&words))?;
        let figures = figures(&text);
        anyhow::ensure!(figures.len() >= 6, "{who} said {text:?}");
        Ok(figures)
    }

    /// One way, in microseconds: the mean of all rounds.
    pub fn latency(self, size: usize, rounds: u64) -> Result<f64> {
        Ok(self.perftest(("tag_lat", "poll"), size, rounds, Place::Apart)?[3])
    }

    /// The same where many such pairs share two processors; `wait` is to poll or to sleep.
    pub fn crowded(self, wait: &str, size: usize, rounds: u64) -> Result<f64> {
        Ok(self.perftest(("tag_lat", wait), size, rounds, Place::Anywhere)?[3])
    }

    /// MB/s (its own are MiB/s).
    pub fn bandwidth(self, size: usize, rounds: u64) -> Result<f64> {
        Ok(self.perftest(("tag_bw", "poll"), size, rounds, Place::Apart)?[5] * 1.048_576)
    }
}

/// libfabric, one way in microseconds: the program of Debian's with the library that `cargo xtask`
/// has built, since Debian's own is older.
pub fn libfabric(provider: &str, size: usize, rounds: u64, place: Place) -> Result<f64> {
    let program = in_path("fi_pingpong").with_context(|| missing("fi_pingpong"))?;
    let port = free_address()?.port().to_string();
    let (size, rounds) = (size.to_string(), rounds.to_string());
    let words = ["-p", provider, "-e", "rdm", "-I", &rounds, "-S", &size];
    let library = child::target().join("peers/libfabric/lib");
    // The system's own would take its place, which is an older one.
    ensure!(library.is_dir(), missing("libfabric 2.1"));
    let both = Call::new(&program, &words).set("LD_LIBRARY_PATH", library.display().to_string());
    let (server, client) = (both.clone().with(&["-B", &port]), both.with(&["-P", &port]));
    let who = format!("fi_pingpong over {provider}");
    let text = duel(&who, place, &server, &client.with(&["127.0.0.1"]))?;
    // bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec
    let figure = text.split_whitespace().nth(6).and_then(|word| word.parse().ok());
    figure.with_context(|| format!("{who} said {text:?}"))
}

/// How iceoryx2 waits.
#[derive(Clone, Copy, Debug)]
pub enum Looks {
    /// It looks all the time, and offers the processor to others every 4096 looks: some 100 us.
    Often,
    /// It offers the processor to others after each look.
    Once,
    /// It sleeps until it is told.
    Never,
}

/// iceoryx2, one way in microseconds.
pub fn iceoryx2(size: usize, rounds: u64, (place, looks): (Place, Looks)) -> Result<f64> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("muster-bench-{}-{number}-", std::process::id());
    let program = child::target().join("peers/iceoryx2/release/peer-iceoryx2");
    let program = child::exists(program).with_context(|| missing("iceoryx2"))?;
    let looks = match looks {
        Looks::Often => "4096",
        Looks::Once => "1",
        Looks::Never => "0",
    };
    let rest = [name.clone(), size.to_string(), rounds.to_string(), looks.to_owned()];
    let call = |role| Call::new(&program, &[role]).with(&rest.each_ref().map(String::as_str));
    // It keeps files in two places, and leaves some of them.
    let folder = std::env::temp_dir().join(&name);
    crate::folder::watch(&folder);
    crate::folder::watch(&Path::new("/dev/shm").join(format!("{name}*")));
    let text = duel("iceoryx2", place, &call("second"), &call("first"));
    let _ = std::fs::remove_dir_all(folder);
    for entry in std::fs::read_dir("/dev/shm")?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&name) {
            std::fs::remove_file(entry.path())?;
        }
    }
    let text = text?;
    text.parse().with_context(|| format!("iceoryx2 said {text:?}"))
}

/// What iperf3 moves over one connection on loopback, in MB/s, with writes of so many bytes. The
/// first second, in which it is still getting faster, does not count.
pub fn iperf3(time: Duration, write: usize) -> Result<f64> {
    let program = in_path("iperf3").with_context(|| missing("iperf3"))?;
    let port = free_address()?.port().to_string();
    let seconds = time.as_secs().max(1).to_string();
    let server = Call::new(&program, &["-s", "-1", "-p", &port]);
    let write = write.to_string();
    let words = ["-c", "127.0.0.1", "-C", "cubic", "-J", "-p", &port, "-t", &seconds];
    let words = [&words[..], &["-O", "1", "-l", &write]].concat();
    let client = Call::new(&program, &words);
    let text = whole("iperf3", Place::Apart, (&server, &client), &|text| {
        // Where nobody listens it says so, in JSON and as if that were a success.
        text.contains("sum_received")
    })?;
    let report: serde_json::Value = serde_json::from_str(&text).context("iperf3's report")?;
    let bits = report["end"]["sum_received"]["bits_per_second"].as_f64();
    Ok(bits.with_context(|| format!("iperf3 said {text}"))? / 8e6)
}
