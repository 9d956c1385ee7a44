//! Letters as all nodes read them: of one that many get, the reading is done once and shared, which
//! changes nothing but how long the simulation takes.

use muster_fabric::protocol::Payload;
use muster_machine::chunk::Hash;
use muster_machine::launch::Order;
use std::cell::RefCell;
use std::rc::Rc;

/// Letters kept at once: those that are on their way.
const KEPT: usize = 16;

/// The last letters.
#[derive(Default)]
pub(super) struct Reader {
    orders: RefCell<Vec<(Payload, Rc<Order>)>>,
    chunks: RefCell<Vec<(Payload, Hash)>>,
}

impl Reader {
    /// The order in a letter of the manager's.
    ///
    /// # Panics
    /// When it is none: the manager is ours.
    pub fn order(&self, letter: &Payload) -> Rc<Order> {
        let mut orders = self.orders.borrow_mut();
        if let Some((_, order)) = orders.iter().find(|(known, _)| known.is_same(letter)) {
            return order.clone();
        }
        let order = Rc::new(Order::read(letter).expect("the manager's orders can be read"));
        keep(&mut orders, (letter.clone(), order.clone()));
        order
    }

    /// Whether the bytes of a chunk's letter are those of its hash.
    pub fn is_of(&self, hash: &Hash, letter: &Payload, bytes: &[u8]) -> bool {
        let mut chunks = self.chunks.borrow_mut();
        if let Some((_, known)) = chunks.iter().find(|(known, _)| known.is_same(letter)) {
            return known == hash;
        }
        let of = Hash::of(bytes);
        keep(&mut chunks, (letter.clone(), of));
        of == *hash
    }
}

fn keep<T>(known: &mut Vec<T>, one: T) {
    if known.len() == KEPT {
        known.remove(0);
    }
    known.push(one);
}
