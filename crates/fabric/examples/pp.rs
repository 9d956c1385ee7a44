#![allow(unsafe_code, missing_docs)]
use muster_fabric::pipeline::plan::*;
use muster_fabric::transport::shared::*;
use muster_fabric::transport::*;
use muster_fabric::*;
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::*;
use std::time::*;
fn pin(c: usize) {
    unsafe {
        let mut s: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(c, &mut s);
        libc::sched_setaffinity(0, std::mem::size_of_val(&s), &s);
    }
}
fn raw(n: usize) -> f64 {
    #[repr(align(128))]
    struct L(AtomicU64, std::cell::UnsafeCell<[u8; 64]>);
    unsafe impl Sync for L {}
    let a = Arc::new([L(AtomicU64::new(0), [0; 64].into()), L(AtomicU64::new(0), [0; 64].into())]);
    let b = a.clone();
    let t = std::thread::spawn(move || {
        pin(1);
        let mut buf = [0u8; 64];
        for i in 1..=n as u64 {
            while b[0].0.load(Ordering::Acquire) != i {
                std::hint::spin_loop()
            }
            unsafe {
                buf = std::ptr::read_volatile(b[0].1.get());
                std::ptr::write_volatile(b[1].1.get(), buf);
            }
            b[1].0.store(i, Ordering::Release);
        }
        std::hint::black_box(buf);
    });
    pin(0);
    let s = Instant::now();
    let mut buf = [1u8; 64];
    for i in 1..=n as u64 {
        unsafe {
            std::ptr::write_volatile(a[0].1.get(), buf);
        }
        a[0].0.store(i, Ordering::Release);
        while a[1].0.load(Ordering::Acquire) != i {
            std::hint::spin_loop()
        }
        unsafe {
            buf = std::ptr::read_volatile(a[1].1.get());
        }
    }
    let e = s.elapsed();
    t.join().unwrap();
    std::hint::black_box(buf);
    e.as_secs_f64() * 1e6 / n as f64 / 2.0
}
fn links(plan: Plan, block: bool) -> (Link, Link) {
    let _ = block;
    let sh = Shared::new(Arc::new(move |_| Box::new(Fixed { short: 8192, long: plan })));
    let p = std::env::temp_dir().join(format!("pp{}", std::process::id()));
    let mut l = sh.listen_link(&p).unwrap();
    let p2 = p.clone();
    let sh2 = sh.clone();
    let t = std::thread::spawn(move || {
        sh2.connect_link(
            &p2,
            &Hello { name: "a".into(), service: "b".into(), lane: Lane::Bulk },
            Deadline::after(Duration::from_secs(5)),
        )
        .unwrap()
    });
    let b = l.accept_link(Deadline::after(Duration::from_secs(5))).unwrap();
    (t.join().unwrap(), b)
}
fn pp(size: usize, n: usize, plan: Plan) -> f64 {
    let (mut a, mut b) = links(plan, false);
    let d = Deadline::after(Duration::from_secs(100));
    let t = std::thread::spawn(move || {
        pin(1);
        let mut buf = vec![0u8; size];
        for _ in 0..n {
            b.receive(&mut buf, d).unwrap();
            b.send(&[IoSlice::new(&buf)], d).unwrap();
        }
    });
    pin(0);
    let mut buf = vec![1u8; size];
    let s = Instant::now();
    for _ in 0..n {
        a.send(&[IoSlice::new(&buf)], d).unwrap();
        a.receive(&mut buf, d).unwrap();
    }
    let e = s.elapsed();
    t.join().unwrap();
    e.as_secs_f64() * 1e6 / n as f64 / 2.0
}
fn fast(n: usize) -> f64 {
    let (mut a, mut b) = links(Plan::Short, false);
    fn take(l: &mut Link, buf: &mut [u8; 64]) {
        loop {
            match l.try_take(|m| buf.copy_from_slice(m)) {
                Ok(()) => return,
                Err(Error::WouldBlock) => std::hint::spin_loop(),
                Err(e) => panic!("{e}"),
            }
        }
    }
    let t = std::thread::spawn(move || {
        pin(1);
        let mut buf = [0u8; 64];
        for _ in 0..n {
            take(&mut b, &mut buf);
            b.try_fill(64, |m| m.copy_from_slice(&buf)).unwrap();
        }
    });
    pin(0);
    let mut buf = [1u8; 64];
    let s = Instant::now();
    for _ in 0..n {
        a.try_fill(64, |m| m.copy_from_slice(&buf)).unwrap();
        take(&mut a, &mut buf);
    }
    let e = s.elapsed();
    t.join().unwrap();
    e.as_secs_f64() * 1e6 / n as f64 / 2.0
}
fn stream(size: usize, n: usize, plan: Plan) -> f64 {
    let (mut a, mut b) = links(plan, false);
    let d = Deadline::after(Duration::from_secs(100));
    let t = std::thread::spawn(move || {
        pin(1);
        let mut buf = vec![0u8; size];
        for _ in 0..n {
            b.receive(&mut buf, d).unwrap();
        }
        b.send(&[], d).unwrap();
        let _ = b.wait(muster_fabric::strategy::Ready::Receive, d);
    });
    pin(0);
    let mut buf = vec![1u8; size];
    let s = Instant::now();
    for _ in 0..n {
        a.send(&[IoSlice::new(&buf)], d).unwrap();
    }
    a.receive(&mut buf, d).unwrap();
    let e = s.elapsed();
    drop(a);
    t.join().unwrap();
    (size * n) as f64 / e.as_secs_f64() / 1e9
}
fn main() {
    let p = Plan::Pipelined { packet: 32768, slots: 16 };
    for _ in 0..3 {
        println!(
            "raw {:.3} fast64 {:.3} pp64 {:.3} pp4k {:.2} pp64k {:.2} (16k {:.2}, 64k {:.2}) pp1m {:.1} (8 slots {:.1}, 64k {:.1}) cma64k {:.1} cma1m {:.1} | stream 64 {:.2} 4k {:.1} 64k {:.1} 1m {:.1} GB/s",
            raw(400000),
            fast(400000),
            pp(64, 200000, p),
            pp(4096, 50000, p),
            pp(65536, 10000, p),
            pp(65536, 10000, Plan::Pipelined { packet: 16384, slots: 16 }),
            pp(65536, 10000, Plan::Pipelined { packet: 65536, slots: 8 }),
            pp(1 << 20, 1000, p),
            pp(1 << 20, 1000, Plan::Pipelined { packet: 32768, slots: 8 }),
            pp(1 << 20, 1000, Plan::Pipelined { packet: 65536, slots: 8 }),
            pp(65536, 5000, Plan::SingleCopy),
            pp(1 << 20, 500, Plan::SingleCopy),
            stream(64, 1000000, p),
            stream(4096, 200000, p),
            stream(65536, 20000, p),
            stream(1 << 20, 2000, p)
        );
    }
}
