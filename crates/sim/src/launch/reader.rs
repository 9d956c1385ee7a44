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
    /// Which letter of which bundle.
    orders: RefCell<Vec<(Payload, usize, Rc<Order>)>>,
    chunks: RefCell<Vec<(Payload, Hash)>>,
}

impl Reader {
    /// An order of the manager's: which letter of a bundle it is, and as it is written.
    ///
    /// # Panics
    /// When it is none: the manager is ours.
    pub fn order(&self, (bundle, at): (&Payload, usize), letter: &[u8]) -> Rc<Order> {
        let mut orders = self.orders.borrow_mut();
        let is_it = |known: &Payload, place: usize| place == at && known.is_same(bundle);
        if let Some((.., order)) = orders.iter().find(|(known, place, _)| is_it(known, *place)) {
            return order.clone();
        }
        let order = Rc::new(Order::read(letter).expect("the manager's orders can be read"));
        keep(&mut orders, (bundle.clone(), at, order.clone()));
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
