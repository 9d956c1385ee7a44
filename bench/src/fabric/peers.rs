//! The peers, as programs of their own: UCX (`ucx_perftest`), libfabric (`fi_pingpong`), iperf3
//! and iceoryx2. Each has a server half and a client half, pinned to the two processors as ours
//! are; the client prints the figure.

use crate::child::{self, Child, free_address, in_path};
use anyhow::{Context, Result, bail};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How UCX is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ucx {
    /// As it comes: it takes the transport with a single copy (CMA) where the kernel permits.
    Default,
    /// Only shared memory with two copies.
    Posix,
    /// Both.
    PosixCma,
    /// Only TCP.
    Tcp,
}

/// The settings among which the best for shared memory is.
pub const UCX_SHARED: [Ucx; 3] = [Ucx::Default, Ucx::Posix, Ucx::PosixCma];

impl Ucx {
    fn transports(self) -> Option<&'static str> {
        match self {
            Ucx::Default => None,
            Ucx::Posix => Some("posix,self"),
            Ucx::PosixCma => Some("posix,cma,self"),
            Ucx::Tcp => Some("tcp,self"),
        }
    }

    /// `pinned`: one half on each of the two processors, else where the kernel wants.
    fn perftest(self, test: &str, size: usize, rounds: u64, pinned: bool) -> Result<Vec<f64>> {
        let program =
            in_path("ucx_perftest").context("no ucx_perftest: apt-get install ucx-utils")?;
        let port = free_address()?.port().to_string();
        let command = |processor: &str| {
            let mut command = child::command(&program);
            if pinned {
                command.args(["-c", processor]);
            }
            command.args(["-p", &port, "-f"]).stdin(Stdio::null());
            command.env("UCX_WARN_UNUSED_ENV_VARS", "n").env_remove("UCX_TLS");
            if let Some(transports) = self.transports() {
                command.env("UCX_TLS", transports);
            }
            command
        };
        let mut server = command("1");
        let _server = Child::start(server.stdout(Stdio::null()).stderr(Stdio::null()))?;
        let warm = (rounds / 10).max(1).to_string();
        let (size, rounds) = (size.to_string(), rounds.to_string());
        let arguments = ["-t", test, "-s", &size, "-n", &rounds, "-w", &warm, "127.0.0.1"];
        let text = last_words(command("0").args(arguments))?;
        let figures: Vec<f64> = text.split_whitespace().flat_map(str::parse).collect();
        if figures.len() < 6 {
            bail!("ucx_perftest said {text:?}");
        }
        Ok(figures)
    }

    /// One way, in microseconds: the mean of all rounds.
    pub fn latency(self, size: usize, rounds: u64) -> Result<f64> {
        Ok(self.perftest("tag_lat", size, rounds, true)?[3])
    }

    /// The same where many such pairs share two processors.
    pub fn crowded(self, size: usize, rounds: u64) -> Result<f64> {
        Ok(self.perftest("tag_lat", size, rounds, false)?[3])
    }

    /// MB/s (its own are MiB/s).
    pub fn bandwidth(self, size: usize, rounds: u64) -> Result<f64> {
        Ok(self.perftest("tag_bw", size, rounds, true)?[5] * 1.048_576)
    }
}

/// libfabric, one way in microseconds.
pub fn libfabric(provider: &str, size: usize, rounds: u64) -> Result<f64> {
    let program =
        in_path("fi_pingpong").context("no fi_pingpong: apt-get install libfabric-bin")?;
    let port = free_address()?.port().to_string();
    let (size, rounds) = (size.to_string(), rounds.to_string());
    let command = |processor: &str| {
        let mut command = child::command("taskset");
        command.args(["-c", processor]).arg(&program).stdin(Stdio::null());
        command.args(["-p", provider, "-e", "rdm", "-I", &rounds, "-S", &size]);
        command
    };
    let _server = Child::start(command("1").args(["-B", &port]).stdout(Stdio::null()))?;
    let text = last_words(command("0").args(["-P", &port, "127.0.0.1"]))?;
    // bytes #sent #ack total time MB/sec usec/xfer Mxfers/sec
    let figure = text.split_whitespace().nth(6).and_then(|word| word.parse().ok());
    figure.with_context(|| format!("fi_pingpong said {text:?}"))
}

/// iceoryx2, one way in microseconds.
pub fn iceoryx2(size: usize, rounds: u64) -> Result<f64> {
    let program = child::target().join("peers/iceoryx2/release/peer-iceoryx2");
    let rounds = rounds.min(10_000).to_string();
    let text = last_words(child::command(program).args([size.to_string(), rounds]))?;
    text.parse().with_context(|| format!("peer-iceoryx2 said {text:?}"))
}

/// What iperf3 moves over one connection on loopback, in MB/s.
pub fn iperf3(time: Duration) -> Result<f64> {
    let program = in_path("iperf3").context("no iperf3: apt-get install iperf3")?;
    let port = free_address()?.port().to_string();
    let seconds = time.as_secs().max(1).to_string();
    let mut server = child::command(&program);
    server.args(["-s", "-1", "-A", "1", "-p", &port]).stdout(Stdio::null());
    let _server = Child::start(&mut server)?;
    let mut client = Command::new(&program);
    client.args(["-c", "127.0.0.1", "-A", "0", "-C", "cubic", "-J", "-p", &port, "-t", &seconds]);
    let text = all_words(&mut client)?;
    let report: serde_json::Value = serde_json::from_str(&text).context("iperf3's report")?;
    let bits = report["end"]["sum_received"]["bits_per_second"].as_f64();
    Ok(bits.with_context(|| format!("iperf3 said {text}"))? / 8e6)
}

/// What a client prints; it may have to wait for its server to listen.
fn all_words(command: &mut Command) -> Result<String> {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let output = command.stdin(Stdio::null()).output().context("the peer cannot be started")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() && !text.trim().is_empty() {
            return Ok(text);
        }
        if Instant::now() > deadline {
            let said = String::from_utf8_lossy(&output.stderr);
            bail!("{command:?} ended with {}: {said}", output.status);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn last_words(command: &mut Command) -> Result<String> {
    let text = all_words(command)?;
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    Ok(last.unwrap_or_default().to_owned())
}
