//! Starting a program so that all of it can be ended.
//!
//! # Who is who
//!
//! ```text
//!  daemon ──spawn──> keeper ──fork──> init (pid 1) ──vfork──> program ─> descendants
//!  Spawner           re-exec of       of a new pid            its own group,
//!    │    └─ orders ───┘│ the binary   namespace               identity, cgroup
//!   Ward ───── link ────┴──────────────┘                       (one of these for each program)
//! ```
//!
//! * The **daemon** has many threads, so nothing of ours may run between its fork and an exec.
//!   It only spawns `/proc/self/exe shepherd`, once, with a socket for orders as descriptor 0.
//! * The **keeper** is that process. It has one thread and little memory, so its forks are cheap:
//!   it forks an init into new namespaces for each order, and then only waits: for inits to end
//!   (then it reaps them) or for a link to close (then it kills that init). It is the daemon's
//!   only child; inits never become zombies of anybody else, whoever pid 1 of the machine is.
//! * The **init** reaps orphans, passes signals on and reports. When it ends, the kernel kills
//!   every process of the namespace: double forks and new sessions do not escape.
//! * The **program** is what the caller asked for. Only it and its descendants enter the cgroup,
//!   so a frozen session still has an init that serves, and still dies with its daemon.
//!
//! An init whose program has ended and left neither processes nor mounts behind is **free**: it
//! stays, and the next order goes to it. So most programs cost one vfork and their own exec; the
//! first, and one that follows an untidy one, a fork and two namespaces as well.
//!
//! # Messages
//!
//! Orders and links are pairs of SOCK_SEQPACKET sockets; a message is one JSON value ([`link`]).
//! Both ends are the same binary, so the encoding is nobody's wire format.
//!
//! ```text
//!  daemon → keeper   Run(Spec), carrying a link, stdin, stdout, stderr (a long one: in a memfd),
//!                    and where nothing may be executed what is to be in its place (Instead)
//!  daemon → init     Run(Spec), to a free one: the same without a link
//!  keeper → daemon   Init, carrying a pidfd of the init        (kept inside Ward)
//!  init   → daemon   Started, its credentials naming the program: the kernel translates
//!                    that pid into the daemon's namespace
//!  any    → daemon   Failed { stage, errno, what }
//!  daemon → init     Signal(n)
//!  init   → daemon   Exited { status, usage, is_left, is_free }
//!  (end of file, or is_free)   the tree is gone: Report::Gone
//! ```
//!
//! All but the first travel over the init's link.
//!
//! What the caller sees is one of
//! `Failed Gone`, `Started Exited Gone`, `Started Gone` and `Gone`; and `Exited Gone`, if nobody
//! waits to hear of the start and the program has ended within 5 ms.
//! [`Report::Gone`] always comes, once and last. Without an `Exited` or `Failed` before it the
//! tree was killed from outside. `Exited` says that the *program* has ended, not its
//! descendants: init stays until the last of them has gone or the caller ends them with
//! [`Ward::kill`].
//!
//! Signals sent before the program runs wait in the link: init reads it only after `Started`.
//!
//! # Who may die when
//!
//! * **The program, before its exec**: it has the init's memory on loan until then, as after
//!   vfork(2), and leaves there why it could not be executed. Nothing there means that it was, or
//!   that a signal struck, and `Exited` tells. The init waits meanwhile, but not for SIGKILL.
//! * **The daemon, at any moment** (kill -9 included): orders and links close. The keeper sees
//!   that even when an init is busy or stopped, and inits see it even when the keeper is stopped.
//!   A link whose order nobody has read closes with the orders. Parent-death signals would not do
//!   here: they follow the spawning *thread*.
//! * **The keeper**: inits get SIGKILL as their parent-death signal (the keeper has one thread,
//!   so here that is sound) and check a pidfd of the keeper once after asking for it, which
//!   closes the window before. The daemon sees the links end, and starts another keeper with the
//!   next program.
//! * **The init**: the keeper reaps it, which the kernel allows only after every process of the
//!   namespace is gone, and leaves. Hence end of file means that nothing is left.
//! * **A free init**: an order is sent only to one that lives, by its pidfd; if it is killed just
//!   then, its program counts as killed. When the machine's mounts change, the daemon lets go of
//!   all that are free: theirs are a copy ([`spare`]).
//! * **Stopped or frozen processes**: [`Ward::kill`] sends SIGKILL through the init's pidfd,
//!   which a stopped process cannot defer, and wakes the keeper with SIGCONT.
//!
//! # Privileges
//!
//! As root the namespaces are made directly and the program alone drops to its identity, checks
//! that the drop happened, and only then touches paths the caller named. Otherwise a user
//! namespace that maps the user to itself gives the right to the other two. A namespace script
//! of a dropped identity runs in a user namespace of that user: never with root's power.
//! `no_new_privs` stays off: setuid programs work where the user is not inside a user namespace.

pub mod link;
pub mod script;
pub mod spec;

mod account;
mod init;
mod keeper;
mod namespace;
mod program;
mod spare;
mod spawner;
mod sys;
mod ward;

pub use keeper::child_main;
pub(in crate::node) use link::FILES_MAX;
pub use link::{Failure, Stage};
pub use script::{NsCommand, ScriptError};
pub(crate) use spare::{Mounts, Spares};
pub use spawner::{Error, Spawner, Stdio};
pub use spec::{FILES, Identity, Instead, Invalid, Spec};
pub use sys::keep_descriptors;
pub use ward::{Report, Ward};
