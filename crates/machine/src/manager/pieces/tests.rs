//! Who sends when, and what to whom.

use super::*;
use crate::manager::job::Birth;
use crate::manager::place::Place;
use crate::manager::progress::Bears;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whoever looked first had it, and who had not had one for a minute failed, however many were
/// served meanwhile: of an array whose jobs start together, say.
#[test]
fn who_waits_for_a_variable_gets_it_in_turn_and_waits_as_long_as_others_go_on() {
    let birth = Birth { id: 1, attempt: 1, requeued: Vec::new(), submitted: 0.0, view: None };
    let job = Job::of(Weak::new(), birth);
    let place = Place { node: "n0".to_owned(), local: 0 };
    job.state().progress.placed(vec![place], vec![1], Bears::default());
    let shipments = Shipments::default();
    let (took, free) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let take = |who| {
        let take_one = |_: &mut Busy| {
            let mut took = took.lock().unwrap();
            (took.len() < free.load(Ordering::Relaxed)).then(|| took.push(who))
        };
        shipments.take(&job, Want::Variable, take_one).unwrap();
    };
    let waiting = || shipments.lock().shipping.waiting(Want::Variable);
    std::thread::scope(|threads| {
        for who in 0..9 {
            threads.spawn(move || take(who));
            while waiting() <= who {
                std::thread::yield_now();
            }
        }
        for left in (0..9).rev() {
            free.fetch_add(1, Ordering::Relaxed);
            while waiting() > left {
                std::thread::yield_now();
            }
        }
    });
    assert_eq!(took.into_inner().unwrap(), (0..9).collect::<Vec<_>>());
}

/// Who is ended while he waits is in nobody's way.
#[test]
fn a_job_that_is_ended_while_it_waits_to_send_files_leaves_its_place() {
    let birth = Birth { id: 1, attempt: 1, requeued: Vec::new(), submitted: 0.0, view: None };
    let job = Job::of(Weak::new(), birth);
    let shipments = Shipments::default();
    assert!(shipments.take(&job, Want::Piece, |_| None::<()>).is_err(), "it is not starting");
    assert_eq!(shipments.lock().shipping.waiting(Want::Piece), 0);
}

#[test]
fn a_node_that_has_left_while_files_were_sent_is_known_to_be_lost() {
    let (peer, evidence) = ("node 45".to_owned(), "its connection is closed".to_owned());
    let error = not_sent(&FabricError::Dead { peer, evidence });
    assert_eq!(error.errno, Errno::HOSTDOWN);
    assert!(error.text.contains("n44 has left the cluster"), "{error}");
    assert_eq!(not_sent(&FabricError::WouldBlock).errno, Errno::IO);
}

/// Sixteen copies of a gigabyte were lost each time after a minute.
#[test]
fn who_says_that_it_goes_on_copying_is_waited_for() {
    let began = Instant::now();
    let after = |patiences: f64| began + PATIENCE.mul_f64(patiences);
    assert!(!is_late(began, None, after(0.9)) && is_late(began, None, after(1.1)));
    assert!(!is_late(began, Some(after(10.0)), after(10.9)));
    assert!(is_late(began, Some(after(10.0)), after(11.1)));
    assert!(!is_late(after(10.0), Some(began), after(10.9)), "of something before it");
}

#[test]
fn a_chunk_is_for_the_nodes_of_all_files_that_it_is_in() {
    let is_for = |files: &[Option<&str>]| {
        let mut chunk = Chunk::new(Hash([1; 32]), 1, files[0]);
        files[1..].iter().for_each(|arch| chunk.is_also_for(*arch));
        ["arm", "x86_64", "s390x"].map(|arch| chunk.is_for(arch))
    };
    assert_eq!(is_for(&[None]), [true; 3]);
    assert_eq!(is_for(&[Some("arm")]), [true, false, false]);
    assert_eq!(is_for(&[Some("arm"), Some("arm"), Some("x86_64")]), [true, true, false]);
    assert_eq!(is_for(&[Some("arm"), None, Some("arm")]), [true; 3]);
    assert_eq!(is_for(&[None, Some("arm")]), [true; 3]);
}
