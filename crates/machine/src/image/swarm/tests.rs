//! The exchange on its own: any story ends with everybody having all, no source is overrun, nobody
//! is sent to a liar twice or to anybody for what is cast; and links of one speed carry an image to
//! many as fast as to one.

use super::*;
use muster_base::limits::{IMAGE_CASTS, IMAGE_STALL};
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
    /// Who hears what is cast, and what they take from others all the same.
    listeners: BTreeSet<Client>,
    repairs: BTreeSet<(Client, Chunk)>,
    /// What is cast, and who has not told of it.
    casts: Vec<(Chunk, Vec<Client>)>,
    now: Duration,
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
            listeners: BTreeSet::new(),
            repairs: BTreeSet::new(),
            casts: Vec::new(),
            now: NOW,
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
            if self.listeners.contains(&grant.to)
                && !self.repairs.contains(&(grant.to, grant.chunk))
            {
                let others = self.listeners.iter().filter(|other| **other != grant.to);
                let awaits = others.filter(|other| self.awaits(**other, grant.chunk)).count();
                assert_eq!(awaits, 0, "{grant:?} is to be cast");
            }
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

    fn awaits(&self, client: Client, chunk: Chunk) -> bool {
        let is_taking = |open: &Grant| (open.to, open.chunk) == (client, chunk);
        let is_here =
            self.has.contains(&(client, chunk)) || self.repairs.contains(&(client, chunk));
        self.listeners.contains(&client) && !is_here && !self.open.iter().any(is_taking)
    }

    fn hears(&mut self, client: Client) {
        self.listeners.insert(client);
        self.swarm.hears(client, self.now);
        self.look();
    }

    /// The next chunk is cast; false if there is none.
    fn cast(&mut self) -> bool {
        let Some((chunk, _)) = self.swarm.cast() else { return false };
        let of: Vec<_> =
            self.listeners.iter().copied().filter(|one| self.awaits(*one, chunk)).collect();
        assert!(of.len() >= 2, "chunk {chunk} is cast for {of:?}");
        self.casts.push((chunk, of));
        assert!(self.casts.len() <= IMAGE_CASTS, "{:?}", self.casts);
        self.swarm.sent(chunk, self.now);
        self.look();
        true
    }

    /// One who has to tell of a cast does: what part it lost.
    fn told(&mut self, which: usize, lost: f64) {
        let Some(of) = self.casts.first().map(|(_, of)| of.clone()) else { return };
        let client = of[which % of.len()];
        let chunk = self.casts[0].0;
        self.tell(client, chunk);
        if lost == 0.0 {
            self.has.insert((client, chunk));
            self.swarm.heard(client, chunk, self.now);
        } else {
            if lost < 0.25 && self.awaits(client, chunk) {
                self.repairs.insert((client, chunk));
            }
            self.swarm.missed(client, chunk, lost, self.now);
        }
        self.look();
    }

    /// What a client has told of is not waited for.
    fn tell(&mut self, client: Client, chunk: Chunk) {
        for (_, of) in self.casts.iter_mut().filter(|(cast, _)| *cast == chunk) {
            of.retain(|other| *other != client);
        }
        self.casts.retain(|(_, of)| !of.is_empty());
    }

    fn deaf(&mut self, client: Client) {
        self.listeners.remove(&client);
        for (_, of) in &mut self.casts {
            of.retain(|other| *other != client);
        }
        self.casts.retain(|(_, of)| !of.is_empty());
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
                self.tell(grant.to, grant.chunk);
                self.swarm.has(grant.to, grant.chunk, NOW);
            }
        }
        self.look();
    }

    fn leave(&mut self, client: Client) {
        self.clients.retain(|other| *other != client);
        self.left.insert(client);
        self.open.retain(|grant| grant.to != client);
        self.deaf(client);
        self.swarm.leave(client, NOW);
        self.look();
    }

    fn ask(&mut self, client: Client) {
        self.swarm.ask(client, NOW);
        self.look();
    }

    /// Everybody goes on until all have all.
    fn finish(&mut self) {
        for _ in 0..self.clients.len() * self.chunks as usize * 8 + 100 {
            for client in self.clients.clone() {
                while self.swarm.ask(client, NOW) {}
            }
            self.look();
            while self.cast() {}
            if !self.casts.is_empty() {
                // One stands still: it is not waited for.
                let still = self.listeners.first().copied();
                let tells = self.casts[0].1.iter().position(|one| Some(*one) != still);
                match tells {
                    Some(at) => self.told(at, 0.0),
                    None => {
                        let still = still.expect("somebody is waited for");
                        self.deaf(still);
                        self.now += IMAGE_STALL + Duration::from_millis(1);
                        self.swarm.expire(self.now);
                        self.look();
                    }
                }
                continue;
            }
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
    Hears(usize),
    Deaf(usize),
    Cast,
    Told(usize),
    Missed(usize, bool),
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
        1 => which.clone().prop_map(Event::Lost),
        2 => which.clone().prop_map(Event::Hears),
        1 => which.clone().prop_map(Event::Deaf),
        4 => Just(Event::Cast),
        6 => which.clone().prop_map(Event::Told),
        2 => (which, any::<bool>()).prop_map(|(which, few)| Event::Missed(which, few)),
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
                Event::Hears(which) => if let Some(client) = client(which).copied() {
                    story.hears(client);
                },
                Event::Deaf(which) => if let Some(client) = client(which).copied() {
                    story.deaf(client);
                    story.swarm.deaf(client, NOW);
                    story.look();
                },
                Event::Cast => drop(story.cast()),
                Event::Told(which) => story.told(which, 0.0),
                Event::Missed(which, few) => story.told(which, if few { 0.1 } else { 0.9 }),
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
        prop_assert!(story.swarm.awaited.iter().all(|awaited| *awaited == 0));
        prop_assert_eq!(story.swarm.uploads, 0);
        prop_assert!(!story.swarm.is_untold() && story.swarm.waiting.is_empty());
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

#[test]
fn who_meets_one_helper_after_the_other_that_gives_nothing_takes_from_the_server() {
    let mut swarm = Swarm::new(64);
    let client = swarm.enter();
    let mut lost = 0;
    loop {
        // Whoever pretends goes and comes as another one.
        let fake = swarm.enter();
        (0..64).for_each(|chunk| swarm.has(fake, chunk, NOW));
        swarm.serves(fake, NOW);
        assert!(swarm.ask(client, NOW));
        let granted = swarm.granted();
        let [Grant { chunk, from, .. }] = granted[..] else { panic!("{granted:?}") };
        let Some(helper) = from else { break };
        assert_eq!(helper, fake);
        swarm.failed(client, chunk, Fault::Lost, NOW);
        swarm.leave(fake, NOW);
        lost += 1;
        assert!(lost < 10, "it is sent to all of them");
    }
    assert!(lost > 1, "one that is lost is nobody's fault");
}

/// One that has all chunks and gives them.
fn helper(swarm: &mut Swarm, chunks: u32) -> Client {
    let helper = swarm.enter();
    (0..chunks).for_each(|chunk| swarm.has(helper, chunk, NOW));
    swarm.serves(helper, NOW);
    helper
}

/// What a client is given that asks once.
fn asked(swarm: &mut Swarm, client: Client) -> Grant {
    assert!(swarm.ask(client, NOW));
    swarm.granted().pop().expect("somebody has something")
}

#[test]
fn whose_helpers_all_leave_at_once_takes_from_others_again() {
    for given in [0, 8] {
        let mut swarm = Swarm::new(64);
        let client = swarm.enter();
        let first = helper(&mut swarm, 64);
        for _ in 0..given {
            let grant = asked(&mut swarm, client);
            assert_eq!(grant.from, Some(first));
            swarm.has(client, grant.chunk, NOW);
        }
        swarm.leave(first, NOW);
        for _ in 0..DISAPPOINTED {
            let helper = helper(&mut swarm, 64);
            let grant = asked(&mut swarm, client);
            assert_eq!(grant.from, Some(helper));
            swarm.leave(helper, NOW);
            swarm.failed(client, grant.chunk, Fault::Lost, NOW);
        }
        let next = helper(&mut swarm, 64);
        let grant = asked(&mut swarm, client);
        assert_eq!(grant.from, (given > 0).then_some(next), "{given} were given");
        swarm.has(client, grant.chunk, NOW);
        assert_eq!(asked(&mut swarm, client).from, Some(next), "the server's chunk consoles");
    }
}

#[test]
fn who_is_disappointed_again_is_consoled_by_some_chunks_of_the_server_only() {
    let mut swarm = Swarm::new(64);
    let client = swarm.enter();
    let mut from_server = 0;
    for lost in 0..DISAPPOINTED + 2 {
        let helper = helper(&mut swarm, 64);
        let grant = loop {
            let grant = asked(&mut swarm, client);
            if grant.from == Some(helper) {
                break grant;
            }
            from_server += 1;
            swarm.has(client, grant.chunk, NOW);
        };
        let due = [0, 1, 1 + CONSOLED][(lost + 1 - DISAPPOINTED).max(0) as usize];
        assert_eq!(from_server, due, "{lost} were lost");
        swarm.failed(client, grant.chunk, Fault::Lost, NOW);
        swarm.leave(helper, NOW);
    }
}

/// Equal links, as [`simulated`] has them.
#[derive(Clone, Copy, Default)]
struct Lab {
    clients: u32,
    chunks: u32,
    /// Seconds that each word takes to the server and back.
    delay: f64,
    /// So many of the clients hear multicast, and one comes so many seconds after the other.
    hear: u32,
    pause: f64,
}

/// What happens to a grant or a cast: it is told, the chunk comes, that is told.
struct Flow {
    to: Vec<Client>,
    chunk: Chunk,
    from: Option<Client>,
    is_cast: bool,
    begins: f64,
    left: f64,
}

/// How it went.
#[derive(Debug)]
struct Went {
    time: f64,
    by_server: u32,
    casts: u32,
}

/// Seconds until all have all over links of one speed, up and down alike: what shares a link
/// shares it equally.
fn simulated(lab: Lab) -> Went {
    const CHUNK_TIME: f64 = 0.044; // 512 KiB at 100 Mbit/s
    let mut swarm = Swarm::new(lab.chunks);
    let (mut flows, mut told) = (Vec::<Flow>::new(), Vec::<(f64, Client, Chunk, bool)>::new());
    let mut went = Went { time: 0.0, by_server: 0, casts: 0 };
    let (mut finished, mut came) = (0, 0);
    while finished < lab.clients {
        let now = went.time;
        let at = Duration::from_secs_f64(now);
        while came < lab.clients && f64::from(came) * lab.pause <= now + 1e-9 {
            let client = swarm.enter();
            came += 1;
            swarm.serves(client, at);
            if came <= lab.hear {
                swarm.hears(client, at);
            }
            while swarm.ask(client, at) {}
        }
        for Grant { to, chunk, from } in swarm.granted() {
            went.by_server += u32::from(from.is_none());
            let (to, begins) = (vec![to], now + lab.delay);
            flows.push(Flow { to, chunk, from, is_cast: false, begins, left: 1.0 });
        }
        // One cast leaves after the other.
        if !flows.iter().any(|flow| flow.is_cast)
            && let Some((chunk, _)) = swarm.cast()
        {
            went.casts += 1;
            let awaits = |client: &Client| swarm.members[client].awaits(chunk);
            let to = swarm.members.keys().copied().filter(awaits).collect();
            flows.push(Flow { to, chunk, from: None, is_cast: true, begins: now, left: 1.0 });
        }
        step(&mut flows, &mut told, &mut went.time, (lab, came, CHUNK_TIME));
        let at = Duration::from_secs_f64(went.time);
        let over = flows.extract_if(.., |flow| flow.left < 1e-9);
        for flow in over.collect::<Vec<_>>() {
            if flow.is_cast {
                swarm.sent(flow.chunk, at);
            }
            let words = flow.to.iter();
            told.extend(words.map(|to| (went.time + lab.delay, *to, flow.chunk, flow.is_cast)));
        }
        let is_due = |(when, ..): &mut (f64, Client, Chunk, bool)| *when <= went.time + 1e-9;
        for (_, to, chunk, is_cast) in told.extract_if(.., is_due).collect::<Vec<_>>() {
            match is_cast {
                true => swarm.heard(to, chunk, at),
                false => swarm.has(to, chunk, at),
            }
            finished += u32::from(swarm.is_whole(to));
            while swarm.ask(to, at) {}
        }
    }
    went
}

/// Until the next thing happens.
fn step(
    flows: &mut [Flow],
    told: &mut [(f64, Client, Chunk, bool)],
    time: &mut f64,
    (lab, came, chunk_time): (Lab, u32, f64),
) {
    let now = *time;
    let runs = |flow: &Flow| flow.begins <= now + 1e-9;
    let (mut up, mut down) = (BTreeMap::new(), BTreeMap::new());
    for flow in flows.iter().filter(|flow| runs(flow)) {
        *up.entry(flow.from).or_insert(0.0) += 1.0;
        flow.to.iter().for_each(|to| *down.entry(*to).or_insert(0.0) += 1.0);
    }
    let share = |flow: &Flow| -> f64 {
        flow.to.iter().fold(up[&flow.from], |share, to| f64::max(share, down[to]))
    };
    let next = flows.iter().map(|flow| match runs(flow) {
        true => now + flow.left * share(flow) * chunk_time,
        false => flow.begins,
    });
    let comes = (came < lab.clients).then_some(f64::from(came) * lab.pause);
    let next = next.chain(told.iter().map(|(at, ..)| *at)).chain(comes).fold(f64::MAX, f64::min);
    assert!(next < f64::MAX, "nobody does anything any more");
    let rates: Vec<f64> =
        flows.iter().map(|flow| if runs(flow) { 1.0 / share(flow) } else { 0.0 }).collect();
    for (flow, rate) in flows.iter_mut().zip(rates) {
        flow.left -= rate * (next - now) / chunk_time;
    }
    *time = next;
}

#[test]
fn over_links_of_one_speed_many_take_an_image_nearly_as_fast_as_one() {
    let chunks = 64;
    let lab = Lab { clients: 1, chunks, delay: 0.02, ..Lab::default() };
    let one = simulated(lab).time;
    for clients in [4, 16, 64] {
        let went = simulated(Lab { clients, ..lab });
        println!("{clients}: {:.2} of one's; {went:?}", went.time / one);
        assert!(went.time <= 1.5 * one, "{clients} clients: {went:?}, one takes {one} s");
        assert!(went.by_server <= 2 * chunks, "{went:?}");
    }
}

#[test]
fn those_who_hear_multicast_take_an_image_as_fast_as_one_and_each_chunk_is_cast_about_once() {
    let chunks = 64;
    let lab = Lab { clients: 1, chunks, delay: 0.002, ..Lab::default() };
    let one = simulated(lab).time;
    for clients in [2, 4, 16, 64] {
        let went = simulated(Lab { clients, hear: clients, ..lab });
        println!("{clients}: {:.2} of one's; {went:?}", went.time / one);
        assert!(went.time <= 1.1 * one, "{clients} clients: {went:?}, one takes {one} s");
        assert!(went.casts <= chunks && went.by_server <= 2 * IMAGE_WINDOW as u32, "{went:?}");
        // One comes after the other, over a tenth of the time; then half of them hear nothing.
        let pause = 0.1 * one / f64::from(clients);
        let went = simulated(Lab { clients, hear: clients, pause, ..lab });
        println!("  one after the other: {:.2} of one's; {went:?}", went.time / one);
        assert!(went.time <= 1.25 * one, "{clients} clients: {went:?}, one takes {one} s");
        assert!(went.casts <= chunks + chunks / 5, "{went:?}");
        let went = simulated(Lab { clients, hear: clients / 2, ..lab });
        println!("  half of them: {:.2} of one's; {went:?}", went.time / one);
        assert!(went.time <= 1.3 * one, "{clients} clients: {went:?}, one takes {one} s");
    }
}

/// So many listeners, of an image of so many chunks.
fn listening(clients: u32, chunks: u32) -> Swarm {
    let mut swarm = Swarm::new(chunks);
    for _ in 0..clients {
        let client = swarm.enter();
        swarm.serves(client, NOW);
        swarm.hears(client, NOW);
    }
    (1..=clients).for_each(|client| while swarm.ask(client, NOW) {});
    assert_eq!(swarm.granted(), [], "all is to be cast");
    swarm
}

#[test]
fn what_half_of_them_lose_a_part_of_is_cast_as_fast_as_it_came_from_then_on() {
    let mut swarm = listening(4, 64);
    let (chunk, first) = swarm.cast().unwrap();
    swarm.sent(chunk, NOW);
    [0.0, 0.5, 0.5, 0.9].iter().zip(1..).for_each(|(lost, client)| {
        swarm.missed(client, chunk, *lost, NOW);
    });
    let (_, second) = swarm.cast().unwrap();
    assert!((0.4..0.5).contains(&(second / first)), "{first}, then {second}");
    // What one alone loses slows nobody down, nor what is lost here and there.
    let mut swarm = listening(4, 64);
    let (chunk, first) = swarm.cast().unwrap();
    swarm.sent(chunk, NOW);
    [0.0, 0.01, 0.02, 0.9].iter().zip(1..).for_each(|(lost, client)| {
        swarm.missed(client, chunk, *lost, NOW);
    });
    assert!(swarm.cast().unwrap().1 >= first);
}

#[test]
fn who_loses_most_of_everything_or_is_slower_than_the_others_is_not_waited_for_any_more() {
    let at = Duration::from_millis;
    for is_slow in [false, true] {
        let (mut swarm, mut now) = (listening(4, 64), 0);
        while swarm.listeners() == 4 {
            now += 300;
            assert!(now < 30_000, "it is waited for");
            swarm.expire(at(now));
            let (chunk, _) = swarm.cast().expect("the others lack something");
            swarm.sent(chunk, at(now));
            for client in 1..=3 {
                swarm.heard(client, chunk, at(now));
            }
            match is_slow {
                // It tells all, but late.
                true => {
                    swarm.expire(at(now + 200));
                    swarm.heard(4, chunk, at(now + 200));
                }
                false => swarm.missed(4, chunk, 0.9, at(now)),
            }
        }
        assert!(!swarm.members[&4].listens);
        assert!(swarm.granted().iter().any(|grant| grant.to == 4), "it takes from others");
    }
}

#[test]
fn who_tells_of_a_later_cast_has_not_heard_those_before() {
    let mut swarm = listening(2, 4);
    let chunks: Vec<Chunk> = std::iter::from_fn(|| swarm.cast()).map(|(chunk, _)| chunk).collect();
    assert_eq!(chunks, [0, 1, 2, 3]);
    chunks.iter().for_each(|chunk| swarm.sent(*chunk, NOW));
    for (client, first) in [(1, 0), (2, 2)] {
        (first..4).for_each(|chunk| swarm.heard(client, chunk, NOW));
    }
    // The other one alone lacks them now.
    assert_eq!(swarm.cast(), None);
    let mut taken: Vec<_> = swarm.granted().iter().map(|grant| (grant.to, grant.chunk)).collect();
    taken.sort_unstable();
    assert_eq!(taken, [(2, 0), (2, 1)]);
}

#[test]
fn what_a_caster_has_not_sent_when_it_ends_is_had_from_others_and_cast_by_the_next() {
    let mut swarm = listening(2, 1);
    assert_eq!(swarm.cast().unwrap().0, 0);
    swarm.mute(NOW);
    assert!(!swarm.is_untold() && swarm.listeners() == 0);
    assert!(swarm.granted().iter().any(|grant| grant.chunk == 0), "it is given to one of them");
    let mut swarm = listening(2, 64);
    assert_eq!(swarm.cast().unwrap().0, 0);
    swarm.mute(NOW);
    let taken: Vec<Chunk> = swarm.granted().iter().map(|grant| grant.chunk).collect();
    [1, 2].into_iter().for_each(|client| swarm.hears(client, NOW));
    assert_eq!(swarm.cast().unwrap().0, (0..64).find(|chunk| !taken.contains(chunk)).unwrap());
}
