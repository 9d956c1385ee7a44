//! `muster top`: a picture of the cluster that keeps up with it.
//!
//! ```text
//!  keys ─────┐
//!  signals ──┼──> events ──> the loop: model, then drawing
//!  looker ───┘                 │ look now, kill job J
//!    └────────<────────────────┘
//! ```
//!
//! Three threads wait, each for one thing: a key (or a new size) of the terminal, a signal, the
//! answer of the manager. The loop has the only [`model`] and the only terminal, and waits for
//! nobody but them, so a manager that is silent freezes nothing. Whichever way it ends, by a key, a
//! signal or a panic, the terminal is as it was before.

mod draw;
mod model;
mod screen;

use crate::cluster::Context;
use crate::members::{self, JobName, Member};
use crate::sys::heed;
use anyhow::{Result, anyhow};
use crossterm::event::{self, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use model::{Action, Key, Model, Part, Sight};
use muster_ninep::client::Client;
use screen::Screen;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// How long the manager may take to tell, who gives nodes 1 s.
const ANSWER: Option<Duration> = Some(Duration::from_secs(3));

/// Between the two looks that one picture needs, to tell what is used just now.
const GLANCE: Duration = Duration::from_millis(300);

/// Columns of a picture that goes to no terminal.
const TEXT_WIDTH: u16 = 100;

/// What the loop waits for.
enum Event {
    Key(Key),
    /// The terminal has another size.
    Resized,
    /// It is gone.
    Closed,
    Signal(u8),
    Looked(Result<Sight>),
    Said(String),
}

/// Prints one picture as text.
///
/// # Errors
/// When the manager does not answer.
pub fn once(context: &Context, width: Option<u16>) -> Result<ExitCode> {
    let mut looker = Looker::new(context, GLANCE)?;
    let mut model = Model::new(&context.cluster);
    model.sample(looker.look()?);
    thread::sleep(GLANCE);
    model.sample(looker.look()?);
    io::stdout().write_all(draw::text(&model, width.unwrap_or(TEXT_WIDTH)).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Shows the cluster until somebody quits.
///
/// # Errors
/// When the manager does not answer at first, or the terminal cannot be used.
pub fn live(context: &Context, interval: Duration) -> Result<ExitCode> {
    let looker = Looker::new(context, interval)?;
    let (events, incoming) = mpsc::channel();
    let (kills, to_kill) = mpsc::channel();
    // Before the terminal is changed: from here on no signal ends this process half-way.
    let signals = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
    let told = events.clone();
    heed(&signals, move |signal| drop(told.send(Event::Signal(signal as u8))))?;
    let told = events.clone();
    thread::spawn(move || looker.run(&told, &to_kill));
    let mut screen = Screen::open()?;
    thread::spawn(move || read_keys(&events));
    let mut model = Model::new(&context.cluster);
    let signal = show(&mut screen, &mut model, &incoming, &kills);
    drop(screen);
    Ok(ExitCode::from(signal.map_or(0, |signal| 128 + signal)))
}

/// What counts when the terminal is gone, also where the signal comes later or not at all.
const CLOSED: u8 = libc::SIGHUP as u8;

/// The loop. Tells what signal has ended it, if it was one.
fn show(
    screen: &mut Screen,
    model: &mut Model,
    incoming: &Receiver<Event>,
    kills: &Sender<JobName>,
) -> Option<u8> {
    loop {
        // Not before there is something to show.
        let is_to_draw = model.has_looked() || model.note.is_some();
        if is_to_draw && screen.draw(model).is_err() {
            return Some(CLOSED);
        }
        let Ok(first) = incoming.recv() else { return None };
        // What has come meanwhile is drawn at once.
        for event in std::iter::once(first).chain(incoming.try_iter()) {
            match event {
                Event::Key(key) => {
                    model.note = None;
                    match model.key(key) {
                        Action::Nothing => {}
                        Action::Quit => return None,
                        Action::Kill(job) => drop(kills.send(job)),
                    }
                }
                Event::Resized => {}
                Event::Closed => return Some(CLOSED),
                Event::Signal(signal) => return Some(signal),
                Event::Looked(Ok(sight)) => {
                    let is_back = model.is_silent;
                    model.sample(sight);
                    if is_back {
                        model.note = None;
                    }
                }
                Event::Looked(Err(error)) => model.silent(error.to_string()),
                Event::Said(text) => model.tell(text),
            }
        }
    }
}

fn read_keys(events: &Sender<Event>) {
    loop {
        let event = match event::read() {
            Ok(event::Event::Key(key)) if key.kind != KeyEventKind::Release => Event::Key(of(key)),
            Ok(event::Event::Resize(..)) => Event::Resized,
            Ok(_) => continue,
            Err(_) => Event::Closed,
        };
        let is_closed = matches!(event, Event::Closed);
        if events.send(event).is_err() || is_closed {
            return;
        }
    }
}

/// What a key means.
fn of(key: KeyEvent) -> Key {
    match key.code {
        KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => Key::Quit,
        // Not Esc: it also begins what arrows send, which slow lines may cut in two.
        KeyCode::Char('q') => Key::Quit,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Char('s') => Key::Sort,
        KeyCode::Char('k') => Key::Kill,
        KeyCode::Char('y') => Key::Yes,
        _ => Key::Other,
    }
}

/// Who asks the managers, again and again.
struct Looker {
    context: Context,
    /// That of the cluster whose view it is; none while there is no manager.
    client: Option<Client>,
    /// The others that are reached.
    others: Vec<Member>,
    left_out: Vec<String>,
    /// Looks until those that were not reached are tried again.
    until: u32,
    interval: Duration,
}

/// Between two tries to reach what was not, which may take seconds each.
const AGAIN: Duration = Duration::from_secs(10);

impl Looker {
    fn new(context: &Context, interval: Duration) -> Result<Looker> {
        let client = Some(context.connect()?);
        let (others, left_out) = Default::default();
        Ok(Looker { context: context.clone(), client, others, left_out, until: 0, interval })
    }

    fn run(mut self, events: &Sender<Event>, kills: &Receiver<JobName>) {
        loop {
            let seen = self.look();
            if seen.is_err() {
                self.client = None;
            }
            if events.send(Event::Looked(seen)).is_err() {
                return;
            }
            match kills.recv_timeout(self.interval) {
                Ok(job) => {
                    let done = self.kill(&job);
                    let told = || format!("job {} told to end", job.label());
                    let said = done.map_or_else(|error| error.to_string(), |()| told());
                    let _ = events.send(Event::Said(said));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Asks all managers. One of those that the view merges may be silent, and is left out then.
    fn look(&mut self) -> Result<Sight> {
        let client = self.connected()?;
        self.reach(&client)?;
        let mut parts = vec![part(&client, None)?];
        let mut lost = Vec::new();
        for Member { name, client, .. } in &self.others {
            match part(client, name.clone()) {
                Ok(seen) => parts.push(seen),
                Err(_) => lost.extend(name.clone()),
            }
        }
        self.others.retain(|member| !member.name.as_ref().is_some_and(|name| lost.contains(name)));
        self.left_out.extend(lost);
        Ok(Sight { parts, left_out: self.left_out.clone() })
    }

    /// Sees to it that the others are reached, if it is time for that.
    fn reach(&mut self, client: &Client) -> Result<()> {
        if self.until > 0 {
            self.until -= 1;
            return Ok(());
        }
        let (members, missed) = members::reached(&self.context, client)?;
        self.others = members.into_iter().filter(|member| member.name.is_some()).collect();
        self.left_out = missed.into_iter().map(|(name, _)| name).collect();
        self.until = AGAIN.div_duration_f32(self.interval) as u32;
        Ok(())
    }

    fn connected(&mut self) -> Result<Client> {
        if let Some(client) = self.client.as_ref().filter(|client| client.ended().is_none()) {
            return Ok(client.clone());
        }
        self.until = 0;
        Ok(self.client.insert(self.context.connect()?).clone())
    }

    fn kill(&mut self, job: &JobName) -> Result<()> {
        let client = match job.cluster() {
            None => self.connected()?,
            Some(name) => {
                let is_it = |member: &&Member| member.name.as_deref() == Some(name);
                let member = self.others.iter().find(is_it);
                member.ok_or_else(|| anyhow!("{name} is not reached  [E401]"))?.client.clone()
            }
        };
        let path = format!("jobs/{}/ctl", job.number);
        let told = client.with_deadlines(ANSWER, ANSWER).write(&path, "end\n");
        let why = |error| anyhow!("job {} was not told to end: {error}  [E160]", job.label());
        told.map(drop).map_err(why)
    }
}

/// Asks a manager.
fn part(client: &Client, name: Option<String>) -> Result<Part> {
    let text = client.with_deadlines(ANSWER, ANSWER).read("usage");
    let text = text.map_err(|error| anyhow!("{error}  [E401]"))?;
    Ok(Part { name, overview: serde_json::from_slice(&text)? })
}
