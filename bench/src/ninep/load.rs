//! The load: a 9P2000.L client that does nothing but keep a server busy over one connection.
//!
//! It has an encoder of its own, so that ours and the peers are measured by the same foreign
//! client. It is single-threaded: a *depth* of D means that D requests are on their
//! way at any time. Bulk data is received straight into one buffer and sent from one buffer;
//! small replies are taken as they come and answered by one write for all of them.

use std::io::{self, IoSlice, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::wait::Wait;
use anyhow::{Context, Result, bail, ensure};

/// The most data that a message carries: what the measurements are about.
pub const DATA_MAX: u32 = 1 << 20;

/// What a Twrite adds to its data; Rread adds less.
const OVERHEAD: u32 = 24;

/// Sizes to propose, the best first; some servers refuse what they cannot have.
const PROPOSALS: [u32; 5] =
    [DATA_MAX + OVERHEAD, DATA_MAX, (64 << 10) + OVERHEAD, 64 << 10, 8 << 10];

/// A server that says nothing for so long is broken.
const PATIENCE: Duration = Duration::from_secs(20);

/// The fid of the root, and that of the file in bulk loads.
const ROOT: u32 = 0;
const FILE: u32 = 1;

/// Message types; a reply is its request plus one.
pub mod kind {
    #![allow(missing_docs)]
    pub const RLERROR: u8 = 7;
    pub const TLOPEN: u8 = 12;
    pub const TGETATTR: u8 = 24;
    pub const TVERSION: u8 = 100;
    pub const TATTACH: u8 = 104;
    pub const TWALK: u8 = 110;
    pub const TREAD: u8 = 116;
    pub const TWRITE: u8 = 118;
    pub const TCLUNK: u8 = 120;
}

/// `size[4] type[1] tag[2]`.
pub const HEADER: usize = 7;

/// What to do over and over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// Sequential reads of the largest size.
    Read,
    /// Sequential writes of the largest size.
    Write,
    /// Walk to a file, get its attributes, clunk: what `stat` does.
    Stat,
    /// Get the attributes of one fid.
    Getattr,
}

/// A byte stream of either kind.
#[derive(Debug)]
pub enum Stream {
    /// Loopback.
    Tcp(TcpStream),
    /// A socket in the file system.
    Unix(UnixStream),
}

impl Stream {
    /// Connects to HOST:PORT, or to the path of a Unix socket.
    pub fn connect(address: &str) -> Result<Stream> {
        let to = || format!("cannot connect to {address}");
        if address.contains('/') {
            let path = address.strip_prefix("unix:").unwrap_or(address);
            let stream = UnixStream::connect(path).with_context(to)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            return Ok(Stream::Unix(stream));
        }
        let stream = TcpStream::connect(address).with_context(to)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Stream::Tcp(stream))
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Stream::Tcp(stream) => stream.as_fd(),
            Stream::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write_vectored(slices),
            Stream::Unix(stream) => stream.write_vectored(slices),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An attached connection.
#[derive(Debug)]
pub struct Client {
    stream: Stream,
    wait: Wait,
    msize: u32,
    /// Requests that wait to be sent together.
    out: Vec<u8>,
    /// What has arrived: `input[start..end]` is not yet looked at.
    input: Vec<u8>,
    start: usize,
    end: usize,
}

impl Client {
    /// Connects, agrees on the largest message the server takes, and attaches at its root.
    pub fn attach(address: &str, aname: &str, wait: Wait) -> Result<Client> {
        let mut refusal = None;
        for msize in PROPOSALS {
            match Client::version(address, msize, wait) {
                Ok(mut client) => {
                    client.put(kind::TATTACH, 0, |body| {
                        body.extend(ROOT.to_le_bytes());
                        body.extend(u32::MAX.to_le_bytes());
                        string(body, "root");
                        string(body, aname);
                        body.extend(0_u32.to_le_bytes());
                    });
                    client.finish(kind::TATTACH).with_context(|| format!("attach '{aname}'"))?;
                    return Ok(client);
                }
                Err(error) => refusal = Some(error),
            }
        }
        Err(refusal.context("no size to propose")?)
    }

    fn version(address: &str, msize: u32, wait: Wait) -> Result<Client> {
        let stream = Stream::connect(address)?;
        let input = vec![0; 64 << 10];
        let mut client = Client { stream, wait, msize, out: Vec::new(), input, start: 0, end: 0 };
        client.put(kind::TVERSION, u16::MAX, |body| {
            body.extend(msize.to_le_bytes());
            string(body, "9P2000.L");
        });
        let body = client.finish(kind::TVERSION)?;
        ensure!(body.len() > 6 && body[6..] == *b"9P2000.L", "the server speaks no 9P2000.L");
        let granted = u32::from_le_bytes(body[..4].try_into()?);
        ensure!(granted <= msize && granted > 4096, "the server grants an msize of {granted}");
        client.msize = granted;
        Ok(client)
    }

    /// The connection below.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The agreed size.
    pub fn msize(&self) -> u32 {
        self.msize
    }

    /// How much data goes into a message.
    pub fn data_max(&self) -> u32 {
        (self.msize - OVERHEAD).min(DATA_MAX)
    }

    /// Adds a request to those that `send` will send.
    fn put(&mut self, kind: u8, tag: u16, body: impl FnOnce(&mut Vec<u8>)) {
        let start = self.out.len();
        self.out.extend([0; 4]);
        self.out.push(kind);
        self.out.extend(tag.to_le_bytes());
        body(&mut self.out);
        let size = (self.out.len() - start) as u32;
        self.out[start..start + 4].copy_from_slice(&size.to_le_bytes());
    }

    /// Adds a walk from the root.
    pub fn put_walk(&mut self, tag: u16, fid: u32, path: &str) {
        self.put(kind::TWALK, tag, |body| {
            let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
            body.extend(ROOT.to_le_bytes());
            body.extend(fid.to_le_bytes());
            body.extend((names.len() as u16).to_le_bytes());
            for name in names {
                string(body, name);
            }
        });
    }

    /// Adds an open; flags as in open(2).
    pub fn put_open(&mut self, tag: u16, fid: u32, flags: u32) {
        self.put(kind::TLOPEN, tag, |body| {
            body.extend(fid.to_le_bytes());
            body.extend(flags.to_le_bytes());
        });
    }

    /// Adds a read.
    pub fn put_read(&mut self, tag: u16, fid: u32, offset: u64, count: u32) {
        self.put(kind::TREAD, tag, |body| {
            body.extend(fid.to_le_bytes());
            body.extend(offset.to_le_bytes());
            body.extend(count.to_le_bytes());
        });
    }

    /// Adds a request for the basic attributes.
    pub fn put_getattr(&mut self, tag: u16, fid: u32) {
        const BASIC: u64 = 0x7ff;
        self.put(kind::TGETATTR, tag, |body| {
            body.extend(fid.to_le_bytes());
            body.extend(BASIC.to_le_bytes());
        });
    }

    fn put_clunk(&mut self, tag: u16, fid: u32) {
        self.put(kind::TCLUNK, tag, |body| body.extend(fid.to_le_bytes()));
    }

    /// Sends what was added.
    pub fn send(&mut self) -> Result<()> {
        self.stream.write_all(&self.out).context("the server stopped reading")?;
        self.out.clear();
        Ok(())
    }

    /// Sends, and returns the body of the one reply.
    pub fn finish(&mut self, kind: u8) -> Result<Vec<u8>> {
        self.send()?;
        let (got, _, body) = self.reply()?;
        let body = body.to_vec();
        expect(got, kind, &body)?;
        Ok(body)
    }

    /// The next whole small reply, read from the stream if need be: type, tag, body.
    pub fn reply(&mut self) -> Result<(u8, u16, &[u8])> {
        loop {
            if let Some(size) = self.arrived()? {
                let frame = self.start..self.start + size;
                self.start += size;
                let frame = &self.input[frame];
                let tag = u16::from_le_bytes([frame[5], frame[6]]);
                return Ok((frame[4], tag, &frame[HEADER..]));
            }
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            let count =
                self.wait.receive(&self.stream, &mut self.input[self.end..]).context("no reply")?;
            ensure!(count > 0, "the server closed the connection");
            self.end += count;
        }
    }

    /// The size of the reply at the front, if all of it is there.
    fn arrived(&self) -> Result<Option<usize>> {
        let bytes = &self.input[self.start..self.end];
        let Some(size) = bytes.first_chunk::<4>() else {
            return Ok(None);
        };
        let size = u32::from_le_bytes(*size) as usize;
        ensure!((HEADER..=self.input.len()).contains(&size), "a reply of {size} bytes");
        Ok((bytes.len() >= size).then_some(size))
    }

    /// Walks to a file at the root and opens it.
    fn open(&mut self, name: &str, flags: u32) -> Result<()> {
        self.put_walk(0, FILE, name);
        self.finish(kind::TWALK).with_context(|| format!("walk to {name}"))?;
        self.put_open(0, FILE, flags);
        self.finish(kind::TLOPEN).with_context(|| format!("open {name}"))?;
        Ok(())
    }

    /// Puts a load on the server for a while and returns how many bytes (bulk) or rounds (small)
    /// it did each second. `size` is the length of the file `name`.
    pub fn measure(
        &mut self,
        load: Load,
        (name, size): (&str, u64),
        depth: u16,
        time: Duration,
    ) -> Result<f64> {
        const WRITE_ONLY: u32 = 1;
        match load {
            Load::Read => {
                self.open(name, 0)?;
                self.measure_read(size, depth, time)
            }
            Load::Write => {
                self.open(name, WRITE_ONLY)?;
                self.measure_write(size, depth, time)
            }
            Load::Stat => self.measure_small(depth, time, kind::TCLUNK, |client, tag, after| {
                let fid = FILE + u32::from(tag);
                match after {
                    kind::TWALK => client.put_getattr(tag, fid),
                    kind::TGETATTR => client.put_clunk(tag, fid),
                    _ => client.put_walk(tag, fid, name),
                }
            }),
            Load::Getattr => {
                self.open(name, 0)?;
                self.measure_small(depth, time, kind::TGETATTR, |client, tag, _| {
                    client.put_getattr(tag, FILE);
                })
            }
        }
    }

    fn measure_read(&mut self, size: u64, depth: u16, time: Duration) -> Result<f64> {
        let count = self.data_max();
        let mut offsets = Offsets { next: 0, step: u64::from(count), size };
        let mut data = vec![0; count as usize];
        for tag in 0..depth {
            self.put_read(tag, FILE, offsets.next(), count);
        }
        self.send()?;
        let mut meter = Meter::start(time);
        let mut flying = depth;
        while flying > 0 {
            let (tag, got) = self.read_reply(&mut data)?;
            ensure!(got == count, "a read of {got} bytes instead of {count}");
            if meter.count(u64::from(got)) {
                self.put_read(tag, FILE, offsets.next(), count);
                self.send()?;
            } else {
                flying -= 1;
            }
        }
        Ok(meter.rate())
    }

    fn measure_write(&mut self, size: u64, depth: u16, time: Duration) -> Result<f64> {
        let count = self.data_max();
        let mut offsets = Offsets { next: 0, step: u64::from(count), size };
        let data = vec![0x5a; count as usize];
        let mut meter = Meter::start(time);
        for tag in 0..depth {
            self.send_write(tag, offsets.next(), &data)?;
        }
        let mut flying = depth;
        while flying > 0 {
            let (tag, got) = self.write_reply()?;
            ensure!(got == count, "a write of {got} bytes instead of {count}");
            if meter.count(u64::from(got)) {
                self.send_write(tag, offsets.next(), &data)?;
            } else {
                flying -= 1;
            }
        }
        Ok(meter.rate())
    }

    /// Keeps `depth` chains of requests going. `put` adds the request that follows the one of a
    /// kind (0 at the start); a round ends with the reply to `last`.
    fn measure_small(
        &mut self,
        depth: u16,
        time: Duration,
        last: u8,
        put: impl Fn(&mut Client, u16, u8),
    ) -> Result<f64> {
        for tag in 0..depth {
            put(self, tag, 0);
        }
        self.send()?;
        let mut meter = Meter::start(time);
        let mut flying = depth;
        while flying > 0 {
            let (got, tag, body) = self.reply()?;
            if got == kind::RLERROR {
                expect(got, 0, body)?;
            }
            let request = got - 1;
            if request == last && !meter.count(1) {
                flying -= 1;
            } else {
                put(self, tag, request);
            }
            if self.arrived()?.is_none() && !self.out.is_empty() {
                self.send()?;
            }
        }
        Ok(meter.rate())
    }

    /// Receives an Rread, its data straight into `data`: the tag and how much.
    fn read_reply(&mut self, data: &mut [u8]) -> Result<(u16, u32)> {
        let mut head = [0; HEADER + 4];
        self.wait.receive_all(&self.stream, &mut head).context("no reply to a read")?;
        let number = u32::from_le_bytes([head[7], head[8], head[9], head[10]]);
        expect(head[4], kind::TREAD, &head[HEADER..])?;
        let data = data.get_mut(..number as usize).context("more data than asked for")?;
        self.wait.receive_all(&self.stream, data).context("a reply that does not end")?;
        Ok((u16::from_le_bytes([head[5], head[6]]), number))
    }

    /// Sends a Twrite, its data straight from `data`.
    fn send_write(&mut self, tag: u16, offset: u64, data: &[u8]) -> Result<()> {
        self.put(kind::TWRITE, tag, |body| {
            body.extend(FILE.to_le_bytes());
            body.extend(offset.to_le_bytes());
            body.extend((data.len() as u32).to_le_bytes());
        });
        let size = (self.out.len() + data.len()) as u32;
        self.out[..4].copy_from_slice(&size.to_le_bytes());
        let mut slices = [IoSlice::new(&self.out), IoSlice::new(data)];
        let mut left = &mut slices[..];
        while !left.is_empty() {
            let sent = self.stream.write_vectored(left).context("the server stopped reading")?;
            IoSlice::advance_slices(&mut left, sent);
        }
        self.out.clear();
        Ok(())
    }

    fn write_reply(&mut self) -> Result<(u16, u32)> {
        let (got, tag, body) = self.reply()?;
        expect(got, kind::TWRITE, body)?;
        let count = body.first_chunk::<4>().context("an Rwrite without its count")?;
        Ok((tag, u32::from_le_bytes(*count)))
    }

    /// Reads a whole file, once, to see that the server tells the truth.
    pub fn fetch(&mut self, name: &str) -> Result<Vec<u8>> {
        self.open(name, 0)?;
        let count = self.data_max();
        let (mut all, mut part) = (Vec::new(), vec![0; count as usize]);
        loop {
            self.put_read(0, FILE, all.len() as u64, count);
            self.send()?;
            let (_, got) = self.read_reply(&mut part)?;
            if got == 0 {
                return Ok(all);
            }
            all.extend(&part[..got as usize]);
        }
    }

    /// Overwrites a file from its start.
    pub fn store(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.open(name, 1)?;
        let mut done = 0;
        while done < bytes.len() {
            let end = bytes.len().min(done + self.data_max() as usize);
            self.send_write(0, done as u64, &bytes[done..end])?;
            let (_, got) = self.write_reply()?;
            ensure!(got > 0, "a write of no bytes");
            done += got as usize;
        }
        Ok(())
    }
}

fn string(body: &mut Vec<u8>, text: &str) {
    body.extend((text.len() as u16).to_le_bytes());
    body.extend(text.as_bytes());
}

/// Whether a reply is that to a request of a kind.
pub fn expect(got: u8, request: u8, body: &[u8]) -> Result<()> {
    if got == kind::RLERROR {
        let code = body.first_chunk::<4>().map_or(0, |code| u32::from_le_bytes(*code));
        bail!("the server answers: {}", io::Error::from_raw_os_error(code as i32));
    }
    ensure!(got == request + 1, "a reply of type {got} to a request of type {request}");
    Ok(())
}

/// Offsets of a sequential pass, over and over; no access crosses the end.
struct Offsets {
    next: u64,
    step: u64,
    size: u64,
}

impl Offsets {
    fn next(&mut self) -> u64 {
        if self.next + self.step > self.size {
            self.next = 0;
        }
        let offset = self.next;
        self.next += self.step;
        offset
    }
}

/// Counts until the time is over; what arrives later is drained, not counted.
struct Meter {
    start: Instant,
    time: Duration,
    total: u64,
    end: Option<Duration>,
}

impl Meter {
    fn start(time: Duration) -> Meter {
        Meter { start: Instant::now(), time, total: 0, end: None }
    }

    /// Counts something done; false when the time is over.
    fn count(&mut self, amount: u64) -> bool {
        if self.end.is_some() {
            return false;
        }
        self.total += amount;
        let elapsed = self.start.elapsed();
        if elapsed >= self.time {
            self.end = Some(elapsed);
        }
        self.end.is_none()
    }

    /// What was counted, each second.
    fn rate(&self) -> f64 {
        self.total as f64 / self.end.unwrap_or(self.time).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ninep::toy;

    #[test]
    fn every_load_runs() {
        let size = 3 << 20;
        let address = toy::serve(vec![7; size]);
        for load in [Load::Read, Load::Write, Load::Stat, Load::Getattr] {
            for (depth, wait) in [(1, Wait::Sleep), (1, Wait::Look), (8, Wait::Look)] {
                let mut client = Client::attach(&address, "/", wait).expect("attach");
                let time = Duration::from_millis(20);
                let rate = client.measure(load, ("data", size as u64), depth, time);
                assert!(rate.expect("a rate") > 0.0, "{load:?} at depth {depth}");
            }
        }
    }

    #[test]
    fn data_goes_both_ways() {
        let address = toy::serve(vec![7; 200_000]);
        let mut client = Client::attach(&address, "/", Wait::Sleep).expect("attach");
        assert_eq!(client.msize(), 64 << 10, "the toy grants no more");
        assert_eq!(client.fetch("data").expect("read"), vec![7; 200_000]);
        let new: Vec<u8> = (0..200_000).map(|n| n as u8).collect();
        let mut client = Client::attach(&address, "/", Wait::Sleep).expect("attach");
        client.store("data", &new).expect("write");
        let mut client = Client::attach(&address, "/", Wait::Sleep).expect("attach");
        assert!(client.fetch("data").expect("read") == new);
    }

    #[test]
    fn a_refusal_is_an_error() {
        let address = toy::serve(Vec::new());
        let mut client = Client::attach(&address, "/", Wait::Sleep).expect("attach");
        let error = client.fetch("nothing").expect_err("there is no such file");
        assert!(format!("{error:#}").contains("No such file"), "{error:#}");
    }

    #[test]
    fn offsets_stay_inside() {
        let mut offsets = Offsets { next: 0, step: 3, size: 8 };
        let got: Vec<u64> = (0..5).map(|_| offsets.next()).collect();
        assert_eq!(got, [0, 3, 0, 3, 0]);
    }
}
