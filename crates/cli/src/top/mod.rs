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
use crate::run;
use anyhow::{Result, anyhow};
use model::{Action, Key, Model};
use muster_machine::manager::overview::Overview;
use muster_ninep::client::Client;
use ratatui::crossterm::event::{self, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use screen::Screen;
use std::io::{self, Read, Write};
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
    Looked(Result<Overview>),
    Said(String),
}

/// What the looker is asked to do.
enum Request {
    Kill(u32),
}

/// Prints one picture as text.
///
/// # Errors
/// When the manager does not answer.
pub fn once(context: &Context, width: Option<u16>) -> Result<ExitCode> {
    let client = context.connect()?;
    let mut model = Model::new(&context.cluster, merged(&client));
    model.sample(look(&client)?);
    thread::sleep(GLANCE);
    model.sample(look(&client)?);
    io::stdout().write_all(draw::text(&model, width.unwrap_or(TEXT_WIDTH)).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Shows the cluster until somebody quits.
///
/// # Errors
/// When the manager does not answer at first, or the terminal cannot be used.
pub fn live(context: &Context, interval: Duration) -> Result<ExitCode> {
    let client = context.connect()?;
    let (events, incoming) = mpsc::channel();
    let (requests, asked) = mpsc::channel();
    // Before the terminal is changed: from here on no signal ends this process half-way.
    let signals = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];
    let mut signals = run::watch_signals(&signals)?;
    let told = events.clone();
    thread::spawn(move || {
        let mut signal = [0];
        while signals.read_exact(&mut signal).is_ok() && told.send(Event::Signal(signal[0])).is_ok()
        {
        }
    });
    let left_out = merged(&client);
    let looker = Looker { context: context.clone(), client: Some(client), interval };
    let told = events.clone();
    thread::spawn(move || looker.run(&told, &asked));
    let mut screen = Screen::open()?;
    thread::spawn(move || read_keys(&events));
    let mut model = Model::new(&context.cluster, left_out);
    let signal = show(&mut screen, &mut model, &incoming, &requests)?;
    drop(screen);
    Ok(ExitCode::from(signal.map_or(0, |signal| 128 + signal)))
}

/// The loop. Tells what signal has ended it, if it was one.
fn show(
    screen: &mut Screen,
    model: &mut Model,
    incoming: &Receiver<Event>,
    requests: &Sender<Request>,
) -> Result<Option<u8>> {
    loop {
        // Not before there is something to show.
        if model.now.at > 0.0 || model.note.is_some() {
            screen.draw(model)?;
        }
        let Ok(first) = incoming.recv() else { return Ok(None) };
        // What has come meanwhile is drawn at once.
        for event in std::iter::once(first).chain(incoming.try_iter()) {
            match event {
                Event::Key(key) => {
                    model.note = None;
                    match model.key(key) {
                        Action::Nothing => {}
                        Action::Quit => return Ok(None),
                        Action::Kill(job) => drop(requests.send(Request::Kill(job))),
                    }
                }
                Event::Resized => {}
                Event::Closed => return Ok(None),
                Event::Signal(signal) => return Ok(Some(signal)),
                Event::Looked(Ok(overview)) => {
                    let is_back = model.is_silent;
                    model.sample(overview);
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

/// The clusters that the view has besides its own: what they do is not shown here.
fn merged(client: &Client) -> Vec<String> {
    let all = client.with_deadlines(ANSWER, ANSWER).readdir("clusters").unwrap_or_default();
    all.iter().map(|other| String::from_utf8_lossy(&other.name).into_owned()).collect()
}

/// Asks the manager.
fn look(client: &Client) -> Result<Overview> {
    let text = client.with_deadlines(ANSWER, ANSWER).read("usage");
    let text = text.map_err(|error| anyhow!("{error}  [E401]"))?;
    Ok(serde_json::from_slice(&text)?)
}

/// Who asks the manager, again and again.
struct Looker {
    context: Context,
    /// None while there is no manager.
    client: Option<Client>,
    interval: Duration,
}

impl Looker {
    fn run(mut self, events: &Sender<Event>, asked: &Receiver<Request>) {
        loop {
            let seen = self.connected().and_then(|client| look(&client));
            if seen.is_err() {
                self.client = None;
            }
            if events.send(Event::Looked(seen)).is_err() {
                return;
            }
            match asked.recv_timeout(self.interval) {
                Ok(Request::Kill(job)) => {
                    let done = self.connected().and_then(|client| kill(&client, job));
                    let said =
                        done.map_or_else(|e| e.to_string(), |()| format!("job {job} told to end"));
                    let _ = events.send(Event::Said(said));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn connected(&mut self) -> Result<Client> {
        if let Some(client) = self.client.as_ref().filter(|client| client.ended().is_none()) {
            return Ok(client.clone());
        }
        Ok(self.client.insert(self.context.connect()?).clone())
    }
}

fn kill(client: &Client, job: u32) -> Result<()> {
    let path = format!("jobs/{job}/ctl");
    let told = client.with_deadlines(ANSWER, ANSWER).write(&path, "end\n");
    told.map(drop).map_err(|error| anyhow!("job {job} was not told to end: {error}  [E160]"))
}
