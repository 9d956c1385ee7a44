//! iceoryx2, one way in microseconds: `peer-iceoryx2 first|second NAME SIZE ROUNDS LOOKS`. Two
//! processes that copy a message in and out and look for the next one all the time; after so many
//! looks in vain they offer the processor to others. With 0 looks they sleep until an event tells
//! of the next message. They meet by the name, and whoever started them removes what bears it.

use iceoryx2::port::listener::Listener;
use iceoryx2::port::notifier::Notifier;
use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::event::PortFactory as Event;
use std::time::{Duration, Instant};

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// What tells who sleeps of a message.
struct Bell {
    to: Event<ipc::Service>,
    notifier: Notifier<ipc::Service>,
    listener: Listener<ipc::Service>,
}

impl Bell {
    fn new(node: &Node<ipc::Service>, first: bool) -> Result<Bell, Fault> {
        let event = |way: &str| -> Result<_, Fault> {
            let name = ServiceName::new(way)?;
            Ok(node.service_builder(&name).event().open_or_create()?)
        };
        let (there, back) = (event("there-event")?, event("back-event")?);
        let (to, from) = if first { (there, back) } else { (back, there) };
        let notifier = to.notifier_builder().create()?;
        Ok(Bell { notifier, listener: from.listener_builder().create()?, to })
    }

    fn is_heard(&self) -> bool {
        self.to.dynamic_config().number_of_listeners() > 0
    }

    fn ring(&self) -> Result<(), Fault> {
        self.notifier.notify()?;
        Ok(())
    }

    fn wait(&self) -> Result<(), Fault> {
        self.listener.blocking_wait(|_| {})?;
        Ok(())
    }
}

/// Sends and receives by turns, `rounds` times.
fn play(
    first: bool,
    size: usize,
    (rounds, looks): (u64, u32),
    config: &Config,
) -> Result<f64, Fault> {
    let node = NodeBuilder::new().config(config).create::<ipc::Service>()?;
    let service = |way: &str| -> Result<_, Fault> {
        let name = ServiceName::new(way)?;
        let service = node.service_builder(&name).publish_subscribe::<[u8]>();
        Ok(service.history_size(1).subscriber_max_buffer_size(2).open_or_create()?)
    };
    let (there, back) = (service("there")?, service("back")?);
    let (to, from) = if first { (&there, &back) } else { (&back, &there) };
    let publisher = to.publisher_builder().initial_max_slice_len(size).create()?;
    let subscriber = from.subscriber_builder().create()?;
    let bell = (looks == 0).then(|| Bell::new(&node, first)).transpose()?;
    // Both must be there before the first message.
    while to.dynamic_config().number_of_subscribers() == 0
        || from.dynamic_config().number_of_publishers() == 0
        || bell.as_ref().is_some_and(|bell| !bell.is_heard())
    {
        std::thread::yield_now();
    }
    let (mut copy, message) = (vec![0; size], vec![1; size]);
    let send = || -> Result<(), Fault> {
        publisher.loan_slice_uninit(size)?.write_from_slice(&message).send()?;
        bell.as_ref().map_or(Ok(()), Bell::ring)
    };
    let mut receive = || -> Result<(), Fault> {
        for look in 1_u32.. {
            if let Some(sample) = subscriber.receive()? {
                copy.copy_from_slice(sample.payload());
                return Ok(());
            }
            match &bell {
                // What came since that look has been told of, too.
                Some(bell) => bell.wait()?,
                None if look.is_multiple_of(looks) => std::thread::yield_now(),
                None => {}
            }
        }
        Ok(())
    };
    let warm = rounds / 10;
    let mut start = Instant::now();
    for round in 0..rounds + warm {
        if round == warm {
            start = Instant::now();
        }
        if first {
            send()?;
            receive()?;
        } else {
            receive()?;
            send()?;
        }
    }
    let time = start.elapsed().as_secs_f64() * 1e6 / 2.0 / rounds as f64;
    // What the first has not received so far must not go with the second, who is ended then.
    if !first {
        std::thread::sleep(Duration::from_secs(20));
    }
    Ok(time)
}

fn main() -> Result<(), Fault> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [role, name, size, rounds, looks] = &words[..] else {
        return Err("first|second NAME SIZE ROUNDS LOOKS".into());
    };
    // It keeps files, and leaves some of them: in a place of our own.
    let root = std::env::temp_dir().join(name);
    let mut config = Config::default();
    config.global.prefix = FileName::new(name.as_bytes())?;
    config.global.set_root_path(&Path::new(root.to_str().ok_or("a strange place")?.as_bytes())?);
    let times = (rounds.parse()?, looks.parse()?);
    println!("{}", play(role == "first", size.parse()?, times, &config)?);
    Ok(())
}
