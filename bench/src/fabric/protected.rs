//! What protection costs: TCP as it is against TCP with TLS, each between two processes.

use super::Trial;
use crate::child::{Child, command};
use crate::report::Better;
use anyhow::{Context, Result, ensure};
use muster_fabric::strategy::Datagram;
use muster_fabric::transport::socket::{Identity, Members, Tcp, Tls};
use muster_fabric::transport::{Adapter, Hello, Lane, Transport};
use muster_fabric::{Address, Deadline};
use std::io::{IoSlice, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What another process of this program is told to be.
pub const HELPER: &str = "fabric-protected";

/// Whatever takes longer is broken.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a stream is measured, and the length of its messages.
const STREAM: Duration = Duration::from_millis(300);
const LONG: usize = 1 << 20;

/// A message's length where its latency is measured.
const SHORT: usize = 64;

fn address(scheme: &str, port: u16) -> Address {
    let host = "127.0.0.1".to_owned();
    if scheme == "tls" { Address::Tls(host, port) } else { Address::Tcp(host, port) }
}

/// Both processes have one key, which protects nothing.
fn transport(scheme: &str) -> Result<Box<dyn Transport>> {
    if scheme != "tls" {
        return Ok(Box::new(Tcp));
    }
    let (identity, members) = (Identity::from_secret(&[1; 32]), Members::default());
    members.pin("bench", identity.public_key())?;
    Ok(Box::new(Tls::new(&identity, &members)))
}

/// The other process: sends back what it gets, or sends as much as it can.
pub fn serve() -> Result<f64> {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    let (service, to) = line.trim().split_once(' ').context("a service and an address")?;
    answer(service, to).map(|()| 0.0)
}

fn answer(service: &str, to: &str) -> Result<()> {
    let to: Address = to.parse()?;
    let hello = Hello { name: "bench".into(), service: service.into(), lane: Lane::Bulk };
    let end = transport(to.scheme())?.connect(&to, &hello, Deadline::after(PATIENCE))?;
    let mut end = end.datagram()?;
    let mut message = vec![1; if service == "echo" { SHORT } else { LONG }];
    // It ends with the connection.
    if service == "echo" {
        while get(&mut *end, &mut message).is_ok() && put(&mut *end, &message).is_ok() {}
    } else {
        while put(&mut *end, &message).is_ok() {}
    }
    Ok(())
}

fn put(end: &mut dyn Datagram, message: &[u8]) -> muster_fabric::Result<()> {
    end.send(&[IoSlice::new(message)], Deadline::after(PATIENCE))
}

fn get(end: &mut dyn Datagram, buffer: &mut [u8]) -> muster_fabric::Result<()> {
    end.take(Deadline::after(PATIENCE), &mut |message| buffer.copy_from_slice(message))
}

/// A process that serves, and the connection to it.
fn meet(scheme: &str, service: &str) -> Result<(Child, Box<dyn Datagram>)> {
    let mut listener = transport(scheme)?.listen(&address(scheme, 0))?;
    let mut helper = command(std::env::current_exe()?);
    let (reads, mut says) = std::io::pipe()?;
    helper.arg(HELPER).stdin(reads).stdout(Stdio::null());
    let child = Child::start(&mut helper)?;
    writeln!(says, "{service} {}", listener.address())?;
    let accepted = listener.accept(Deadline::after(PATIENCE))?;
    ensure!(accepted.hello().service == service, "somebody else came");
    Ok((child, Adapter::datagram(accepted)?))
}

/// One way of there and back, in microseconds.
fn latency(scheme: &str, rounds: u64) -> Result<f64> {
    let (_child, mut end) = meet(scheme, "echo")?;
    let (message, mut reply) = ([1; SHORT], [0; SHORT]);
    let mut start = Instant::now();
    for round in 0..rounds + rounds / 10 {
        if round == rounds / 10 {
            start = Instant::now();
        }
        put(&mut *end, &message)?;
        get(&mut *end, &mut reply)?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / 2.0 / rounds as f64)
}

/// What goes one way, in MB/s.
fn stream(scheme: &str, time: Duration) -> Result<f64> {
    let (_child, mut end) = meet(scheme, "source")?;
    let mut buffer = vec![0; LONG];
    let warm = Instant::now();
    while warm.elapsed() < time / 10 {
        get(&mut *end, &mut buffer)?;
    }
    let (mut total, start) = (0, Instant::now());
    while start.elapsed() < time {
        get(&mut *end, &mut buffer)?;
        total += buffer.len();
    }
    Ok(total as f64 / start.elapsed().as_secs_f64() / 1e6)
}

/// Plain and protected, side by side. There is no figure to reach.
pub fn trials(quick: bool) -> Vec<Trial> {
    let rounds = if quick { 2_000 } else { 10_000 };
    let short = ("TCP with TLS 64 B".to_owned(), "us", Better::Lower);
    let long = ("TCP with TLS stream 1 MB".to_owned(), "MB/s", Better::Higher);
    vec![
        Trial::new(short, move || latency("tls", rounds))
            .than("TCP as it is", 0.0, move || latency("tcp", rounds)),
        Trial::new(long, || stream("tls", STREAM))
            .than("TCP as it is", 0.0, || stream("tcp", STREAM)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_go_both_ways_plain_and_protected() {
        // The other process is this program as the benchmark builds it, so here it is a thread.
        for scheme in ["tcp", "tls"] {
            let mut listener = transport(scheme).unwrap().listen(&address(scheme, 0)).unwrap();
            let to = listener.address().to_string();
            let echo = std::thread::spawn(move || answer("echo", &to));
            let accepted = listener.accept(Deadline::after(PATIENCE)).unwrap();
            let mut end = Adapter::datagram(accepted).unwrap();
            put(&mut *end, &[7; SHORT]).unwrap();
            let mut reply = [0; SHORT];
            get(&mut *end, &mut reply).unwrap();
            assert_eq!(reply, [7; SHORT]);
            drop(end);
            echo.join().unwrap().unwrap();
        }
    }
}
