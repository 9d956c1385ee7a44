use super::super::message::Message;
use super::*;
use proptest::prelude::*;

const TERM: u64 = 1 << 40;

fn page() -> Vec<Vec<u8>> {
    let page = include_str!("../../../../../docs/wire/primitives.md");
    let blocks = page.split("```hex\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let read = |text: &str| {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        let pair =
            |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks(2).map(pair).collect::<Vec<u8>>()
    };
    let mut blocks: Vec<&str> = blocks.collect();
    let lines = blocks.pop().expect("the block of short messages");
    blocks.into_iter().chain(lines.lines()).map(read).collect()
}

fn nodes(ranges: &[(u32, u32)]) -> Nodes {
    Nodes::from_ranges(ranges).unwrap()
}

fn linked(epoch: u64, numbers: [u64; 3], carried: Carried) -> Message {
    let [expected, done, number] = numbers;
    Message::Linked { epoch, number, expected, done, carried }
}

fn op(origin: u32, number: u64) -> Op {
    Op { origin: NodeId(origin), number }
}

fn compare(variable: u32, relation: Relation, value: u64, write: Option<(u32, u64)>) -> What {
    What::Compare { variable, relation, value, write }
}

/// What the page says that its samples mean.
fn meant() -> Vec<Message> {
    let epoch = TERM | 1;
    let what = What::Transfer { region: 1, offset: 16, event: Some(9) };
    let put = Work { op: op(5, TERM | 2), set: nodes(&[(0, 4), (7, 7)]), what };
    let what = compare(2, Relation::AtLeast, 300, Some((4, 1)));
    let win = Work { op: op(3, TERM | 1), set: nodes(&[(3, 3)]), what };
    let what = compare(0, Relation::NotEqual, 0, None);
    let query = Work { op: op(1, TERM), set: nodes(&[(1, 1)]), what };
    let opening = Opening {
        members: nodes(&[(0, 9)]),
        joined: nodes(&[(4, 4)]),
        apart: nodes(&[(6, 6)]),
        last: TERM | 7,
        stable: TERM | 6,
        written: vec![Wrote { variable: 0, seq: TERM | 5, value: 8 }],
    };
    let account = Account {
        epoch,
        members: nodes(&[(0, 1)]),
        stable: TERM | 6,
        written: vec![],
        known: vec![Known { seq: TERM | 7, outcome: None, work: Arc::new(query) }],
    };
    let gone = Outcome::NotMember(NodeId(7));
    let renewal = |(node, stamp)| Renewal { node: NodeId(node), stamp };
    let renewals: Vec<Renewal> = [(2, 1000), (5, 900)].map(renewal).into();
    let stage = Carried::Stage(TERM | 6, Arc::new(put), Payload::default());
    vec![
        linked(epoch, [4, TERM | 5, 3], stage),
        linked(epoch, [0, 0, 1], Carried::Decide(TERM | 7, gone, Arc::new(win))),
        linked(TERM | 2, [0, 0, 0], Carried::Open(Arc::new(opening))),
        Message::Report { epoch: 2 * TERM, account },
        linked(epoch, [3, TERM | 2, 1], Carried::Staged(TERM | 6, true)),
        Message::Flush { epoch, expected: 3, done: TERM | 2 },
        Message::Taken { epoch, expected: 3, again: true },
        Message::Renew { epoch, renewals: renewals.clone() },
        Message::Granted { epoch, renewals },
        Message::Apart { epoch },
        Message::Join { epoch, incarnation: 2 },
        Message::Standing { epoch, incarnation: 2, member: false },
        Message::Collect { epoch: 2 * TERM },
        linked(epoch, [0, 0, 3], Carried::Tell(Payload::default())),
        Message::Heard { epoch, expected: 4 },
    ]
}

#[test]
fn the_documented_samples_mean_what_the_page_says() {
    for (sample, meant) in page().iter().zip(meant()) {
        assert_eq!(Message::decode(sample, Payload::default()), Ok(meant.clone()), "{sample:02x?}");
        assert_eq!(&meant.encode().0, sample);
    }
    assert_eq!(page().len(), meant().len());
}

#[test]
fn a_set_of_more_ranges_than_a_set_may_have_is_an_error() {
    let message = |ranges: u32| {
        let set = (0..ranges).map(|node| NodeId(2 * node)).collect();
        let what = compare(0, Relation::Equal, 0, None);
        let work = Arc::new(Work { op: op(1, TERM), set, what });
        linked(TERM, [0; 3], Carried::Stage(TERM, work, Payload::default())).encode()
    };
    let most = u32::try_from(SET_RANGES_MAX).unwrap();
    let (head, body) = message(most);
    assert!(Message::decode(&head, body).is_ok());
    let (head, body) = message(most + 1);
    assert_eq!(Message::decode(&head, body), Err("a node set of too many ranges"));
}

#[test]
fn a_list_longer_than_its_message_takes_no_memory() {
    let (head, _) = meant()[2].encode();
    let mut lying = head.clone();
    lying[33..37].fill(0xff);
    let decoded = Message::decode(&lying, Payload::default());
    assert_eq!(decoded, Err("a list longer than the message"));
}

proptest! {
    #[test]
    fn garbage_is_an_error_or_means_what_it_says(
        kind in 0u8..18, bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let head = [&[kind], &bytes[..]].concat();
        if let Ok(message) = Message::decode(&head, Payload::default()) {
            prop_assert_eq!(message.encode().0, head);
        }
    }

    #[test]
    fn a_damaged_message_is_an_error_or_means_what_it_says(
        which in 0usize..14, at in any::<prop::sample::Index>(), value: u8, cut in 0usize..9,
    ) {
        let (mut head, _) = meant()[which].encode();
        let at = at.index(head.len());
        head[at] = value;
        head.truncate(head.len() - cut.min(head.len()));
        if let Ok(message) = Message::decode(&head, Payload::default()) {
            prop_assert_eq!(message.encode().0, head);
        }
    }
}
