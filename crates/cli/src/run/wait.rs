//! A job that has to wait for its nodes: its client waits with it, also through a restart of the
//! manager, and says once what for.

use super::event::{Event, Events};
use super::failure::{Failure, exit};
use super::line::{self, Connect};
use super::submit::{refused, status};
use muster_machine::manager::spec::{End, Phase, Status};
use muster_ninep::client::{Client, Fid};
use std::time::Duration;

/// How long a job waits before it is said.
const REMARK: Duration = Duration::from_secs(1);

/// Waits until the job runs or has ended. The connection in use then, if it is another one.
pub(super) fn until_begun(
    client: &Client,
    connect: &Connect,
    job: u64,
    events: &Events,
) -> Result<Option<(Client, Fid)>, Failure> {
    remark(client.clone(), job, events.clone());
    let path = format!("jobs/{job}/begun");
    let mut other: Option<(Client, Fid)> = None;
    loop {
        let now = other.as_ref().map_or(client, |(client, _)| client);
        match now.read(&path) {
            Ok(_) => return Ok(other),
            Err(error) if now.ended().is_none() => return Err(refused(now, &path, &error)),
            Err(_) => {}
        }
        let gone = |error: muster_ninep::error::Error| {
            if line::is_down(&error) {
                let text = format!("job {job} was ended: {}", error.text);
                return Failure::new("E305", exit::OURS, text);
            }
            let text = format!("job {job}: the manager is gone: {}", error.text);
            Failure::new("E401", exit::OURS, text)
        };
        let back = line::again(connect, job).map_err(gone)?;
        events.tell(Event::Made(back.0.clone(), job));
        other = Some(back);
    }
}

/// Tells after a while what the job waits for, if it still does.
fn remark(client: Client, job: u64, events: Events) {
    super::spawn(move || {
        std::thread::sleep(REMARK);
        if let Ok(Status { state: Phase::Pending, why: Some(why), .. }) = status(&client, job) {
            events.tell(Event::Waits(format!("job {job} waits: {why}  [N110]")));
        }
    });
}

/// Why the job has ended without ever having had its nodes.
pub(super) fn ended(status: &Status) -> Option<Failure> {
    let is_over = status.state == Phase::Done && status.ranks.is_empty();
    let why = status.why.as_deref().filter(|_| is_over)?;
    let code = status.exit.unwrap_or(exit::OURS);
    Some(match status.end {
        Some(End::Failed) => Failure::told("E402", code, why),
        _ => Failure::new(
            "E305",
            code,
            format!("job {} was ended while it waited: {why}", status.id),
        ),
    })
}
