//! `muster image`: boot images, pushed once and fetched by many.

use super::{SCHEMA, print_json, refused};
use crate::cluster::{Context, unlike};
use crate::progress::Progress;
use crate::run::failure::exit;
use crate::sys;
use crate::table;
use anyhow::{Context as _, Result, anyhow, bail};
use muster_base::limits::CHUNK;
use muster_base::span;
use muster_fabric::Address;
use muster_fabric::transport::socket::Identity;
use muster_machine::chunk::{Recipe, length, read_ranges};
use muster_machine::image::fetch::{Ask, Error, Fetched, Fetching, Word};
use muster_machine::image::{check_name, check_size};
use muster_machine::line::{Circle, read_address};
use muster_machine::relay::recipe::Recipes;
use muster_ninep::client::{Client, Fid};
use muster_ninep::error::{Errno, fail};
use muster_ninep::tree::OpenFlags;
use serde_json::{Value, json};
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Keep boot images in the cluster, and fetch them as a machine that boots does.
///
/// Those who fetch an image at the same time give each other what they have, so that 64 take less
/// than twice as long as one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  muster image push compute --arch x86_64 initrd.img\n  \
                        muster image serve --listen 10.0.0.1:4564\n  \
                        muster image fetch compute -o /boot/initrd.img --from 10.0.0.1:4564 \
                        --key image.key")]
pub struct Args {
    #[command(subcommand)]
    order: Order,
}

#[derive(Debug, clap::Subcommand)]
enum Order {
    /// Store an image in the cluster, or another version of it
    Push {
        #[command(flatten)]
        image: Image,
        /// The file
        file: PathBuf,
    },
    /// Fetch an image, then serve it to others for a while
    Fetch {
        #[command(flatten)]
        image: Image,
        /// Where it goes; what has come is in FILE.part until it is whole
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
        /// The image server: HOST:PORT, or a manager's socket; else the cluster that is up here
        #[arg(long, value_name = "ADDRESS")]
        from: Option<String>,
        /// The image key; needed with HOST:PORT
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
        /// How long it serves others when it has all
        #[arg(long, value_name = "TIME", default_value = "5s", value_parser = term)]
        term: Duration,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List images
    Ls {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove an image, for one architecture or for all
    Rm {
        /// Its name
        name: String,
        /// Its architecture
        #[arg(long)]
        arch: Option<String>,
    },
    /// Serve images to machines that are no members of the cluster, for as long as it is up
    Serve {
        /// Where: HOST:PORT, with port 0 for any
        #[arg(long, value_name = "ADDRESS", required_unless_present = "stop")]
        listen: Option<String>,
        /// Images go from machine to machine only, not to all at once by UDP multicast
        #[arg(long, requires = "listen")]
        no_multicast: bool,
        /// Serve them no longer
        #[arg(long, conflicts_with = "listen")]
        stop: bool,
    },
}

/// Which image.
#[derive(Debug, clap::Args)]
struct Image {
    /// Its name
    name: String,
    /// Its architecture
    #[arg(long, default_value = std::env::consts::ARCH)]
    arch: String,
}

fn term(text: &str) -> Result<Duration, String> {
    // No term at all is one, too.
    if ["0", "0s"].contains(&text) { Ok(Duration::ZERO) } else { span::parse(text) }
}

pub fn run(args: &Args, context: &Context) -> Result<ExitCode> {
    match &args.order {
        Order::Push { image, file } => {
            named([&image.name, &image.arch])?;
            push(&connect(context)?, context, image, file)?;
        }
        Order::Fetch { image, output, from, key, term, json } => {
            let stop = Stop::at_signals()?;
            let (server, circle) = server(context, from.as_deref(), key.as_deref())?;
            let (name, arch) = (image.name.clone(), image.arch.clone());
            // What a link leads to is to be the image: /boot/initrd.img is one.
            let target = output.is_symlink().then(|| std::fs::canonicalize(output).ok());
            let file = target.flatten().unwrap_or_else(|| output.clone());
            return fetch(Ask { server, circle, name, arch, file }, &stop, *term, *json);
        }
        Order::Ls { json } => list(&connect(context)?, context, *json)?,
        Order::Rm { name, arch } => {
            named([name].into_iter().chain(arch))?;
            let arch = arch.as_ref().map_or(String::new(), |arch| format!(" {arch}"));
            let line = format!("remove {name}{arch}\n");
            connect(context)?.write("images/ctl", line).map_err(refused)?;
        }
        Order::Serve { listen, no_multicast, .. } => {
            serve(&connect(context)?, listen.as_deref(), *no_multicast)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether these can be names: the manager is told them as words of a line.
fn named<'a>(names: impl IntoIterator<Item = &'a String>) -> Result<()> {
    names.into_iter().try_for_each(|name| check_name(name)).map_err(refused)
}

/// The cluster, whatever view this user works in: images are for all of it.
fn connect(context: &Context) -> Result<Client> {
    context.of(&context.cluster).connect()
}

/// Opens a file that can be an image. What it is and how long comes first: to open a pipe would be
/// to wait for who writes to it, and to hash what is too long takes minutes.
fn open_image(path: &Path) -> Result<(File, Metadata)> {
    let check = |meta: &Metadata| {
        let at = path.display();
        if !meta.is_file() {
            bail!(
                "{at} is no ordinary file; push one: what a pipe or a device gives has to be \
                 written to a file first  [E161]"
            );
        }
        check_size(meta.len()).map_err(|error| anyhow!("{at}: {error}"))
    };
    check(&std::fs::metadata(path).map_err(|error| unread(path, error))?)?;
    let file = File::open(path).map_err(|error| unread(path, error))?;
    let meta = file.metadata().map_err(|error| unread(path, error))?;
    check(&meta)?;
    Ok((file, meta))
}

fn unread(path: &Path, error: std::io::Error) -> anyhow::Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => changed(path),
        _ => anyhow!("{}: {error}  [E161]", path.display()),
    }
}

fn changed(path: &Path) -> anyhow::Error {
    anyhow!("{} changed while it was pushed  [E161]", path.display())
}

fn push(client: &Client, context: &Context, image: &Image, path: &Path) -> Result<()> {
    let unread = |error| unread(path, error);
    let (file, meta) = open_image(path)?;
    let directory = context.runtime.path().join(&context.cluster).join("recipes");
    let mut progress = Progress::bytes(meta.len());
    progress.name(format!("hashing {}", path.display()));
    let recipe = Recipes::remembered(directory).of_telling(&file, &meta, |it| progress.add(it));
    progress.clear();
    let recipe = recipe.map_err(unread)?;
    let new = client.open("images/new", OpenFlags(OpenFlags::RDWR)).map_err(refused)?.into_fid();
    let lacking = tell(&new, image, &recipe)?;
    let mut progress = Progress::bytes(lacking.len() as u64 * CHUNK as u64);
    progress.name(format!("{} for {}", image.name, image.arch));
    for index in &lacking {
        let mut bytes = vec![0; length(recipe.size, u64::from(*index))];
        let offset = u64::from(*index) * CHUNK as u64;
        file.read_exact_at(&mut bytes, offset).map_err(unread)?;
        write(&new, offset, &bytes).map_err(|error| match error.errno {
            Errno::BADMSG => changed(path),
            Errno::NOSPC => anyhow!(
                "the manager has no room for {}: the disk of the cluster's directory is full  \
                 [E310]",
                path.display()
            ),
            _ => refused(error),
        })?;
        progress.add(bytes.len() as u64);
    }
    progress.clear();
    if !wanted(&new, &recipe)?.is_empty() {
        // Two pushes of one file mended it at the same time, say.
        bail!("the manager lacks chunks of {} again; push it again  [E160]", path.display());
    }
    new.clunk().map_err(refused)?;
    let (size, chunks) = (table::bytes(recipe.size), recipe.chunks.len());
    writeln!(
        std::io::stdout().lock(),
        "{} for {}: {size}; {} of {chunks} chunks were sent",
        image.name,
        image.arch,
        lacking.len()
    )?;
    Ok(())
}

/// Tells what comes; the chunks that are wanted of it.
fn tell(new: &Fid, image: &Image, recipe: &Recipe) -> Result<Vec<u32>> {
    let mut said = format!("{} {} {}\n", image.name, image.arch, recipe.size).into_bytes();
    said.extend(recipe.chunks.iter().flat_map(|hash| hash.0));
    write(new, 0, &said).map_err(refused)?;
    wanted(new, recipe)
}

/// The chunks that are to come. When there is none it is the image.
fn wanted(new: &Fid, recipe: &Recipe) -> Result<Vec<u32>> {
    let mut wanted = Vec::new();
    while !wanted.ends_with(b"\n") {
        let part = new.read_at(wanted.len() as u64, new.max_data()).map_err(refused)?;
        if part.is_empty() {
            break;
        }
        wanted.extend(part);
    }
    let wanted = String::from_utf8_lossy(&wanted);
    read_ranges(&wanted, recipe.chunks.len() as u32)
        .with_context(|| format!("the manager wants chunks that there are not: {wanted}  [E160]"))
}

fn write(to: &Fid, offset: u64, bytes: &[u8]) -> muster_ninep::error::Result<()> {
    if to.write_at(offset, bytes)? < bytes.len() {
        return fail(Errno::IO, "images/new: it takes no more");
    }
    Ok(())
}

fn list(client: &Client, context: &Context, json: bool) -> Result<()> {
    let text = client.read("images/status").map_err(refused)?;
    let unlike = |error| unlike("images/status", &error);
    let status: Value = serde_json::from_slice(&text).map_err(unlike)?;
    if json {
        let (images, door) = (&status["images"], &status["door"]);
        let cluster = &context.cluster;
        return print_json(
            &json!({"schema": SCHEMA, "cluster": cluster, "images": images, "door": door}),
        );
    }
    let row = |image: &Value| {
        let text = |name: &str| image[name].as_str().unwrap_or_default().to_owned();
        let number = |name: &str| image[name].as_u64().unwrap_or_default();
        vec![
            text("name"),
            text("arch"),
            table::bytes(number("size")),
            number("clients").to_string(),
            text("digest").chars().take(16).collect(),
        ]
    };
    let rows: Vec<_> = status["images"].as_array().into_iter().flatten().map(row).collect();
    table::print(&["IMAGE", "ARCH", "SIZE", "CLIENTS", "DIGEST"], &rows)?;
    Ok(())
}

fn serve(client: &Client, listen: Option<&str>, no_multicast: bool) -> Result<()> {
    let Some(listen) = listen else {
        return client.write("images/ctl", "close\n").map_err(refused);
    };
    let at = network(listen).map_err(|error| super::Usage(format!("--listen: {error}")))?;
    let more = if no_multicast { " no-multicast" } else { "" };
    client.write("images/ctl", format!("listen {at}{more}\n")).map_err(refused)?;
    let status = client.read("images/status").map_err(refused)?;
    let unlike = |error| unlike("images/status", &error);
    let status: Value = serde_json::from_slice(&status).map_err(unlike)?;
    let text = |name: &str| status[name].as_str().unwrap_or_default().to_owned();
    let door = text("door");
    let port = door.rsplit_once('!').map_or("", |(_, port)| port);
    let Address::Tls(host, _) = &at else { unreachable!("it is TLS's") };
    writeln!(
        std::io::stdout().lock(),
        "images are served at {host}:{port} to those who have the key {}",
        text("key")
    )?;
    Ok(())
}

/// An address of the network, where images go by TLS.
fn network(text: &str) -> Result<Address, String> {
    let (host, port) = text.rsplit_once(':').ok_or("write HOST:PORT")?;
    let port = port.parse().map_err(|_| format!("'{port}' is no port"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() {
        return Err("write HOST:PORT".into());
    }
    Ok(Address::Tls(host.to_owned(), port))
}

/// Where the server is, and how one proves to be among those who may fetch.
fn server(
    context: &Context,
    from: Option<&str>,
    key: Option<&Path>,
) -> Result<(Address, Option<Circle>)> {
    let is_network =
        from.is_some_and(|from| !from.starts_with(['/', '.']) && !from.starts_with("unix!"));
    if key.is_some() && !is_network {
        let text = "--key is for --from HOST:PORT; a cluster of this machine needs none".to_owned();
        return Err(super::Usage(text).into());
    }
    let Some(from) = from else {
        // That it is up, or a sentence.
        connect(context)?;
        let directory = context.runtime.open(&context.cluster)?.ok_or_else(|| context.none_up())?;
        return Ok((read_address(&directory.manager().to_string())?, None));
    };
    if !is_network {
        return Ok((read_address(from).map_err(|e| super::Usage(format!("--from: {e}")))?, None));
    }
    // As daemons write it, too.
    let from = from.strip_prefix("tls!").map_or(from.to_owned(), |rest| rest.replace('!', ":"));
    let at = network(&from).map_err(|error| super::Usage(format!("--from: {error}")))?;
    let Some(key) = key else {
        let text = "--from with HOST:PORT needs --key FILE, a copy of the key that `muster image \
                    serve` tells of"
            .to_owned();
        return Err(super::Usage(text).into());
    };
    let identity = Identity::load(key).map_err(|error| {
        anyhow!("the image key {} cannot be used: {error}  [E172]", key.display())
    })?;
    Ok((at, Some(Circle::of(&identity))))
}

fn fetch(ask: Ask, stop: &Stop, term: Duration, json: bool) -> Result<ExitCode> {
    let start = Instant::now();
    let title = format!("{} for {}", ask.name, ask.arch);
    let mut fetching = Fetching::start(ask)?;
    stop.have(fetching.stopper());
    let (all, here) = fetching.so_far();
    let mut progress = Progress::bytes(all);
    progress.name(title.clone());
    progress.at(here);
    let done = fetching.complete(|bytes| progress.add(bytes));
    progress.clear();
    match done {
        Ok(fetched) => say(&title, &fetched, start.elapsed(), json)?,
        Err(Error::Stopped) => {
            writeln!(std::io::stderr(), "muster: {title}: {}", Error::Stopped)?;
            return Ok(ExitCode::from(stop.exit()));
        }
        Err(error) => return Err(error.into()),
    }
    fetching.serve(term);
    Ok(ExitCode::SUCCESS)
}

/// What a signal ends.
#[derive(Default)]
struct Stop {
    /// Who is told once there is something to end in order.
    word: Mutex<Option<Sender<Word>>>,
    signal: AtomicI32,
}

impl Stop {
    /// One that heeds signals from now on.
    fn at_signals() -> Result<Arc<Stop>> {
        let stop = Arc::new(Stop::default());
        let by = stop.clone();
        sys::heed(&sys::END, move |signal| by.stop(signal))?;
        Ok(stop)
    }

    fn have(&self, word: Sender<Word>) {
        *self.word.lock().expect("no holder panics") = Some(word);
    }

    /// A signal has come. What has only begun, to connect say, is left as it is: the next fetch
    /// goes on there.
    fn stop(&self, signal: i32) {
        self.signal.store(signal, Ordering::SeqCst);
        match &*self.word.lock().expect("no holder panics") {
            // It may have ended by itself.
            Some(word) => drop(word.send(Word::Stop)),
            None => std::process::exit(self.exit().into()),
        }
    }

    fn exit(&self) -> u8 {
        exit::SIGNAL + self.signal.load(Ordering::SeqCst) as u8
    }
}

fn say(title: &str, fetched: &Fetched, time: Duration, json: bool) -> Result<()> {
    let Fetched { size, chunks, held, from_server, from_helpers, helpers, lost, lied, .. } =
        fetched;
    let from_multicast = fetched.from_multicast;
    let seconds = time.as_secs_f64();
    if json {
        return print_json(&json!({
            "schema": SCHEMA, "size": size, "chunks": chunks, "held": held,
            "from_server": from_server, "from_helpers": from_helpers, "helpers": helpers,
            "from_multicast": from_multicast, "lost": lost, "lied": lied, "seconds": seconds,
        }));
    }
    let mut parts = vec![format!("{from_server} from the server")];
    if *held > 0 {
        parts.insert(0, format!("{held} were here"));
    }
    if *from_helpers > 0 {
        parts.push(format!("{from_helpers} from {helpers} helpers"));
    }
    if from_multicast > 0 {
        parts.push(format!("{from_multicast} by multicast"));
    }
    if *lied > 0 {
        parts.push(format!("{lied} lies refused"));
    }
    let size = table::bytes(*size);
    writeln!(
        std::io::stdout().lock(),
        "{title}: {size} in {seconds:.2} s; of {chunks} chunks {}",
        parts.join(", ")
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use muster_ninep::call::Answer;
    use muster_ninep::client::Options;
    use muster_ninep::serve::{Server, same_user};
    use muster_ninep::synthetic::{Dir, Entry, Handle, Inode, SynCall, Synthetic};

    /// A directory in which every file takes nothing.
    struct Only(Inode);

    impl Dir for Only {
        fn inode(&self) -> &Inode {
            &self.0
        }
        fn get(&self, _: &str) -> muster_ninep::error::Result<Option<Entry>> {
            Ok(Some(muster_ninep::synthetic::File::new(0o220, |_| Ok(Full)).entry()))
        }
        fn list(&self) -> Vec<String> {
            Vec::new()
        }
    }

    struct Full;

    impl Handle for Full {
        fn write(&self, _: &mut SynCall<'_>, _: u64, _: &[u8]) -> Answer<u32> {
            Ok(0)
        }
    }

    #[test]
    fn a_manager_that_takes_no_more_of_an_image_is_an_error_and_not_tried_for_ever() {
        let tree = Arc::new(Synthetic::new(Arc::new(Only(Inode::new(0o555)))));
        let server = Server::start(&tree, 1, same_user).expect("a server");
        let stream = server.connect().expect("a pair");
        let client = Client::over(stream, &Options::default()).expect("attached");
        let new = client.open("new", OpenFlags(OpenFlags::WRONLY)).expect("opened").into_fid();
        let refused = write(&new, 0, b"bytes").expect_err("nothing was taken");
        assert!(refused.text.ends_with("takes no more"), "{refused}");
    }
}
