//! iceoryx2, one way in microseconds: `peer-iceoryx2 SIZE ROUNDS`. Two threads, pinned to two
//! processors, that copy a message in and out and look for the next one all the time.

mod sys;

use iceoryx2::prelude::*;
use std::time::Instant;

type Fault = Box<dyn std::error::Error + Send + Sync>;

/// Sends and receives by turns, `rounds` times.
fn play(first: bool, size: usize, rounds: u64, config: &Config) -> Result<f64, Fault> {
    sys::pin(usize::from(!first));
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
    // Both must be there before the first message.
    while to.dynamic_config().number_of_subscribers() == 0
        || from.dynamic_config().number_of_publishers() == 0
    {
        std::thread::yield_now();
    }
    let (mut copy, message) = (vec![0; size], vec![1; size]);
    let send = || -> Result<(), Fault> {
        publisher.loan_slice_uninit(size)?.write_from_slice(&message).send()?;
        Ok(())
    };
    let mut receive = || -> Result<(), Fault> {
        loop {
            if let Some(sample) = subscriber.receive()? {
                copy.copy_from_slice(sample.payload());
                return Ok(());
            }
        }
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
    Ok(start.elapsed().as_secs_f64() * 1e6 / 2.0 / rounds as f64)
}

fn main() -> Result<(), Fault> {
    let numbers: Vec<u64> = std::env::args().skip(1).flat_map(|text| text.parse()).collect();
    let [size, rounds] = numbers[..] else { return Err("SIZE ROUNDS".into()) };
    // It keeps files, and leaves some of them: in a place of our own.
    let name = format!("muster-bench-{}-", std::process::id());
    let root = std::env::temp_dir().join(&name);
    let mut config = Config::default();
    config.global.prefix = FileName::new(name.as_bytes())?;
    config.global.set_root_path(&Path::new(root.to_str().ok_or("a strange place")?.as_bytes())?);
    let time = std::thread::scope(|scope| {
        let other = scope.spawn(|| play(false, size as usize, rounds, &config));
        let time = play(true, size as usize, rounds, &config)?;
        other.join().map_err(|_| "the other thread panicked")??;
        Ok::<_, Fault>(time)
    })?;
    let _ = std::fs::remove_dir_all(root);
    for entry in std::fs::read_dir("/dev/shm")?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&name) {
            std::fs::remove_file(entry.path())?;
        }
    }
    println!("{time}");
    Ok(())
}
