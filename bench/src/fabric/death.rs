//! A peer is killed by SIGKILL: how long until the survivor, who waits for a message, is told, in
//! milliseconds; and what is left behind once the survivor has ended in order: names in the folder
//! where they met, descriptors, shared mappings. (What a killed listener left is counted after
//! somebody has listened there again: it cannot remove its own name.)

use super::half::HALF;
use super::ours::{End, patience};
use super::place::processors;
use crate::child::{self, Child};
use anyhow::{Context, Result, ensure};
use muster_fabric::Error;
use rustix::process::{Signal, kill_process};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Starts the other half on the other processor.
fn other(role: &str, subject: &str, at: &str) -> Result<Child> {
    let mut command = child::command("taskset");
    command.args(["-c", &processors()[1].to_string()]).arg(std::env::current_exe()?);
    command.args([HALF, role, subject, at, "64", "1000000000", "0"]);
    Child::start(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()))
}

/// Some round trips, so that both are in the middle of something.
fn play(end: &mut End, asks: bool) -> Result<()> {
    let (mut message, deadline) = ([0; 64], patience());
    for _ in 0..1000 {
        if asks {
            end.put(&message, deadline)?;
        }
        end.get(&mut message, deadline)?;
        if !asks {
            end.put(&message, deadline)?;
        }
    }
    Ok(())
}

/// Kills, and waits to be told.
fn kill(mut end: End, victim: &Child) -> Result<f64> {
    // It stands still first, so that no message of its comes after.
    kill_process(victim.pid(), Signal::STOP)?;
    let (mut message, quiet) = ([0; 64], Duration::from_millis(20));
    while end.get(&mut message, muster_fabric::Deadline::after(quiet)).is_ok() {}
    let start = Instant::now();
    kill_process(victim.pid(), Signal::KILL)?;
    let told = end.get(&mut message, patience());
    let time = start.elapsed();
    ensure!(matches!(told, Err(Error::Dead { .. })), "the survivor was told {told:?}");
    Ok(time.as_secs_f64() * 1e3)
}

/// Open descriptors, and mappings of memory that has no name.
fn held() -> Result<usize> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let shared = maps.lines().filter(|line| line.contains("memfd:")).count();
    Ok(shared + std::fs::read_dir("/proc/self/fd")?.count())
}

/// Has somebody connect who asks all the time.
fn visited(at: &str) -> Result<(End, Child)> {
    let mut guest = None;
    let call = || {
        guest = Some(other("ask", "latency", at)?);
        Ok(())
    };
    let mut end = End::accept_whom(at, call)?;
    play(&mut end, false)?;
    Ok((end, guest.context("it was called")?))
}

/// The victim has connected.
pub fn connector(at: &str) -> Result<Vec<f64>> {
    let before = held()?;
    let (end, victim) = visited(at)?;
    let time = kill(end, &victim)?;
    drop(victim);
    Ok(vec![time, held()?.saturating_sub(before) as f64])
}

/// The victim has listened.
pub fn listener(at: &str) -> Result<Vec<f64>> {
    let before = held()?;
    let victim = other("serve", "latency", at)?;
    let start = Instant::now();
    let mut end = loop {
        match End::connect(at) {
            Ok(end) => break end,
            Err(error) if start.elapsed() > Duration::from_secs(5) => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    play(&mut end, true)?;
    let time = kill(end, &victim)?;
    drop(victim);
    drop(visited(at)?);
    Ok(vec![time, held()?.saturating_sub(before) as f64])
}
