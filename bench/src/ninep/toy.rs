//! A toy server for the tests of the load: one file, `data`, and `wait`, whose reads park.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use super::load::kind;

const MSIZE: u32 = 64 << 10;

/// Serves on a free port of loopback until the test ends; returns the address.
pub fn serve(data: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let data = Arc::new(Mutex::new(data));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let data = Arc::clone(&data);
            std::thread::spawn(move || session(stream.expect("a connection"), &data));
        }
    });
    address
}

fn session(mut stream: TcpStream, data: &Mutex<Vec<u8>>) {
    let mut parks = std::collections::HashSet::new();
    loop {
        let mut head = [0; 7];
        if stream.read_exact(&mut head).is_err() {
            return;
        }
        let size = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let mut body = vec![0; size - 7];
        stream.read_exact(&mut body).expect("a whole request");
        let (mut reply_kind, mut reply) = (head[4] + 1, Vec::new());
        match answer(head[4], &body, data, &mut parks) {
            Some(Ok(bytes)) => reply = bytes,
            Some(Err(code)) => {
                reply_kind = kind::RLERROR;
                reply.extend(u32::to_le_bytes(code));
            }
            None => continue,
        }
        let mut frame = (7 + reply.len() as u32).to_le_bytes().to_vec();
        frame.push(reply_kind);
        frame.extend(&head[5..]);
        frame.extend(reply);
        if stream.write_all(&frame).is_err() {
            return;
        }
    }
}

/// The body of the reply, an error code, or nothing at all.
fn answer(
    kind: u8,
    body: &[u8],
    data: &Mutex<Vec<u8>>,
    parks: &mut std::collections::HashSet<u32>,
) -> Option<Result<Vec<u8>, u32>> {
    const ENOENT: u32 = 2;
    const EIO: u32 = 5;
    let word = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().expect("four bytes"));
    let mut data = data.lock().expect("no panic elsewhere");
    Some(match kind {
        // An msize that is too large is refused, as diod 1.0.24 does.
        kind::TVERSION if word(0) > MSIZE => Err(EIO),
        kind::TVERSION => Ok(body.to_vec()),
        kind::TATTACH => Ok(vec![0; 13]),
        kind::TWALK => {
            let name = &body[12..];
            if name == b"wait" {
                parks.insert(word(4));
            }
            let known = name == b"data" || name == b"wait";
            known.then(|| [&[1, 0][..], &[0; 13]].concat()).ok_or(ENOENT)
        }
        kind::TLOPEN => Ok(vec![0; 17]),
        kind::TGETATTR => Ok(vec![0; 153]),
        kind::TCLUNK => Ok(Vec::new()),
        kind::TREAD if parks.contains(&word(0)) => return None,
        kind::TREAD => {
            let start = data.len().min(word(4) as usize);
            let part = &data[start..data.len().min(start + word(12) as usize)];
            Ok([&(part.len() as u32).to_le_bytes(), part].concat())
        }
        kind::TWRITE => {
            let (start, count) = (word(4) as usize, word(12) as usize);
            data[start..start + count].copy_from_slice(&body[16..]);
            Ok(word(12).to_le_bytes().to_vec())
        }
        _ => Err(EIO),
    })
}
