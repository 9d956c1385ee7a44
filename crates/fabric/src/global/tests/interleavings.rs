//! The board of a member, in every interleaving within loom's bounds (`cargo xtask loom`): a wait
//! that nobody ends would stop the model.

use super::*;
use crate::global::board::{Board, Membership};
use crate::protocol::Time;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;

const ME: NodeId = NodeId(1);

fn board() -> Arc<Board> {
    Arc::new(Board::new(ME, NodeId(0), 1))
}

/// Both nodes, from that epoch on.
fn open(board: &Board, epoch: u64) {
    board.open(epoch, Nodes::range(0..=1), &Nodes::none(), Nodes::none());
}

/// The lease lasts, and what was signalled is wanted more often than once.
fn wait_twice(board: &Board) -> Result<u64> {
    board.wait_event(0, 1, || Time(0), soon())
}

/// A board whose node is a member and may speak.
fn speaking() -> Arc<Board> {
    let board = board();
    open(&board, 1);
    board.speak_until(Some(Time(1)));
    board
}

#[test]
fn who_waits_for_signals_hears_of_them_in_every_interleaving() {
    loom::model(|| {
        let board = speaking();
        let signals = [0, 1].map(|_| {
            let board = board.clone();
            thread::spawn(move || board.signal(0))
        });
        assert_eq!(wait_twice(&board).unwrap(), 2);
        signals.into_iter().for_each(|signal| signal.join().unwrap());
    });
}

#[test]
fn who_waits_for_an_event_is_told_when_it_may_speak_in_every_interleaving() {
    loom::model(|| {
        let board = board();
        open(&board, 1);
        let grant = {
            let board = board.clone();
            thread::spawn(move || board.speak_until(Some(Time(1))))
        };
        board.signal(0);
        assert_eq!(board.wait_event(0, 0, || Time(0), soon()).unwrap(), 1);
        grant.join().unwrap();
    });
}

#[test]
fn who_waits_for_an_event_hears_that_its_node_is_no_member_in_every_interleaving() {
    loom::model(|| {
        let board = speaking();
        let removal = {
            let board = board.clone();
            thread::spawn(move || {
                board.speak_until(None);
                board.remove(2);
            })
        };
        board.signal(0);
        assert!(matches!(wait_twice(&board), Err(Error::NotMember { .. })));
        removal.join().unwrap();
    });
}

#[test]
fn who_waits_hears_of_the_end_in_every_interleaving() {
    loom::model(|| {
        let board = speaking();
        let other = {
            let board = board.clone();
            thread::spawn(move || board.wait_epoch(1, soon()))
        };
        let end = {
            let board = board.clone();
            thread::spawn(move || board.end())
        };
        assert!(matches!(wait_twice(&board), Err(Error::Closed { .. })));
        assert!(matches!(other.join().unwrap(), Err(Error::Closed { .. })));
        end.join().unwrap();
    });
}

#[test]
fn who_waits_for_an_epoch_sees_all_of_one_in_every_interleaving() {
    loom::model(|| {
        let board = board();
        let epochs = {
            let board = board.clone();
            thread::spawn(move || {
                open(&board, 1);
                board.remove(2);
            })
        };
        let Membership { epoch, members, .. } = board.wait_epoch(0, soon()).unwrap();
        let both = if members.is_empty() { 2 } else { 1 };
        assert_eq!(epoch, both, "members are those of their epoch");
        epochs.join().unwrap();
    });
}

#[test]
fn nothing_is_said_once_the_lease_has_ended_in_every_interleaving() {
    loom::model(|| {
        let (board, clock) = (speaking(), Arc::new(AtomicU64::new(0)));
        let others = {
            let (board, clock) = (board.clone(), clock.clone());
            thread::spawn(move || {
                // The others go on without this node once its lease has ended.
                clock.store(1, Ordering::SeqCst);
                board.signal(0);
            })
        };
        let count = board.count(0, || Time(clock.load(Ordering::SeqCst)));
        assert!(!matches!(count, Ok(1..)), "what came after the lease was told: {count:?}");
        others.join().unwrap();
    });
}
