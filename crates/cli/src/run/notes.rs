//! What the manager has to say about a job while it runs: the lines of `jobs/J/notes`.

use super::event::{Event, Events};
use muster_ninep::client::Client;
use muster_ninep::tree::OpenFlags;
use std::io::{BufRead, BufReader};
use std::time::Duration;

/// Most jobs are over before there is anything to say, and are not to wait for that.
pub const LATER: Duration = Duration::from_secs(1);

/// Passes them on, for as long as the job and this connection last.
pub fn follow(client: Client, job: u64, told: Events) {
    super::spawn(move || {
        let Ok(file) = client.open(&format!("jobs/{job}/notes"), OpenFlags::default()) else {
            return;
        };
        for line in BufReader::new(file).lines().map_while(Result::ok) {
            told.tell(Event::Note(line));
        }
    });
}
