//! A job brings a program for each processor, and every node takes its own. The nodes of another
//! kind are nodes here that stand in for it, with qemu-user.

mod cluster;

use cluster::{Cluster, MUSTER, until};
use muster_base::limits::CHUNK;
use std::fs;

/// An ELF file of one segment: some code, and data behind it up to so many chunks.
fn program(machine: u8, code: &[u8], chunks: usize) -> Vec<u8> {
    const BASE: u64 = 0x40_0000;
    let entry = 64 + 56_u64;
    let size = entry + code.len() as u64;
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    // ET_EXEC, the machine, the version; where it begins; the table of segments.
    file.extend([2, 0, machine, 0, 1, 0, 0, 0]);
    file.extend([BASE + entry, 64, 0].map(u64::to_le_bytes).concat());
    file.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    // PT_LOAD, to be read and executed.
    file.extend([1, 0, 0, 0, 5, 0, 0, 0]);
    file.extend([0, BASE, BASE, size, size, 0x1_0000].map(u64::to_le_bytes).concat());
    assert_eq!(file.len() as u64, entry);
    file.extend(code);
    file.extend((file.len()..chunks * CHUNK).map(|at| machine.wrapping_add((at / CHUNK) as u8)));
    file
}

/// Writes its text and ends with status 0.
fn aarch64(text: &str, chunks: usize) -> Vec<u8> {
    // adr x1, text
    writes(0x1000_00e1, text.len(), text, chunks)
}

/// Writes so many bytes from where an instruction has x1 point to.
fn writes(points: u32, length: usize, text: &str, chunks: usize) -> Vec<u8> {
    let length = u32::try_from(length).unwrap();
    let code = [
        0xd280_0020, // mov x0, #1
        points,
        0xd280_0002 | length << 5, // mov x2, #length
        0xd280_0808,               // mov x8, #64: write
        0xd400_0001,               // svc #0
        0xd280_0000,               // mov x0, #0
        0xd280_0ba8,               // mov x8, #93: exit
        0xd400_0001,               // svc #0
    ];
    let code = code.map(u32::to_le_bytes).concat();
    program(183, &[&code, text.as_bytes()].concat(), chunks)
}

/// The same.
fn x86_64(text: &str, chunks: usize) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap().to_le_bytes();
    let code = [
        &[0xb8, 1, 0, 0, 0][..],          // mov eax, 1: write
        &[0xbf, 1, 0, 0, 0],              // mov edi, 1
        &[0x48, 0x8d, 0x35, 16, 0, 0, 0], // lea rsi, [rip + 16]: text
        &[&[0xba][..], &length].concat(), // mov edx, length
        &[0x0f, 0x05],                    // syscall
        &[0xb8, 60, 0, 0, 0],             // mov eax, 60: exit
        &[0x31, 0xff],                    // xor edi, edi
        &[0x0f, 0x05],                    // syscall
        text.as_bytes(),
    ];
    program(62, &code.concat(), chunks)
}

/// A cluster whose last two of four nodes say that they are aarch64.
fn mixed(test: &str) -> Cluster {
    let cluster = Cluster::none(test);
    cluster.muster(&["up", "-N", "4", "--arch", "n[2-3]=aarch64"]).run().ok();
    cluster.note("default");
    cluster
}

/// The bytes that the manager has sent over connections.
fn bytes_sent(cluster: &Cluster) -> u64 {
    let told = cluster.muster(&["cat", "fabric"]).run().ok().out;
    let line = told.lines().find_map(|line| line.strip_prefix("bytes "));
    line.expect("a number of bytes").parse().unwrap()
}

/// The bytes that a node keeps for the next job.
fn kept(cluster: &Cluster, node: &str) -> u64 {
    let files = fs::read_dir(cluster.directory().join(node).join("chunks"));
    files.map_or(0, |files| files.flatten().map(|file| file.metadata().unwrap().len()).sum())
}

#[test]
fn every_node_takes_the_program_for_its_processor_and_no_chunk_of_another() {
    let cluster = mixed("t0194mixed");
    assert_eq!(cluster.muster(&["cat", "nodes/n1/arch"]).run().ok().out, "/Linux/x86_64\n");
    assert_eq!(cluster.muster(&["cat", "nodes/n2/arch"]).run().ok().out, "/Linux/aarch64\n");
    let listed = cluster.muster(&["nodes"]).run().ok().out;
    assert!(listed.contains("ARCH") && listed.contains("aarch64"), "{listed}");
    cluster.file("heat.x86_64", 0o755, x86_64("x86_64\n", 3));
    cluster.file("heat.aarch64", 0o755, aarch64("aarch64\n", 5));
    let data = cluster.file("data", 0o644, vec![b'd'; CHUNK]);
    let expected = ["x86_64\n", "x86_64\n", "aarch64\n", "aarch64\n"];
    let before = bytes_sent(&cluster);
    let (said, sent) = cluster.ran(&["-w", "n[0,2]", "--bcast", "data", "./heat"]);
    assert_eq!((said.join(""), sent), ("x86_64\naarch64\n".to_owned(), 3 + 5 + 1));
    // To n0 three chunks and the data, to n2 five and the data; all to both would be 18.
    let bytes = bytes_sent(&cluster) - before;
    assert!(bytes < 12 * CHUNK as u64, "{bytes} bytes");
    let args = ["-N", "4", "--bcast", data.to_str().unwrap(), "./heat"];
    let (said, sent) = cluster.ran(&args);
    assert_eq!((said, sent), (expected.map(str::to_owned).to_vec(), 3 + 5 + 1));
    // Each node has its own program and the data, and nothing else.
    for (node, chunks) in [("n0", 4), ("n1", 4), ("n2", 6), ("n3", 6)] {
        assert_eq!(kept(&cluster, node), chunks * CHUNK as u64, "{node}");
    }
    assert_eq!(cluster.ran(&args).1, 0, "all have all that they take");
    // A manager that knows nothing sends to each what it takes.
    cluster.kill("manager");
    cluster.await_nodes(4);
    let (said, sent) = cluster.ran(&args);
    assert_eq!((&*said[3], sent), ("aarch64\n", 9));
    // One that was started again is of the same kind.
    cluster.kill("n3");
    until("it was seen", || cluster.json(&["cat", "status"])["nodes"][3]["losses"] == 1);
    cluster.await_nodes(4);
    assert_eq!(cluster.ran(&args).0[3], "aarch64\n");
    cluster.down();
}

#[test]
fn a_job_that_waits_or_begins_again_has_its_programs_kept() {
    let cluster = mixed("t0194kept");
    cluster.file("heat.x86_64", 0o755, x86_64("x86_64\n", 2));
    cluster.file("heat.aarch64", 0o755, aarch64("aarch64\n", 2));
    let (said, _) = cluster.ran(&["-N", "4", "--requeue", "./heat"]);
    assert_eq!(said, ["x86_64\n", "x86_64\n", "aarch64\n", "aarch64\n"]);
    cluster.down();
}

#[test]
fn a_program_for_another_processor_is_refused_with_the_nodes_that_it_is_not_for() {
    let cluster = mixed("t0194wrong");
    cluster.file("heat", 0o755, x86_64("x86_64\n", 0));
    let run = |args: &[&str]| cluster.muster(&[&["run"], args].concat()).run();
    let said = run(&["-N", "4", "./heat"]).code(126);
    assert!(
        said.err.contains("./heat is x86_64, n[2-3] are aarch64. Choose: -w n[0-1]"),
        "{said:?}"
    );
    said.sentence("E102");
    assert_eq!(run(&["-w", "n[0-1]", "./heat"]).ok().out, "x86_64\n".repeat(2));
    // Nodes that the job cannot get are no reason, and those of its partition are one.
    for (name, nodes) in [("here", "n[0-1]"), ("there", "n[2-3]")] {
        cluster.muster(&["partition", "create", name, "--nodes", nodes]).run().ok();
    }
    assert_eq!(run(&["-p", "here", "-N", "2", "./heat"]).ok().out, "x86_64\n".repeat(2));
    run(&["-p", "there", "./heat"]).code(126).sentence("E102");
    let work = cluster.work();
    let step = format!("exec {MUSTER} run {}/heat", work.display());
    cluster.muster(&["scheduler", "fcfs"]).run().ok();
    assert_eq!(run(&["-w", "n0", "sh", "-c", &step]).ok().out, "x86_64\n");
    cluster.muster(&["scheduler", "share"]).run().ok();
    cluster.muster(&["nodes", "--drain", "n[2-3]", "--reason", "new memory"]).run().ok();
    assert_eq!(run(&["-N", "2", "./heat"]).ok().out, "x86_64\n".repeat(2));
    cluster.muster(&["nodes", "--resume", "n[2-3]"]).run().ok();
    // As the message says: put the other beside it.
    cluster.file("heat.aarch64", 0o755, aarch64("aarch64\n", 0));
    let said = run(&["-N", "4", "-l", "./heat"]).ok();
    assert_eq!(said.sorted(), ["0: x86_64", "1: x86_64", "2: aarch64", "3: aarch64"]);
    // Its name has to be true.
    cluster.file("heat.arm", 0o755, aarch64("", 0));
    let said = run(&["-N", "4", "./heat"]).code(126).says("./heat.arm is aarch64");
    said.sentence("E102");
    // What is no program is something else that has such a name.
    cluster.file("heat.arm", 0o644, "how to hold it\n");
    assert_eq!(run(&["-w", "n0", "./heat"]).ok().out, "x86_64\n");
    // What the client cannot see the node says, unless its kernel runs such programs.
    let path = cluster.work().join("heat.aarch64");
    let path = path.to_str().unwrap();
    let rule = std::fs::read_to_string("/proc/sys/fs/binfmt_misc/qemu-aarch64");
    if !rule.is_ok_and(|rule| rule.starts_with("enabled")) {
        let said = run(&["-w", "n1", "--no-send", path]).code(126);
        said.sentence("E102");
        assert!(said.err.contains("is for aarch64, and n1 is x86_64"), "{said:?}");
    }
    assert_eq!(run(&["-w", "n3", "--no-send", path]).ok().out, "aarch64\n");
    // It has its arguments: ldr x1, [sp, #16].
    cluster.file("said", 0o755, writes(0xf940_0be1, 5, "", 0));
    assert_eq!(run(&["-w", "n3", "./said", "hello", "x"]).ok().out, "hello");
    // What has no processor runs on all, and so do the nodes' own programs.
    cluster.file("script", 0o755, "#!/bin/sh\necho ran\n");
    assert_eq!(run(&["-N", "4", "./script"]).ok().out, "ran\n".repeat(4));
    assert_eq!(run(&["-N", "4", "echo", "ran"]).ok().out, "ran\n".repeat(4));
    cluster.down();
}

#[test]
fn nodes_that_cannot_stand_in_are_told_before_anything_is_started() {
    let cluster = Cluster::none("t0194none");
    let up = |arch: &str| cluster.muster(&["up", "-N", "2", "--arch", arch]).run();
    for (arch, code, said) in [
        ("n1=abacus", 2, "is no processor"),
        ("n1=aarch64:/no/such", 2, "/no/such: there is no such file"),
        ("n1=aarch64:/etc/passwd", 2, "it is no program"),
        ("n1", 2, "write NODES=ARCH"),
        ("n2=aarch64", 1, "this cluster has n[0-1], no n2"),
    ] {
        up(arch).code(code).says(said);
    }
    assert!(!cluster.runtime().exists(), "a cluster was started");
}
