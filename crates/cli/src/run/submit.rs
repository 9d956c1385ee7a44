//! Hands a job to the manager: `jobs/clone`, `spec`, `files`, `start`, on a thread of its own,
//! so that signals are answered meanwhile.

use super::event::{Event, Events, Started};
use super::failure::{Failure, exit};
use super::line::{Connect, open_ctl};
use super::program::{self, Program};
use super::wait;
use muster_base::limits::CHUNK;
use muster_base::nodeset;
use muster_machine::chunk::read_ranges;
use muster_machine::manager::spec::{End, Phase, RankStatus, Spec, Status};
use muster_machine::relay::pack::{Load, PackError, Source};
use muster_machine::relay::recipe::Recipes;
use muster_ninep::client::{Client, Fid};
use muster_ninep::error::{Errno, Error};
use muster_ninep::tree::OpenFlags;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Writes of files under way: enough to keep both ends busy.
const WINDOW: usize = 4;

/// How long the first word of all ranks of a detached job is waited for, and how long between two
/// looks.
const FIRST: (Duration, Duration) = (Duration::from_secs(2), Duration::from_millis(5));

/// What to hand over.
pub struct Order {
    /// The job.
    pub spec: Spec,
    /// The program, for its processor.
    pub program: Program,
    /// What the user called it.
    pub named: String,
    /// The files to send along.
    pub load: Load,
    /// How they are told by their chunks.
    pub recipes: Recipes,
    /// Whether it is left alone then.
    pub detach: bool,
}

/// Starts to hand it over; [`Event::Started`] or [`Event::Failed`] tells how that went.
pub fn start(client: Client, connect: Connect, order: Order, events: Events) {
    super::spawn(move || match steps(&client, &connect, order, &events) {
        Ok(started) => events.tell(Event::Started(Box::new(started))),
        Err(failure) => events.tell(Event::Failed(failure)),
    });
}

fn steps(
    client: &Client,
    connect: &Connect,
    order: Order,
    events: &Events,
) -> Result<Started, Failure> {
    check_processors(client, &order)?;
    let refused = |path: &str, error: Error| refused(client, path, &error);
    let clone = client.open("jobs/clone", OpenFlags::default());
    let owner = clone.map_err(|error| refused("jobs/clone", error))?.into_fid();
    let number = owner.read_at(0, 32).map_err(|error| refused("jobs/clone", error))?;
    let number = String::from_utf8_lossy(&number).trim().parse();
    let id: u64 = number
        .map_err(|_| Failure::new("E402", exit::OURS, "the manager's jobs/clone gave no number"))?;
    events.tell(Event::Made(client.clone(), id));
    let path = format!("jobs/{id}/spec");
    let text = serde_json::to_string(&order.spec).expect("texts and numbers become JSON");
    client.write(&path, text).map_err(|error| refused(&path, error))?;
    let mut chunks = Vec::new();
    if !order.load.is_empty() {
        chunks = tell_files(client, id, (order.load, order.recipes))?;
    }
    let path = format!("jobs/{id}/ctl");
    let mut ctl = open_ctl(client, id).map_err(|error| refused(&path, error))?;
    run(client, (id, &ctl), &chunks, events)
        .map_err(|failure| advised(failure, &order.program, &order.named))?;
    if order.detach {
        ctl.write_at(0, b"detach\n").map_err(|error| refused(&path, error))?;
        // It goes on whatever becomes of its manager: its number is what counts from now on.
        if let Some(failure) = first_word(client, id).ok().as_ref().and_then(not_run) {
            return Err(advised(failure, &order.program, &order.named));
        }
        return Ok(Started { id, owner, ctl, client: None, nodes: Vec::new() });
    }
    let mut status = status(client, id)?;
    let mut other = None;
    // One that lost a node while it was placed may have no places yet.
    let is_placed = !status.ranks.is_empty() || status.state == Phase::Done;
    if status.state == Phase::Pending || !is_placed {
        if let Some((client, held)) = wait::until_begun(client, connect, id, events)? {
            (other, ctl) = (Some(client), held);
        }
        status = self::status(other.as_ref().unwrap_or(client), id)?;
        if let Some(failure) = wait::ended(&status) {
            return Err(advised(failure, &order.program, &order.named));
        }
    }
    let mut nodes: Vec<String> = status.ranks.into_iter().map(|rank| rank.node).collect();
    // It runs no more already, and waits to begin again.
    nodes.resize(status.size.max(nodes.len()), String::new());
    Ok(Started { id, owner, ctl, client: other, nodes })
}

/// What is told of a job once all its ranks have been heard of, if they are soon: nobody stays to
/// be told that its program cannot be run.
fn first_word(client: &Client, id: u64) -> Result<Status, Failure> {
    let until = Instant::now() + FIRST.0;
    loop {
        let status = status(client, id)?;
        if !is_silent(&status) || Instant::now() >= until {
            return Ok(status);
        }
        std::thread::sleep(FIRST.1);
    }
}

/// Has the job started, and gives the nodes what they turn out to lack of its files.
fn run(
    client: &Client,
    (id, ctl): (u64, &Fid),
    chunks: &[Source],
    events: &Events,
) -> Result<(), Failure> {
    loop {
        match ctl.write_at(0, b"start\n") {
            Ok(_) => return Ok(()),
            Err(error) if error.errno == Errno::NODATA && !chunks.is_empty() => {
                give_chunks(client, id, chunks, events)?;
            }
            Err(error) => return Err(refused(client, &format!("jobs/{id}/ctl"), &error)),
        }
    }
}

/// What the manager tells of the job.
pub(super) fn status(client: &Client, id: u64) -> Result<Status, Failure> {
    let path = format!("jobs/{id}/status");
    let text = read_object(client, &path).map_err(|error| refused(client, &path, &error))?;
    serde_json::from_str(&text).map_err(|error| {
        let text = format!("the manager's {path} cannot be read: {error}");
        Failure::new("E402", exit::OURS, text)
    })
}

/// Whether that is a JSON object: it ends where its last brace closes, so nobody needs to be asked
/// whether there is more.
fn is_object(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// Reads a file that holds a JSON object.
pub(super) fn read_object(client: &Client, path: &str) -> Result<String, Error> {
    read_until(client, path, |text, _| is_object(text))
}

/// The same without waiting for it.
pub(super) fn read_object_then(
    client: &Client,
    path: &[&str],
    then: impl FnOnce(Result<String, Error>) + Send + 'static,
) {
    let (names, path): (Vec<_>, _) =
        (path.iter().map(|name| name.as_bytes()).collect(), path.join("/"));
    client.root().walk_open_then(&names, OpenFlags::default(), move |opened| match opened {
        Ok((_, Some(fid))) => read_on(fid, path, Vec::new(), then),
        Ok((_, None)) => then(Err(Error::from(Errno::NOENT).at(path))),
        Err(error) => then(Err(error.at(path))),
    });
}

/// What follows what is known of a file that holds a JSON object.
fn read_on(
    file: Fid,
    path: String,
    mut text: Vec<u8>,
    then: impl FnOnce(Result<String, Error>) + Send + 'static,
) {
    let next = file.clone();
    file.read_then(text.len() as u64, file.max_data(), move |part| match part {
        Ok(part) => {
            text.extend_from_slice(part);
            match part.is_empty() || is_object(&text) {
                true => then(utf8(text, &path)),
                false => read_on(next, path, text, then),
            }
        }
        Err(error) => then(Err(error.at(path))),
    });
}

fn utf8(text: Vec<u8>, path: &str) -> Result<String, Error> {
    String::from_utf8(text).map_err(|_| Error::new(Errno::ILSEQ, "not text (UTF-8)").at(path))
}

/// Reads a file until that is all of it, by what has come and whether the last part was a short
/// one, or until it ends.
fn read_until(
    client: &Client,
    path: &str,
    is_all: impl Fn(&[u8], bool) -> bool,
) -> Result<String, Error> {
    let file = client.open(path, OpenFlags::default())?.into_fid();
    let (most, mut text) = (file.max_data(), Vec::new());
    loop {
        let part = file.read_at(text.len() as u64, most)?;
        text.extend_from_slice(&part);
        if part.is_empty() || is_all(&text, part.len() < most as usize) {
            return utf8(text, path);
        }
    }
}

/// Of some rank nobody has heard yet: whether its program can be run is not known.
fn is_silent(status: &Status) -> bool {
    let is_unheard =
        |rank: &RankStatus| rank.pid.is_none() && rank.status.is_none() && rank.why.is_none();
    status.state != Phase::Done && status.ranks.iter().any(is_unheard)
}

/// Why no rank's program could be run, if that is how the job ended.
pub(super) fn not_run(status: &Status) -> Option<Failure> {
    let why = status.why.as_ref().filter(|_| status.end == Some(End::Failed))?;
    let ran = status.ranks.iter().any(|rank| rank.status.is_some() || rank.pid.is_some());
    (!ran).then(|| Failure::told("E402", status.exit.unwrap_or(exit::OURS), why))
}

/// A program that was not found: how to have it found.
pub(super) fn advised(mut failure: Failure, program: &Program, named: &str) -> Failure {
    if failure.id != "E101" {
        return failure;
    }
    let advice = match program {
        // It was sent.
        Program::Here(_) => return failure,
        Program::There(_) if named.contains('/') => {
            format!("One that is here is sent without --no-send: muster run {named}")
        }
        Program::There(_) => {
            let local = format!("./{named}");
            match program::find(&local, true) {
                Ok(Program::Here(..)) => format!("Name it {local}, and yours is sent"),
                _ => format!(
                    "Name its path there: muster run --no-send /PATH/{named}; or send your own: \
                     muster run ./PATH/{named}"
                ),
            }
        }
    };
    failure.text = format!("{}. {advice}", failure.text);
    failure
}

/// The manager's sentence, without the path of the file that it was said about.
pub(super) fn refused(client: &Client, path: &str, error: &Error) -> Failure {
    if client.ended().is_some() {
        return Failure::new("E401", exit::OURS, error.text.clone());
    }
    let text = error.text.trim_start_matches('/');
    let text = text.strip_prefix(path).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(text);
    Failure::told("E402", exit::OURS, text)
}

fn unpacked(error: PackError) -> Failure {
    Failure::new("E104", exit::OURS, error.to_string())
}

/// So many bytes that tell of files are got ready before the first is sent. From then on the job
/// has its nodes, and to hash what these tell of, some hundred gigabytes, may take long.
const AHEAD: usize = 16 << 20;

/// Tells what the files are; the chunks of those that are told by them.
fn tell_files(
    client: &Client,
    id: u64,
    (load, recipes): (Load, Recipes),
) -> Result<Vec<Source>, Failure> {
    let path = format!("jobs/{id}/files");
    let mut packer = load.stream_known(recipes);
    let (mut ahead, mut size, mut part) = (Vec::new(), 0, Vec::new());
    while size < AHEAD && packer.next_chunk(&mut part).map_err(unpacked)? {
        size += part.len();
        ahead.push(std::mem::take(&mut part));
    }
    let mut told = Upload::open(client, &path)?;
    let mut offset = 0;
    for part in ahead {
        told.write(offset, &part)?;
        offset += part.len() as u64;
    }
    while packer.next_chunk(&mut part).map_err(unpacked)? {
        told.write(offset, &part)?;
        offset += part.len() as u64;
    }
    told.finish()?;
    Ok(packer.into_chunks())
}

/// Gives the chunks that some node lacks.
fn give_chunks(
    client: &Client,
    id: u64,
    chunks: &[Source],
    events: &Events,
) -> Result<(), Failure> {
    let path = format!("jobs/{id}/chunks");
    let most = u32::try_from(chunks.len()).unwrap_or(u32::MAX);
    let (mut sent, mut part) = (0, Vec::new());
    loop {
        // What a read does not fill is all of it.
        let wanted = read_until(client, &path, |_, is_short| is_short);
        let wanted = wanted.map_err(|error| refused(client, &path, &error))?;
        let wanted = read_ranges(&wanted, most).ok_or_else(|| {
            let text = format!("the manager's {path} cannot be read: {wanted:?}");
            Failure::new("E402", exit::OURS, text)
        })?;
        if wanted.is_empty() {
            return Ok(());
        }
        let length = |at: &u32| chunks[*at as usize].length as u64;
        let all = sent + wanted.iter().map(length).sum::<u64>();
        let mut given = Upload::open(client, &path)?;
        for at in wanted {
            chunks[at as usize].read(&mut part).map_err(unpacked)?;
            given.write(u64::from(at) * CHUNK as u64, &part)?;
            sent += part.len() as u64;
            events.tell(Event::Sent(sent, all));
        }
        given.finish()?;
    }
}

/// Writes to a file of the manager's, several under way at once.
struct Upload<'a> {
    client: &'a Client,
    path: &'a str,
    file: Fid,
    told: mpsc::Sender<Result<usize, Error>>,
    answers: mpsc::Receiver<Result<usize, Error>>,
    under_way: usize,
}

impl<'a> Upload<'a> {
    fn open(client: &'a Client, path: &'a str) -> Result<Upload<'a>, Failure> {
        let opened = client.open(path, OpenFlags(OpenFlags::WRONLY));
        let file = opened.map_err(|error| refused(client, path, &error))?.into_fid();
        let (told, answers) = mpsc::channel();
        Ok(Upload { client, path, file, told, answers, under_way: 0 })
    }

    fn write(&mut self, mut offset: u64, bytes: &[u8]) -> Result<(), Failure> {
        for piece in bytes.chunks(self.file.max_data() as usize) {
            self.settle(WINDOW - 1)?;
            let (told, size) = (self.told.clone(), piece.len());
            self.file.write_then(offset, piece, move |answer| {
                let short = answer.map(|written| size - (written as usize).min(size));
                let _ = told.send(short);
            });
            offset += size as u64;
            self.under_way += 1;
        }
        Ok(())
    }

    fn settle(&mut self, down_to: usize) -> Result<(), Failure> {
        while self.under_way > down_to {
            // Each write is told exactly once.
            let answer = self.answers.recv().expect("we hold a sender");
            let short = answer.map_err(|error| refused(self.client, self.path, &error))?;
            self.under_way -= 1;
            if short > 0 {
                let text = "the manager did not take all of the files";
                return Err(Failure::new("E402", exit::OURS, text));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.settle(0)?;
        self.file.clunk().map_err(|error| refused(self.client, self.path, &error))
    }
}

/// Refuses a binary that the nodes cannot run, before anything is sent. What cannot be found
/// out here, the node will say: also where only the manager knows which nodes a job's step may get.
fn check_processors(client: &Client, order: &Order) -> Result<(), Failure> {
    let Program::Here(binaries) = &order.program else { return Ok(()) };
    let Ok(text) = read_object(client, "arches") else { return Ok(()) };
    let Ok(arches) = serde_json::from_str::<BTreeMap<String, String>>(&text) else { return Ok(()) };
    let expand = |set: &Option<String>| set.as_deref().and_then(|set| nodeset::expand(set).ok());
    let wanted = match (expand(&order.spec.nodelist), &order.spec.partition) {
        (None, Some(name)) => match of_partition(client, name) {
            Some(nodes) => Some(nodes),
            None => return Ok(()),
        },
        (None, None) if order.spec.within.is_some() => return Ok(()),
        (named, _) => named,
    };
    let except = expand(&order.spec.exclude).unwrap_or_default();
    let mut nodes = Vec::new();
    for (arch, set) in arches {
        let names = nodeset::expand(&set).unwrap_or_default();
        let is_wanted = |name: &String| {
            wanted.as_ref().is_none_or(|all| all.contains(name)) && !except.contains(name)
        };
        nodes.extend(names.into_iter().filter(is_wanted).map(|name| (name, arch.clone())));
    }
    program::check(&order.named, binaries, &nodes)
}

/// The nodes of a partition, if the manager tells them here.
pub fn of_partition(client: &Client, name: &str) -> Option<Vec<String>> {
    let text = client.read_to_string("partitions").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" nodes="))?;
    nodeset::expand(line.split(' ').next()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_found_comes_with_a_next_step() {
        let there = |named: &str| {
            let text = format!("{named}: not found on n3 (searched its PATH)  [E101, exit 127]");
            let failure = Failure::told("E402", exit::OURS, &text);
            advised(failure, &Program::There(named.into()), named).to_string()
        };
        assert_eq!(
            there("nosuch"),
            "nosuch: not found on n3 (searched its PATH). Name its path there: muster run \
             --no-send /PATH/nosuch; or send your own: muster run ./PATH/nosuch  [E101, exit 127]"
        );
        assert!(there("/x/y").contains("without --no-send: muster run /x/y  [E101"));
        // Where the node has said what it lacks, no other place has it either.
        let text = "/x/y: its interpreter /z is not on n3. Change its first line  [E103, exit 127]";
        let failure = Failure::told("E402", exit::OURS, text);
        assert_eq!(advised(failure.clone(), &Program::There("/x/y".into()), "/x/y"), failure);
    }
}
