//! What becomes of an error: what the error handler says that is set for the object that the call
//! was about. A call about none, and one whose object is not valid, is about `MPI_COMM_SELF` since
//! MPI-4.0, and was about `MPI_COMM_WORLD` before: most programs set the latter's handler alone. A
//! call about a file that is not valid is about `MPI_FILE_NULL` (MPI-5.0, section 14.7).

use std::cell::Cell;
use std::ffi::c_int;
use std::io::Write;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use muster_mpi::error::{About, Class, Error};

use crate::abi::constants::{MPI_COMM_SELF, MPI_COMM_WORLD, MPI_FILE_NULL};
use crate::argument::{Passed, wrong};
use crate::errhandler::{self, Action};
use crate::object::Id;
use crate::world;

/// The time between two ranks that fail at once, how many have times of their own, and how long
/// who misses another one waits.
const TURN: Duration = Duration::from_millis(75);
const TURNS: u32 = 20;
const MISSED: Duration = Duration::from_secs(2);

/// How long what the program has printed may take to leave when it ends. Only one that hangs there
/// waits for so long.
const PRINTED: Duration = Duration::from_secs(5);

// SAFETY: C's standard output is a variable of this type (ISO C, 7.21.1).
unsafe extern "C" {
    static stdout: *mut libc::FILE;
    fn ftrylockfile(stream: *mut libc::FILE) -> libc::c_int;
}

/// What is known of the error that the call which is going on will tell.
#[derive(Clone, Copy)]
pub struct Noted {
    /// What it is about.
    id: Id,
    /// What is to be done about it, where that is not the object's to say.
    action: Option<Action>,
    /// What a handler is told, where that is another than what the call returns.
    class: Option<Class>,
}

thread_local! {
    static NOTED: Cell<Option<Noted>> = const { Cell::new(None) };
}

/// Notes that the error which this call will return is about an object that is not among its
/// arguments: that of a request.
pub fn note(id: Id) {
    NOTED.set(Some(Noted { id, action: None, class: None }));
}

/// Notes the same of an object that is no more or not yet, and what its handler does.
pub fn note_for(id: Id, action: Action) {
    NOTED.set(Some(Noted { id, action: Some(action), class: None }));
}

/// Notes nothing after all: the call returns no error.
pub fn forget() {
    NOTED.set(None);
}

/// What was noted of one of several errors. It is noted no longer.
pub fn noted() -> Option<Noted> {
    NOTED.take()
}

/// The call returns that there are errors in the statuses, and this is one of them: its object's
/// handler is told which (MPI-5.0, section 9.3.1).
pub fn note_in_status(noted: Option<Noted>, error: &Error) {
    NOTED.set(noted.map(|noted| Noted { class: Some(error.class), ..noted }));
}

/// A function, the names of its arguments, and what was passed.
pub type Call<'a> = (&'static str, &'static [&'static str], &'a [Passed]);

/// Ends a call that failed: returns what the program gets, or ends the job.
#[cold]
pub fn fail(id: Id, (function, names, passed): Call<'_>, error: &Error) -> c_int {
    if error.about == About::Departure {
        depart(function, error)
    }
    let noted = NOTED.take().unwrap_or(Noted { id, action: None, class: None });
    let own = noted.action.map_or_else(|| errhandler::action(noted.id), Ok);
    let (id, action) = own.map_or_else(|_| of_invalid(noted.id), |action| (noted.id, action));
    let code = error.class.number();
    match (action, noted.class) {
        (Action::Return, _) => code,
        (Action::Call(address), None) => errhandler::call(address, id, code),
        (Action::Call(address), Some(class)) => {
            errhandler::call(address, id, class.number());
            code
        }
        (Action::End, _) => end(&format!("{function}{}", wrong(names, passed, error)), error),
    }
}

/// Who is asked about an error of a call about no object, and what it says: `MPI_COMM_WORLD` where
/// `MPI_COMM_SELF` would end the job.
fn of_none() -> (Id, Action) {
    let asked = [MPI_COMM_SELF, MPI_COMM_WORLD].map(|comm| {
        let id = Id::from(comm);
        (id, errhandler::action(id).unwrap_or(Action::End))
    });
    if asked[0].1 == Action::End { asked[1] } else { asked[0] }
}

/// Who is asked about an error of a call whose object is not valid.
fn of_invalid(id: Id) -> (Id, Action) {
    let no_file = Id::from(MPI_FILE_NULL);
    match errhandler::action(no_file) {
        Ok(action) if id.sort == no_file.sort => (no_file, action),
        _ => of_none(),
    }
}

/// Ends a call that failed and is about no object.
#[cold]
pub fn fail_of_none(call: Call<'_>, error: &Error) -> c_int {
    fail(of_none().0, call, error)
}

/// Ends the process, and with it the job, with one message. Its exit status is the error's class.
pub fn end(function: &str, error: &Error) -> ! {
    let rank = in_turn(error);
    say(&format!("muster: {rank}{function} failed: {error}  [E501]\n"));
    let status = error.class.number();
    leave(if (1..=255).contains(&status) { status } else { 1 })
}

/// Ends a run that is not that of the log which it follows, whatever an error handler says: what
/// the program would do from here on is not what was recorded.
pub fn depart(function: &str, error: &Error) -> ! {
    let rank = in_turn(error);
    say(&format!("muster: {rank}{function}: {}  [E505]\n", error.what));
    leave(1)
}

/// Waits until it is this rank's turn to say what has failed; who says it.
fn in_turn(error: &Error) -> String {
    let rank = std::env::var("MUSTER_RANK").ok();
    if let Some(rank) = rank.as_ref().and_then(|rank| rank.parse().ok()) {
        world::pause(turn(rank, error.class));
    }
    rank.map_or(String::new(), |rank| format!("rank {rank}: "))
}

/// How long a rank waits until it says what has failed. Where one fails others often do, too; the
/// first ends the job, and with it those whose turn comes later, so that there is one message in
/// most cases: all ranks behind the last turn have the same. Who only misses another one lets that
/// one go first.
fn turn(rank: u32, class: Class) -> Duration {
    let own = TURN * rank.min(TURNS);
    if class == Class::ProcAborted { own + MISSED } else { own }
}

/// Ends the process, and with it the job, as the program wants it (`MPI_Abort`).
pub fn abort(code: c_int) -> ! {
    let rank = std::env::var("MUSTER_RANK").map(|rank| format!("rank {rank} has "));
    let who = rank.unwrap_or_else(|_| "the program has ".to_owned());
    say(&format!("muster: {who}called MPI_Abort with {code}  [E501]\n"));
    leave(if code & 0xff == 0 { 1 } else { code })
}

/// Says something at once, so that who is ended meanwhile says all of it or nothing.
pub fn say(text: &str) {
    // Without a standard error the status has to do.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Ends the process without what it has asked to be done at its end: that may call MPI, and wait
/// for ranks that do not come. What it has printed is not lost, unless nobody takes it.
pub fn leave(status: c_int) -> ! {
    // To flush all is to wait for each thread that reads from a stream, and for whoever takes what
    // is printed. A job ends all the same, and what is printed goes first.
    let (flushed, is_flushed) = mpsc::channel::<()>();
    let flush = move || {
        // SAFETY: the C library has set it before the program began; null stands for all streams.
        unsafe {
            libc::fflush(stdout);
            libc::fflush(std::ptr::null_mut());
        }
        drop(flushed);
    };
    if thread::Builder::new().spawn(flush).is_ok() {
        let _ = is_flushed.recv_timeout(PRINTED);
    } else {
        // There are no threads left, which may be why it ends.
        // SAFETY: the C library has set it before the program began.
        unsafe {
            if ftrylockfile(stdout) == 0 {
                libc::fflush(stdout);
            }
        }
    }
    // SAFETY: it takes a number and does not return.
    unsafe { libc::_exit(status) }
}
