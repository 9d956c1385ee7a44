//! One job from its submission to its end: what happens is told as [`Event`]s to one thread,
//! which decides.
//!
//! It is over when the job's status is known and all output is shown, or when something failed
//! for good. The order of those two does not matter: a slow reader of ours may take the last
//! output long after the job has ended.

use super::event::{Event, Events, Started};
use super::failure::{Failure, exit};
use super::line::{self, Line};
use super::program::{Binary, Program};
use super::pump;
use super::show::{Kept, Show, Stuck, Style, Unwritable};
use super::signals::{Action, Plan};
use super::{Cluster, Input, Wish, input, library, notes, print, say, show, submit, summary};
use crate::members;
use crate::progress::Progress;
use crate::sys::heed;
use muster_machine::manager::spec::{Spec, Status};
use muster_machine::node::LIBRARIES;
use muster_machine::relay::pack::{Load, PackError};
use muster_ninep::client::{Client, Fid};
use muster_ninep::error::{Errno, Error};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fs::File;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Signals that go on to the job.
const FORWARDED: [i32; 5] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];

/// How long a manager may be gone before it is said.
const REMARK: Duration = Duration::from_secs(1);

/// How long a manager may take to be told that a job is not wanted any more.
const CANCEL: Duration = Duration::from_secs(1);

/// How long who reads what ranks have said may take none of it, once their job has ended and this
/// command was told to end, too.
const UNTAKEN: Duration = Duration::from_secs(if cfg!(test) { 2 } else { 5 });

/// How often it is looked then whether any output waits for a reader.
const LOOK: Duration = Duration::from_secs(1);

/// Version of the JSON object.
const SCHEMA: &str = "muster.run/1";

/// Runs a job and returns the exit status for it. What went wrong is said on stderr.
///
/// # Errors
/// What kept the job from running to its end, as one sentence; it has been said nowhere yet,
/// but in the JSON object if one was asked for.
pub fn run(wish: Wish, cluster: &Cluster) -> Result<u8, Failure> {
    let json = wish.json;
    let (told, events) = channel();
    let told = Events(told);
    // To open a file may take for ever. Until that is done a signal ends this process as any other.
    let result = Ready::to_go(wish).and_then(|ready| {
        let (tell, said) = (told.clone(), |error| format!("signals: {}", super::said(&error)));
        let heeded = heed(&FORWARDED, move |signal| tell.tell(Event::Signal(signal)));
        heeded.map_err(|error| Failure::new("E402", exit::OURS, said(error)))?;
        run_told(ready, cluster, told, &events)
    });
    if let (true, Err(failure)) = (json, &result) {
        print_failure(failure);
    }
    result
}

/// Prints the JSON object of what kept a job from running to its end.
pub fn print_failure(failure: &Failure) {
    let (exit, job, error) = (failure.exit, failure.job, failure.json());
    let object = json!({"schema": SCHEMA, "exit": exit, "job": job, "error": error});
    // It is said on stderr as well, and the exit status tells that something failed.
    let _ = print(&object.to_string());
}

/// What is wished, and the files for it.
pub(super) struct Ready {
    wish: Wish,
    spec: Spec,
    source: Option<File>,
    load: Load,
    begun: Instant,
}

impl Ready {
    /// Opens the input, and finds what goes along.
    pub(super) fn to_go(wish: Wish) -> Result<Ready, Failure> {
        let begun = Instant::now();
        let source = wish.input.open()?;
        let mut spec = wish.spec.clone();
        let load = gather(&wish, &mut spec)
            .map_err(|error| Failure::new("E104", exit::USAGE, error.to_string()))?;
        Ok(Ready { wish, spec, source, load, begun })
    }
}

/// The same with events that somebody else may tell as well.
pub(super) fn run_told(
    ready: Ready,
    cluster: &Cluster,
    told: Events,
    events: &Receiver<Event>,
) -> Result<u8, Failure> {
    let Ready { wish, spec, source, load, begun } = ready;
    let (program, named) = (wish.program.clone(), wish.named.clone());
    let recipes = cluster.recipes.clone();
    let order = submit::Order { spec, program, named, load, recipes, detach: wish.detach };
    submit::start(cluster.client.clone(), cluster.connect.clone(), order, told.clone());
    let mut session = Session {
        line: Arc::new(Line::new(cluster.client.clone())),
        progress: Progress::job(!wish.quiet),
        plan: Plan::new(wish.grace),
        cluster,
        told,
        source,
        made: None,
        job: None,
        status: None,
        kept: None,
        gone_at: None,
        remark_at: None,
        notes_at: None,
        is_noting: false,
        pending: Vec::new(),
        broken_pipe: false,
        failure: None,
        asked: None,
        stuck: Arc::default(),
        is_stopping: false,
        left_at: None,
        begun,
        wish,
    };
    let result = session.decide(events);
    let job = session.id();
    result.map_err(|failure| Failure { job, ..failure })
}

/// The files that go along; what the program is called then.
fn gather(wish: &Wish, spec: &mut Spec) -> Result<Load, PackError> {
    let mut load = Load::new();
    if let Program::Here(binaries) = &wish.program {
        let last = wish.named.rsplit('/').next().unwrap_or_default();
        for Binary { path, arch } in binaries {
            load.only_for(arch.filter(|_| binaries.len() > 1));
            load.add_as(path, last)?;
        }
        spec.argv[0] = format!("./{last}");
    }
    load.only_for(None);
    for path in &wish.bcast {
        load.add(path)?;
    }
    for library in &wish.libraries {
        load.only_for(library.arch);
        load.add_shared(&library.path, LIBRARIES, &library.name)?;
    }
    Ok(load)
}

/// The job while it runs.
struct Job {
    id: u64,
    /// The fid that owns it; when it goes, so does the job.
    owner: Option<Fid>,
    ctl: Option<Fid>,
    pump: Sender<pump::Order>,
    /// Which connection is in use.
    number: u64,
}

struct Session<'a> {
    wish: Wish,
    cluster: &'a Cluster,
    told: Events,
    line: Arc<Line>,
    progress: Progress,
    plan: Plan,
    source: Option<File>,
    /// The job before it runs, and the connection to it.
    made: Option<(Client, u64)>,
    job: Option<Job>,
    /// The job's last word.
    status: Option<Value>,
    /// All output was shown; what was kept.
    kept: Option<(Vec<Kept>, usize)>,
    /// When the manager is given up.
    gone_at: Option<Instant>,
    /// When it is said that it is gone.
    remark_at: Option<Instant>,
    /// When the manager's notes about the job are asked for.
    notes_at: Option<Instant>,
    /// They come already, over the connection by which the job was made.
    is_noting: bool,
    /// Orders given while there is no connection.
    pending: Vec<String>,
    broken_pipe: bool,
    /// What ends this, once what is there was shown.
    failure: Option<Failure>,
    /// The signal that was to end the job, the first, unless that is a user's at a terminal.
    asked: Option<i32>,
    /// Whether output waits for somebody to take it.
    stuck: Arc<Stuck>,
    /// When the rest of the output is given up, if it still waits for the same then.
    left_at: Option<(Instant, u64)>,
    /// Something has failed, and no more of the job is waited for.
    is_stopping: bool,
    begun: Instant,
}

impl Session<'_> {
    fn decide(&mut self, events: &Receiver<Event>) -> Result<u8, Failure> {
        loop {
            let due = [self.plan.due(), self.progress.next(), self.gone_at, self.remark_at];
            let now = Instant::now();
            let left_at = self.await_reader(now);
            let due = due.into_iter().chain([self.notes_at, left_at]).flatten().min();
            let wait = due.map_or(Duration::from_secs(3600), |due| due.duration_since(now));
            let code = match events.recv_timeout(wait) {
                Ok(event) => self.handle(event)?,
                Err(RecvTimeoutError::Timeout) => self.tick(Instant::now()),
                Err(RecvTimeoutError::Disconnected) => unreachable!("we hold a sender ourselves"),
            };
            if let Some(code) = code {
                return Ok(code);
            }
            if self.kept.is_some() && (self.status.is_some() || self.failure.is_some()) {
                return self.end();
            }
        }
    }

    fn tick(&mut self, now: Instant) -> Option<u8> {
        self.progress.tick();
        if self.remark_at.is_some_and(|at| at <= now) {
            self.remark_at = None;
            let seconds = line::PATIENCE.as_secs();
            self.note(&format!("the manager is gone; it is waited for, {seconds} s at most"));
        }
        if self.gone_at.is_some_and(|at| at <= now) {
            self.gone(&Error::new(Errno::TIMEDOUT, "it does not answer"));
        }
        if self.notes_at.take_if(|at| *at <= now).is_some() {
            self.follow_notes();
        }
        if let (Some((at, wait)), Some(signal)) = (self.left_at, self.asked)
            && at <= now
            && self.stuck.now() == Some(wait)
        {
            return Some(self.untaken(signal));
        }
        self.plan.tick(now).and_then(|action| self.act(action, libc::SIGINT))
    }

    /// When the rest of a job's output is given up, or it is to be looked again whether that waits
    /// for somebody. Who has interrupted it may read on, and can do so once more.
    fn await_reader(&mut self, now: Instant) -> Option<Instant> {
        let is_over = self.status.is_some() || self.is_stopping;
        if self.asked.is_none() || !is_over || self.kept.is_some() {
            return None;
        }
        let Some(wait) = self.stuck.now() else {
            self.left_at = None;
            return Some(now + LOOK);
        };
        if self.left_at.is_none_or(|(_, before)| before != wait) {
            self.left_at = Some((now + UNTAKEN, wait));
        }
        self.left_at.map(|(at, _)| at)
    }

    /// Ends this command though some output is left: nobody takes it.
    fn untaken(&mut self, signal: i32) -> u8 {
        let (job, code) = (self.id(), self.leave(signal));
        let failure = self.failure.take().unwrap_or_else(|| {
            let number = job.unwrap_or_default();
            let text = format!("job {number} has ended, but nobody takes the rest of its output");
            Failure { job, ..Failure::new("E143", code, text) }
        });
        let failure = Failure { exit: code, ..failure };
        // The same reader may be the one of these.
        if show::takes(std::io::stderr()) {
            say(&format!("muster: {failure}"));
        }
        if self.wish.json && show::takes(std::io::stdout()) {
            print_failure(&failure);
        }
        code
    }

    fn follow_notes(&mut self) {
        let (client, id) = match (&self.job, &self.made) {
            (Some(Job { id, ctl: Some(ctl), .. }), _) => (ctl.client().clone(), *id),
            (None, Some((client, id))) => (client.clone(), *id),
            _ => return,
        };
        self.is_noting = self.job.is_none();
        notes::follow(client, id, self.told.clone());
    }

    /// Takes what happened; an exit status if all is over at once.
    fn handle(&mut self, event: Event) -> Result<Option<u8>, Failure> {
        match event {
            Event::Sent(sent, all) => self.progress.sent(sent, all),
            Event::Made(client, job) => {
                self.made = Some((client, job));
                // Over another connection they are to be asked for anew.
                self.is_noting = false;
                // It may be long until it runs: its nodes may be slow.
                self.notes_at = Some(Instant::now() + notes::LATER);
            }
            Event::Failed(failure) => {
                self.progress.clear();
                return Err(failure);
            }
            Event::Waits(why) => {
                self.progress.clear();
                self.note(&why);
            }
            Event::Started(started) => return self.started(*started),
            Event::Signal(signal) => return Ok(self.signal(signal)),
            Event::Done(number, answer) => self.done(number, answer),
            Event::Note(text) => {
                self.progress.clear();
                self.note(&text);
            }
            Event::Lost(number) => self.lost(number),
            Event::Back(client, ctl) => self.back(client, ctl),
            Event::Gone(error) => self.gone(&error),
            Event::Output { kept, cut } => self.kept = Some((kept, cut)),
            Event::Unwritable(failed) => self.unwritable(&failed),
            Event::Unreadable(error) => self.unreadable(&error),
        }
        Ok(None)
    }

    fn started(&mut self, started: Started) -> Result<Option<u8>, Failure> {
        self.progress.clear();
        let Started { id, owner, ctl, client, nodes } = started;
        if self.wish.detach {
            let cluster = self.cluster.name.as_deref();
            let told = match (self.wish.json, cluster) {
                (true, None) => json!({"schema": SCHEMA, "job": id}).to_string(),
                (true, _) => json!({"schema": SCHEMA, "cluster": cluster, "job": id}).to_string(),
                (false, _) => members::label(cluster, id),
            };
            return printed(&told, 0).map(Some).map_err(|failure| {
                let text = format!("job {id} runs, but {}", failure.text);
                Failure { text, job: Some(id), ..failure }
            });
        }
        let Wish { style, label, quiet, .. } = self.wish;
        let (goals, ranks) = (self.wish.goals.clone(), nodes.len());
        let stuck = self.stuck.clone();
        let show = move || {
            let [out, err] = &goals;
            // A pipe with a name is open when somebody reads it.
            let show = stuck.during(|| Show::new(style, label, [out, err], id, &nodes));
            show.map(|show| show.telling(stuck, quiet))
        };
        let pump = pump::start(show, ranks, self.told.clone());
        self.job = Some(Job { id, owner: Some(owner), ctl: None, pump, number: 0 });
        let number = client.as_ref().map_or(1, |client| self.line.set(client.clone()));
        if let Some(source) = self.source.take() {
            input::start(source, self.line.clone(), id, self.told.clone());
        }
        self.attach(client.unwrap_or_else(|| self.cluster.client.clone()), ctl, number);
        Ok(None)
    }

    /// Uses a connection from now on.
    fn attach(&mut self, client: Client, ctl: Fid, number: u64) {
        let Some(job) = &mut self.job else { return };
        job.number = number;
        job.ctl = Some(ctl);
        // What a report has no room for stays in the cluster.
        let file = if self.wish.style == Style::Keep { "output" } else { "take" };
        pump::attach(&job.pump, (job.id, file), &client, number);
        let (told, id) = (self.told.clone(), job.id.to_string());
        let done = move |answer| told.tell(Event::Done(number, answer));
        submit::read_object_then(&client, &["jobs", &id, "wait"], done);
        if !std::mem::take(&mut self.is_noting) {
            self.notes_at = Some(Instant::now() + notes::LATER);
        }
        let told = self.told.clone();
        client.on_close(move |_| told.tell(Event::Lost(number)));
        for order in std::mem::take(&mut self.pending) {
            self.order(order);
        }
    }

    /// Gives the job an order, without waiting for it.
    fn order(&mut self, order: String) {
        match self.job.as_ref().and_then(|job| job.ctl.as_ref()) {
            // Refused only when the job has ended, which we are told anyway.
            Some(ctl) => drop(ctl.write_then(0, format!("{order}\n").as_bytes(), |_| {})),
            None => self.pending.push(order),
        }
    }

    fn signal(&mut self, signal: i32) -> Option<u8> {
        let name = match signal {
            libc::SIGINT => "INT",
            libc::SIGTERM => "TERM",
            libc::SIGHUP => "HUP",
            libc::SIGUSR1 => "USR1",
            _ => "USR2",
        };
        if self.job.is_none() {
            // Nothing runs yet; leaving takes back what was begun.
            return matches!(name, "INT" | "TERM" | "HUP").then(|| {
                let job = self.id();
                self.cancel(name);
                let code = self.leave(signal);
                if self.wish.json {
                    let text = format!("SIG{name} ended it before it ran");
                    print_failure(&Failure { job, ..Failure::new("E305", code, text) });
                }
                code
            });
        }
        if matches!(name, "TERM" | "HUP") {
            self.asked.get_or_insert(signal);
        }
        match self.plan.signal(name, Instant::now()) {
            // No rank is left for it, only output.
            Action::Kill | Action::Leave if self.status.is_some() => Some(self.untaken(signal)),
            action => self.act(action, signal),
        }
    }

    fn act(&mut self, action: Action, signal: i32) -> Option<u8> {
        match action {
            Action::Forward(name) => self.order(format!("signal {name}")),
            Action::Kill => self.order("kill".to_owned()),
            Action::Nothing => {}
            Action::Leave => {
                let (job, code) = (self.id(), self.leave(signal));
                if self.wish.json {
                    let text = "a third signal ended this command, and with it the job";
                    print_failure(&Failure { job, ..Failure::new("E305", code, text) });
                }
                return Some(code);
            }
        }
        None
    }

    /// The job's number, once it has one.
    fn id(&self) -> Option<u64> {
        let made = self.made.as_ref().map(|(_, job)| *job);
        self.job.as_ref().map(|job| job.id).or(made)
    }

    /// Has a job that does not run yet ended by a signal: that its client goes away, which ends it
    /// as well, does not say why.
    fn cancel(&mut self, name: &str) {
        let Some((client, job)) = self.made.take() else { return };
        let order = format!("signal {name}\n");
        let (told, done) = channel();
        super::spawn(move || {
            // Nobody listens any more if it took too long.
            let _ = told.send(client.write(&format!("jobs/{job}/ctl"), order));
        });
        let _ = done.recv_timeout(CANCEL);
    }

    /// Ends this command at once. The manager sees the connection go and ends the job.
    fn leave(&mut self, signal: i32) -> u8 {
        self.progress.clear();
        self.cluster.client.close();
        exit::SIGNAL + signal as u8
    }

    fn done(&mut self, number: u64, answer: muster_ninep::error::Result<String>) {
        let Some(job) = &self.job else { return };
        if self.status.is_some() || job.number != number {
            return;
        }
        let text = match answer {
            Ok(text) => text,
            // Lost is told as well and does what is to be done.
            Err(_) if job.ctl.as_ref().is_none_or(|ctl| ctl.client().ended().is_some()) => return,
            Err(error) => return self.fail("E402", &error.text),
        };
        match serde_json::from_str(&text) {
            Ok(status) => {
                self.status = Some(status);
                let _ = job.pump.send(pump::Order::JobEnded);
            }
            Err(error) => self.fail("E402", &format!("the job's status cannot be read: {error}")),
        }
    }

    /// The connection broke.
    fn lost(&mut self, number: u64) {
        let Some(job) = &mut self.job else { return };
        if job.number != number || self.kept.is_some() && self.status.is_some() {
            return;
        }
        job.ctl = None;
        job.owner = None;
        let now = Instant::now();
        self.gone_at = Some(now + line::PATIENCE);
        self.remark_at = Some(now + REMARK);
        line::reconnect(self.cluster.connect.clone(), job.id, self.told.clone());
    }

    fn back(&mut self, client: Client, ctl: Fid) {
        let Some(job) = &self.job else { return };
        let id = job.id;
        // Given up meanwhile.
        if self.gone_at.take().is_none() {
            return;
        }
        self.remark_at = None;
        self.note(&format!("the manager was gone for a moment; job {id} goes on"));
        let number = self.line.set(client.clone());
        self.attach(client, ctl, number);
    }

    fn gone(&mut self, why: &Error) {
        (self.gone_at, self.remark_at) = (None, None);
        self.line.close();
        let job = self.job.as_ref().map_or(0, |job| job.id);
        if line::is_down(why) {
            return self.fail("E305", &format!("job {job} was ended: {}", why.text));
        }
        self.fail("E401", &format!("job {job}: the manager is gone: {}", why.text));
    }

    fn unwritable(&mut self, failed: &Unwritable) {
        if failed.ours && failed.error.kind() == std::io::ErrorKind::BrokenPipe {
            self.broken_pipe = true;
        } else if self.failure.is_none() {
            // The job is ended in order; its status still comes.
            self.failure = Some(Failure::new("E140", exit::OURS, cannot_write(failed)));
        }
        // Of a job that is to end already, ranks have their time: what they do in it, such as to
        // write a checkpoint, needs no reader. A terminal that has gone hangs up, of which the
        // signal may come later.
        match self.plan.due() {
            Some(_) => {}
            None if failed.is_terminal => drop(self.signal(libc::SIGHUP)),
            None => self.order("kill".to_owned()),
        }
    }

    /// The ranks lack their input: what they make of that is worth nothing.
    fn unreadable(&mut self, error: &std::io::Error) {
        let (name, other) = match &self.wish.input {
            Input::File(path) => (path.display().to_string(), "FILE"),
            _ => ("standard input".to_owned(), "none"),
        };
        let why = super::said(error);
        let text = format!("{name} cannot be read: {why}. Use --input {other}");
        self.failure.get_or_insert_with(|| Failure::new("E141", exit::OURS, text));
        self.order("kill".to_owned());
    }

    /// Ends this when what is there was shown.
    fn fail(&mut self, id: &'static str, text: &str) {
        self.failure.get_or_insert_with(|| Failure::new(id, exit::OURS, text));
        self.is_stopping = true;
        if let Some(job) = &self.job {
            let _ = job.pump.send(pump::Order::Stop);
        }
    }

    fn note(&self, text: &str) {
        if !self.wish.quiet {
            say(&format!("muster: {text}"));
        }
    }

    /// All is known and shown.
    fn end(&mut self) -> Result<u8, Failure> {
        if self.broken_pipe {
            return Ok(exit::SIGNAL + libc::SIGPIPE as u8);
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let (Some(mut raw), Some((kept, cut))) = (self.status.take(), self.kept.take()) else {
            unreachable!("only called when both are there");
        };
        let mut status: Status = serde_json::from_value(raw.clone()).map_err(|error| {
            let text = format!("the job's status cannot be read: {error}");
            Failure::new("E402", exit::OURS, text)
        })?;
        if let Some(failure) = submit::not_run(&status) {
            return Err(submit::advised(failure, &self.wish.program, &self.wish.named));
        }
        let mut told = summary::lines(&status, &status.id.to_string());
        if matches!(&self.wish.program, Program::Here(all) if all[0].arch.is_some())
            && let Some(failure) = library::lacking(&self.cluster.client, &status, &self.wish.named)
        {
            told = vec![format!("muster: {failure}")];
        }
        if !self.wish.quiet {
            told.iter().for_each(|line| say(line));
        }
        // A disk that took no more has been told.
        if cut > 0 && !told.iter().any(|line| line.contains("[E310")) {
            let streams = if cut == 1 { "one stream" } else { "some streams" };
            let text = format!(
                "the end of {streams} of job {0} did not come: output is missing. What the \
                 manager has: muster logs {0}",
                status.id
            );
            let line = format!("muster: {}", Failure::new("E143", exit::OURS, text));
            say(&line);
            told.push(line);
            (status.exit, raw["exit"]) = (Some(exit::OURS), exit::OURS.into());
        }
        if self.wish.timing {
            say(&summary::timing(&status, self.begun.elapsed()));
        }
        let exit = status.exit.unwrap_or(exit::OURS);
        if let Some(name) = &self.cluster.name {
            raw["cluster"] = name.as_str().into();
        }
        match self.wish.json {
            true => printed(&report(raw, &kept, &told, self.wish.style).to_string(), exit),
            false => Ok(exit),
        }
    }
}

/// Prints what the command is to tell; `exit` if that could be done, or nobody wants to know.
fn printed(line: &str, exit: u8) -> Result<u8, Failure> {
    match print(line) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let text = format!("standard output cannot be written: {}", super::said(&error));
            Err(Failure::new("E140", exit::OURS, text))
        }
        _ => Ok(exit),
    }
}

fn cannot_write(failed: &Unwritable) -> String {
    format!("{} cannot be written: {}", failed.name, super::said(&failed.error))
}

/// The JSON object at the end: the manager's status, and what the ranks said.
fn report(mut status: Value, kept: &[Kept], told: &[String], style: Style) -> Value {
    status["schema"] = SCHEMA.into();
    // As a detached job and the other commands call it.
    status["job"] = status["id"].clone();
    status["messages"] = told.into();
    if style != Style::Keep {
        return status;
    }
    let ranks = status.get_mut("ranks").and_then(Value::as_array_mut);
    for (at, rank) in ranks.into_iter().flatten().enumerate() {
        for (which, name) in ["stdout", "stderr"].iter().enumerate() {
            let Some(kept) = kept.get(at * 2 + which) else { continue };
            let text = String::from_utf8_lossy(&kept.bytes);
            if matches!(text, Cow::Owned(_)) {
                rank[format!("{name}_lossy")] = true.into();
            }
            rank[*name] = text.into();
            if kept.truncated {
                rank[format!("{name}_truncated")] = true.into();
            }
        }
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_what_ranks_said() {
        let status = json!({"id": 3, "exit": 0, "ranks": [{"rank": 0}, {"rank": 1}]});
        let kept = |bytes: &[u8], truncated| Kept { bytes: bytes.into(), truncated };
        let kept = [kept(b"a\n", false), kept(b"", false), kept(b"b", true), kept(b"c\xff", false)];
        let told = ["x".to_owned()];
        let report = report(status, &kept, &told, Style::Keep);
        assert_eq!(report["schema"], SCHEMA);
        assert_eq!((&report["id"], &report["job"]), (&json!(3), &json!(3)));
        assert_eq!(report["messages"][0], "x");
        assert_eq!(report["ranks"][0]["stdout"], "a\n");
        assert_eq!(report["ranks"][0].get("stdout_truncated"), None);
        assert_eq!(report["ranks"][1]["stdout_truncated"], true);
        assert_eq!(report["ranks"][1].get("stdout_lossy"), None);
        assert_eq!(report["ranks"][1]["stderr"], "c\u{fffd}");
        assert_eq!(report["ranks"][1]["stderr_lossy"], true, "what was no text is told");
    }
}
