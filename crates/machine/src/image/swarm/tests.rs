//! The exchange on its own: any story ends with everybody having all, no source is overrun, nobody
//! is sent to a liar twice; and links of one speed carry an image to many as fast as to one.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const NOW: Duration = Duration::ZERO;

/// Clients, and what they were granted and have not told the end of.
struct Story {
    swarm: Swarm,
    chunks: u32,
    clients: Vec<Client>,
    open: Vec<Grant>,
    liars: BTreeSet<Client>,
    accused: BTreeSet<Client>,
    left: BTreeSet<Client>,
    has: BTreeSet<(Client, Chunk)>,
    /// How often the server gave each chunk.
    given: BTreeMap<Chunk, u32>,
}

impl Story {
    fn new(chunks: u32) -> Story {
        Story {
            swarm: Swarm::new(chunks),
            chunks,
            clients: Vec::new(),
            open: Vec::new(),
            liars: BTreeSet::new(),
            accused: BTreeSet::new(),
            left: BTreeSet::new(),
            has: BTreeSet::new(),
            given: BTreeMap::new(),
        }
    }

    fn enter(&mut self, serves: bool, lies: bool) {
        let client = self.swarm.enter();
        if serves || lies {
            self.swarm.serves(client, NOW);
        }
        if lies {
            self.liars.insert(client);
            (0..self.chunks).for_each(|chunk| self.swarm.has(client, chunk, NOW));
        } else {
            self.clients.push(client);
        }
        self.look();
    }

    /// Takes what was granted, and checks it.
    fn look(&mut self) {
        for grant in self.swarm.granted() {
            assert!(!self.left.contains(&grant.to), "{grant:?} to one who has left");
            assert!(!self.has.contains(&(grant.to, grant.chunk)), "{grant:?}, who has it");
            let twice = |open: &Grant| (open.to, open.chunk) == (grant.to, grant.chunk);
            assert!(!self.open.iter().any(twice), "{grant:?} twice");
            match grant.from {
                None => *self.given.entry(grant.chunk).or_default() += 1,
                Some(from) => {
                    assert!(from != grant.to && !self.left.contains(&from), "{grant:?}");
                    assert!(!self.accused.contains(&from), "{grant:?} from a known liar");
                    let has = self.has.contains(&(from, grant.chunk));
                    assert!(has || self.liars.contains(&from), "{grant:?}, who lacks it");
                }
            }
            self.open.push(grant);
            let from = self.open.iter().filter(|open| open.from == grant.from);
            assert!(from.count() <= IMAGE_WINDOW, "{grant:?} is too much");
        }
    }

    fn end(&mut self, at: usize, fault: Option<Fault>) {
        let grant = self.open.swap_remove(at);
        let lies = grant.from.is_some_and(|from| self.liars.contains(&from));
        match if lies { Some(Fault::Lied) } else { fault } {
            Some(fault) => {
                if fault == Fault::Lied {
                    self.accused.extend(grant.from);
                }
                self.swarm.failed(grant.to, grant.chunk, fault, NOW);
            }
            None => {
                self.has.insert((grant.to, grant.chunk));
                self.swarm.has(grant.to, grant.chunk, NOW);
            }
        }
        self.look();
    }

    fn leave(&mut self, client: Client) {
        self.clients.retain(|other| *other != client);
        self.left.insert(client);
        self.open.retain(|grant| grant.to != client);
        self.swarm.leave(client, NOW);
        self.look();
    }

    fn ask(&mut self, client: Client) {
        self.swarm.ask(client, NOW);
        self.look();
    }

    /// Everybody goes on until all have all.
    fn finish(&mut self) {
        for _ in 0..self.clients.len() * self.chunks as usize * 4 + 100 {
            for client in self.clients.clone() {
                while self.swarm.ask(client, NOW) {}
            }
            self.look();
            let Some(last) = self.open.len().checked_sub(1) else { break };
            // Who was sent to one that is gone finds out.
            let gone = self.open[last].from.is_some_and(|from| self.left.contains(&from));
            self.end(last, gone.then_some(Fault::Lost));
        }
        assert!(self.clients.iter().all(|client| self.swarm.is_whole(*client)));
    }
}

#[derive(Clone, Debug)]
enum Event {
    Enter { serves: bool, lies: bool },
    Leave(usize),
    Ask(usize),
    Withdraw(usize),
    Has(usize),
    Lost(usize),
}

fn event() -> impl Strategy<Value = Event> {
    let which = 0..1000_usize;
    prop_oneof![
        1 => (any::<bool>(), prop::bool::weighted(0.2))
            .prop_map(|(serves, lies)| Event::Enter { serves, lies }),
        1 => which.clone().prop_map(Event::Leave),
        6 => which.clone().prop_map(Event::Ask),
        1 => which.clone().prop_map(Event::Withdraw),
        6 => which.clone().prop_map(Event::Has),
        1 => which.prop_map(Event::Lost),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_everybody_who_stays_gets_all_from_none_that_lied(
        chunks in 1..150_u32,
        events in prop::collection::vec(event(), 0..200),
    ) {
        let mut story = Story::new(chunks);
        for event in events {
            let client = |which: usize| story.clients.get(which % story.clients.len().max(1));
            match event {
                Event::Enter { serves, lies } => story.enter(serves, lies),
                Event::Leave(which) => if let Some(client) = client(which).copied() {
                    story.leave(client);
                },
                Event::Ask(which) => if let Some(client) = client(which).copied() {
                    story.ask(client);
                },
                Event::Withdraw(which) => if let Some(client) = client(which).copied() {
                    story.swarm.withdraw(client);
                },
                Event::Has(which) => if !story.open.is_empty() {
                    story.end(which % story.open.len(), None);
                },
                Event::Lost(which) => if !story.open.is_empty() {
                    story.end(which % story.open.len(), Some(Fault::Lost));
                },
            }
        }
        story.finish();
        // What is left of the books when all have gone is nothing.
        for client in story.clients.clone() {
            story.leave(client);
        }
        for liar in story.liars.clone() {
            story.swarm.leave(liar, NOW);
        }
        prop_assert!(story.swarm.copies.iter().all(|copies| *copies == 0));
        prop_assert_eq!(story.swarm.uploads, 0);
    }
}

#[test]
fn who_says_nothing_of_a_grant_keeps_the_source_from_nobody() {
    let mut story = Story::new(8);
    story.enter(true, false);
    while story.swarm.ask(1, NOW) {}
    story.look();
    assert_eq!(story.open.len(), IMAGE_WINDOW);
    story.enter(true, false);
    story.ask(2);
    assert_eq!(story.open.len(), IMAGE_WINDOW, "the server has no more to give");
    story.open.clear();
    story.swarm.expire(IMAGE_GRANT_TIME + Duration::from_millis(1));
    story.look();
    assert!(story.open.iter().any(|grant| grant.to == 2));
}

#[test]
fn a_helper_that_two_have_lost_is_named_to_nobody() {
    let mut story = Story::new(64);
    story.enter(true, false);
    for chunk in 0..64 {
        story.has.insert((1, chunk));
        story.swarm.has(1, chunk, NOW);
    }
    for client in [2, 3, 4] {
        story.enter(false, false);
        while story.swarm.ask(client, NOW) {}
        story.look();
        let from = |grant: &Grant| grant.to == client && grant.from == Some(1);
        let at = story.open.iter().position(from);
        assert_eq!(at.is_some(), client < 4, "client {client}: {:?}", story.open);
        while let Some(at) = story.open.iter().position(from) {
            story.end(at, Some(Fault::Lost));
        }
    }
    assert_eq!(story.swarm.count(), (4, 0));
}

/// Seconds until so many clients have so many chunks over links of one speed, up and down alike:
/// what shares a link shares it equally, and each word takes `delay` to the server and back.
fn simulated(clients: u32, chunks: u32, delay: f64) -> (f64, u32) {
    const CHUNK_TIME: f64 = 0.044; // 512 KiB at 100 Mbit/s
    let mut swarm = Swarm::new(chunks);
    let all: Vec<Client> = (0..clients).map(|_| swarm.enter()).collect();
    // What happens to a grant: it is told, the chunk comes, that is told.
    struct Flow {
        grant: Grant,
        begins: f64,
        left: f64,
    }
    let (mut flows, mut told, mut now) = (Vec::<Flow>::new(), Vec::<(f64, Grant)>::new(), 0.0);
    let (mut finished, mut by_server) = (0, 0);
    for client in &all {
        swarm.serves(*client, NOW);
        while swarm.ask(*client, NOW) {}
    }
    loop {
        for grant in swarm.granted() {
            by_server += u32::from(grant.from.is_none());
            flows.push(Flow { grant, begins: now + delay, left: 1.0 });
        }
        let runs = |flow: &Flow| flow.begins <= now + 1e-9;
        let (mut up, mut down) = (BTreeMap::new(), BTreeMap::new());
        for flow in flows.iter().filter(|flow| runs(flow)) {
            *up.entry(flow.grant.from).or_insert(0.0) += 1.0;
            *down.entry(flow.grant.to).or_insert(0.0) += 1.0;
        }
        let share = |flow: &Flow| -> f64 { f64::max(up[&flow.grant.from], down[&flow.grant.to]) };
        let next = flows.iter().map(|flow| match runs(flow) {
            true => now + flow.left * share(flow) * CHUNK_TIME,
            false => flow.begins,
        });
        let next = next.chain(told.iter().map(|(at, _)| *at)).fold(f64::MAX, f64::min);
        let passed = next - now;
        let rates: Vec<f64> =
            flows.iter().map(|flow| if runs(flow) { 1.0 / share(flow) } else { 0.0 }).collect();
        for (flow, rate) in flows.iter_mut().zip(rates) {
            flow.left -= rate * passed / CHUNK_TIME;
        }
        now = next;
        flows.retain(|flow| {
            let is_done = flow.left < 1e-9;
            if is_done {
                told.push((now + delay, flow.grant));
            }
            !is_done
        });
        let at = Duration::from_secs_f64(now);
        for (_, Grant { to, chunk, .. }) in told.extract_if(.., |(at, _)| *at <= now + 1e-9) {
            swarm.has(to, chunk, at);
            finished += u32::from(swarm.is_whole(to));
            while swarm.ask(to, at) {}
        }
        if finished == clients {
            return (now, by_server);
        }
    }
}

#[test]
fn over_links_of_one_speed_many_take_an_image_nearly_as_fast_as_one() {
    let chunks = 64;
    let (one, _) = simulated(1, chunks, 0.02);
    for clients in [4, 16, 64] {
        let (time, by_server) = simulated(clients, chunks, 0.02);
        println!("{clients}: {time:.2} s, {:.2} of one's; the server gave {by_server}", time / one);
        assert!(time <= 1.5 * one, "{clients} clients take {time} s, one takes {one} s");
        assert!(by_server <= 2 * chunks, "the server gave {by_server} chunks of {chunks}");
    }
}
