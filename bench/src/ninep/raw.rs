//! What TCP on loopback moves when nobody speaks 9P over it: the bound for bulk data.

use super::wait::Wait;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

const CHUNK: usize = 1 << 20;

/// Bytes each second from one thread to another, written 1 MiB at a time.
pub fn throughput(time: Duration, wait: Wait) -> Result<f64> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no port on loopback")?;
    let address = listener.local_addr()?;
    let sender = std::thread::spawn(move || -> std::io::Result<()> {
        let mut stream = TcpStream::connect(address)?;
        let chunk = vec![0x5a; CHUNK];
        // Ends when the receiver has seen enough and closes.
        while stream.write_all(&chunk).is_ok() {}
        Ok(())
    });
    let (stream, _) = listener.accept()?;
    let mut chunk = vec![0; CHUNK];
    let (mut total, start) = (0, Instant::now());
    let elapsed = loop {
        total += wait.receive(&stream, &mut chunk)?;
        let elapsed = start.elapsed();
        if elapsed >= time {
            break elapsed;
        }
    };
    drop(stream);
    sender.join().map_err(|_| anyhow!("the sender panicked"))??;
    Ok(total as f64 / elapsed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    #[test]
    fn bytes_move() {
        for wait in super::Wait::ALL {
            let time = std::time::Duration::from_millis(10);
            assert!(super::throughput(time, wait).expect("loopback") > 0.0);
        }
    }
}
