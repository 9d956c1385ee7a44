//! The connection to the manager, which may be replaced while others use it.

use super::event::{Event, Events};
use muster_ninep::client::{Client, Fid};
use muster_ninep::error::{Errno, Error, Result};
use muster_ninep::tree::OpenFlags;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long a manager that has gone is waited for.
pub const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 5 } else { 10 });

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(100);

/// Connects to the manager.
pub type Connect = Arc<dyn Fn() -> Result<Client> + Send + Sync>;

/// The connection: which one it is, counted from 1, and itself while there is hope.
#[derive(Debug)]
pub struct Line {
    state: Mutex<(u64, Option<Client>)>,
    changed: Condvar,
}

impl Line {
    /// The first connection.
    pub fn new(client: Client) -> Line {
        Line { state: Mutex::new((1, Some(client))), changed: Condvar::new() }
    }

    /// Replaces the connection; returns which one it is.
    pub fn set(&self, client: Client) -> u64 {
        let mut state = self.state.lock().expect("no holder panics");
        *state = (state.0 + 1, Some(client));
        self.changed.notify_all();
        state.0
    }

    /// There will be no other.
    pub fn close(&self) {
        self.state.lock().expect("no holder panics").1 = None;
        self.changed.notify_all();
    }

    /// Waits for a connection later than the one numbered `than`; nothing if there will be none.
    pub fn later(&self, than: u64) -> Option<(u64, Client)> {
        let mut state = self.state.lock().expect("no holder panics");
        loop {
            match &*state {
                (_, None) => return None,
                (number, Some(client)) if *number > than => return Some((*number, client.clone())),
                _ => state = self.changed.wait(state).expect("no holder panics"),
            }
        }
    }
}

/// Opens the control file of a job.
pub fn open_ctl(client: &Client, job: u64) -> Result<Fid> {
    Ok(client.open(&format!("jobs/{job}/ctl"), OpenFlags(OpenFlags::WRONLY))?.into_fid())
}

/// Tries to get back to a job, on a thread of its own.
pub fn reconnect(connect: Connect, job: u64, events: Events) {
    super::spawn(move || match again(&connect, job) {
        Ok((client, ctl)) => events.tell(Event::Back(client, ctl)),
        Err(error) => events.tell(Event::Gone(error)),
    });
}

/// Whether there will be no other manager, as the cluster has ended.
pub fn is_down(error: &Error) -> bool {
    error.errno == Errno::HOSTDOWN
}

/// Tries to get back to a job: a new connection, and the job's control file, which owns it.
///
/// # Errors
/// The last try's, when the manager's time is over, or the cluster has ended.
pub fn again(connect: &Connect, job: u64) -> Result<(Client, Fid)> {
    let end = Instant::now() + PATIENCE;
    loop {
        let tried = (|| {
            let client = connect()?;
            let ctl = open_ctl(&client, job)?;
            let order = b"attach\n";
            match ctl.write_at(0, order)? {
                written if written == order.len() => Ok((client, ctl)),
                _ => Err(Error::new(Errno::IO, "the manager did not take the order")),
            }
        })();
        match tried {
            Err(error) if !is_down(&error) && Instant::now() < end => std::thread::sleep(PAUSE),
            told => return told,
        }
    }
}
