//! Clusters on hosts of their own, brought up over ssh: network namespaces, each with an sshd.

mod cluster;
mod hosts;

use cluster::{MUSTER, call, until};
use hosts::{Hosts, OWN, SSHD};
use serde_json::json;

/// Six hosts with a cluster that the README's two commands have brought up.
fn six(test: &str) -> Hosts {
    let hosts = Hosts::new(test, 6);
    hosts.file("lab.txt", 0o600, "# the lab\nh[1-6]\n");
    hosts.muster(&["init"]).run().ok();
    hosts.muster(&["up", "--hosts", "lab.txt"]).run().ok();
    hosts
}

#[test]
fn six_hosts_run_the_readmes_job_and_nothing_remains() {
    let hosts = six("six");
    let said = hosts.muster(&["run", "-n", "8", "-l", "hostname"]).run().ok();
    let lines = said.sorted();
    assert_eq!(lines.len(), 8);
    for host in 1..=6 {
        assert!(lines.iter().any(|line| line.ends_with(&format!(": h{host}"))), "{lines:?}");
    }
    let nodes = hosts.json(&["nodes", "--json"]);
    assert_eq!(nodes["transport"], "tls");
    let listed = nodes["nodes"].as_array().expect("nodes").iter();
    let listed: Vec<_> = listed.map(|node| (&node["name"], &node["host"])).collect();
    for (number, node) in listed.into_iter().enumerate() {
        assert_eq!(node, (&format!("n{number}").into(), &format!("h{}", number + 1).into()));
    }
    let said = hosts.muster(&["nodes"]).run().ok();
    assert!(said.out.contains("HOST") && said.out.contains("h6"), "{}", said.out);
    let line = "/root/.cache/muster/*[0-9a-f] run true";
    let said = hosts.muster(&["run", "-w", "n1", "sh", "-c", line]).run().code(125);
    said.says("a job of a cluster on several hosts does not reach its manager").says("[E129");
    let said = hosts.muster(&["down"]).run().ok();
    assert!(said.out.contains("6 nodes n[0-5] ended"), "{}", said.out);
    hosts.leftovers();
    // Whose program it is is known by its hash: the second time nothing is sent.
    let cached = || hosts.inside(Some(1), "stat -c '%i %Z' /root/.cache/muster/*");
    let before = cached();
    hosts.muster(&["up", "--hosts", "lab.txt"]).run().ok();
    assert_eq!(cached(), before);
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn files_and_input_and_signals_reach_all_hosts() {
    // So many nodes that orders go from node to node, also within a host.
    let hosts = Hosts::new("files", 6);
    hosts.file("lab.txt", 0o600, "h[1-5] nodes=4\nroot@h6:22 slots=4\n");
    hosts.muster(&["init"]).run().ok();
    hosts.muster(&["up", "--hosts", "lab.txt"]).run().ok();
    hosts.file("prog", 0o755, "#!/bin/sh\ncat data.txt; echo from $(hostname)\n");
    hosts.file("data.txt", 0o644, "what was sent\n");
    let said = hosts.muster(&["run", "-N", "24", "--bcast", "data.txt", "./prog"]).run().ok();
    assert_eq!(said.out.matches("what was sent\n").count(), 24, "{}", said.out);
    assert_eq!(said.out.matches("from h6\n").count(), 4, "{}", said.out);
    let run = ["run", "-N", "24", "--input", "all", "--bcast", "data.txt", "cat", "-", "data.txt"];
    let said = hosts.muster(&run).input("to all\n").run().ok();
    assert_eq!(said.out.matches("to all\n").count(), 24, "{}", said.out);
    assert_eq!(said.out.matches("what was sent\n").count(), 24, "{}", said.out);
    let running = hosts.muster(&["run", "-N", "24", "sh", "-c", "echo up; sleep 1000"]).start();
    until("all ranks run", || running.out().matches("up\n").count() == 24);
    hosts.muster(&["kill", "3"]).run().ok();
    assert_ne!(running.wait().code, 0);
    for host in 1..=6 {
        let what = format!("nothing of the job is left on h{host}");
        until(&what, || hosts.processes(Some(host)).iter().all(|line| !line.contains("sleep")));
    }
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn a_job_outlives_the_manager_and_the_sessions() {
    let hosts = six("manager");
    let script = "echo up; while [ ! -e /tmp/go ]; do sleep 0.05; done; echo $(hostname) done";
    let running = hosts.muster(&["run", "-N", "6", "sh", "-c", script]).start();
    until("all ranks run", || running.out().matches("up\n").count() == 6);
    let manager = hosts.pid(None, "manager").expect("it runs");
    hosts.kill(None, manager);
    until("there is another manager", || {
        hosts.pid(None, "manager").is_some_and(|pid| pid != manager)
    });
    // The ssh that h1 was brought up with dies: nothing needs it any more.
    let all = hosts.processes(None);
    let sessions = all.iter().filter(|line| line.contains(" ssh ") && line.contains(" h1 "));
    let session: Vec<i32> =
        sessions.map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    assert_eq!(session.len(), 1, "{all:#?}");
    hosts.kill(None, session[0]);
    for host in 1..=6 {
        hosts.inside(Some(host), "touch /tmp/go");
    }
    let said = running.wait().ok();
    for host in 1..=6 {
        assert!(said.out.contains(&format!("h{host} done\n")), "{}", said.out);
        hosts.inside(Some(host), "rm /tmp/go");
    }
    hosts.await_nodes(6);
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn dead_nodes_come_back_and_dead_hosts_are_named() {
    let mut hosts = six("dead");
    let node = hosts.pid(Some(2), "node").expect("it runs");
    let running = hosts.muster(&["run", "-N", "6", "sh", "-c", "echo up; sleep 1000"]).start();
    until("all ranks run", || running.out().matches("up\n").count() == 6);
    hosts.kill(Some(2), node);
    // The host's keeper has seen how it died, and the manager has heard of it.
    let said = running.wait();
    assert!(said.code != 0 && said.err.contains("n1"), "{}", said.err);
    assert!(said.err.contains("killed by signal 9"), "{}", said.err);
    until("the node is there again", || {
        let nodes = hosts.json(&["nodes", "--json"]);
        nodes["nodes"][1]["state"] == "up"
            && hosts.pid(Some(2), "node").is_some_and(|pid| pid != node)
    });
    let log = std::fs::read_to_string(hosts.runtime().join("default/keeper.log"));
    assert!(!log.expect("a log").contains("the session with"), "the host's keeper did it");
    hosts.lose(5);
    hosts.await_nodes(5);
    let nodes = hosts.json(&["nodes", "--json"]);
    assert_eq!(nodes["nodes"][4]["state"], "down");
    let said = hosts.muster(&["run", "-N", "5", "hostname"]).run().ok();
    assert!(said.out.contains("h6\n") && !said.out.contains("h5\n"), "{}", said.out);
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn a_host_that_may_not_be_real_time_is_named_and_all_take_longer_turns_while_it_is_there() {
    // Root has what its limits do not give it, unless that is taken away.
    let mut hosts = Hosts::with("turns", 2, |host| {
        let sshd = format!("{OWN}{SSHD}");
        let limited = "exec setpriv --bounding-set -sys_nice /usr/sbin/sshd";
        if host == "h2" { sshd.replace("exec /usr/sbin/sshd", limited) } else { sshd }
    });
    (1..=2).for_each(|host| hosts.await_sshd(host));
    hosts.file("lab.txt", 0o600, "h[1-2]\n");
    hosts.muster(&["init"]).run().ok();
    let up = hosts.muster(&["up", "--hosts", "lab.txt", "--scheduler", "gang", "--slice", "1ms"]);
    let told = up.run().ok().err;
    let scheduler = hosts.muster(&["scheduler"]).run().ok();
    let least = |hosts: &Hosts| {
        let slots = hosts.json(&["cat", "/slots"]);
        (slots["least"]["nanos"].as_u64(), slots["least_by"].clone())
    };
    let ms = |ms: u64| Some(ms * 1_000_000);
    if hosts.inside(Some(1), "chrt -f 1 true && echo may || echo may not") == "may\n" {
        for told in [&told, &scheduler.err] {
            let named = "since you may not run the strober SCHED_FIFO on h2: see";
            assert!(told.contains(named), "{told}");
        }
        assert_eq!(least(&hosts), (ms(10), json!(["n1"])));
        hosts.lose(2);
        hosts.await_nodes(1);
        assert_eq!(least(&hosts).1, json!([]));
        assert_eq!(hosts.muster(&["scheduler"]).run().ok().err, "");
    } else {
        assert!(told.contains("SCHED_FIFO on h[1-2]: see"), "{told}");
        assert_eq!(least(&hosts), (ms(10), json!(["n0", "n1"])));
    }
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn hosts_whose_jobs_take_turns_keep_in_step_and_one_that_has_lost_the_table_gets_it_again() {
    let hosts = Hosts::new("step", 2);
    hosts.file("lab.txt", 0o600, "h[1-2]\n");
    hosts.muster(&["init"]).run().ok();
    let up = ["up", "--hosts", "lab.txt", "--scheduler", "gang", "--slice", "10ms"];
    hosts.muster(&up).run().ok();
    for _ in 0..2 {
        hosts.muster(&["run", "--detach", "-N", "2", "sleep", "1000"]).run().ok();
    }
    let strober = |node: usize| {
        let said = hosts.muster(&["cat", &format!("nodes/n{node}/strobe")]).run().out;
        let told: serde_json::Value = serde_json::from_str(&said).unwrap_or_default();
        (told["slots"].as_u64(), told["strobes"].as_u64().unwrap_or(0))
    };
    let take_turns = || (0..2).all(|node| strober(node).0 == Some(2) && strober(node).1 > 5);
    until("both hosts' jobs take turns", take_turns);
    // The kept table is removed, as on a full disk: the next strober finds none.
    let old = hosts.pid(Some(2), "strober").expect("it runs");
    let line = format!("tr '\\0' '\\n' </proc/{old}/cmdline | grep -A1 -x -e --dir | tail -n 1");
    let directory = hosts.inside(Some(2), &line);
    hosts.inside(Some(2), &format!("rm {}/strobe && kill -9 {old}", directory.trim()));
    until("there is another one", || hosts.pid(Some(2), "strober").is_some_and(|pid| pid != old));
    until("they take turns again", take_turns);
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn nothing_outlives_a_killed_keeper_of_the_head() {
    let hosts = six("keeper");
    hosts.muster(&["run", "--detach", "-N", "6", "sleep", "1000"]).run().ok();
    hosts.kill(None, hosts.pid(None, "keeper").expect("it runs"));
    hosts.leftovers();
}

#[test]
fn hosts_that_fail_are_named_with_their_words_and_the_rest_is_taken_down() {
    let hosts = Hosts::with("fails", 5, |host| {
        let sshd = format!("{OWN}{SSHD}");
        match host {
            "h2" => sshd.replace(" -f ", " -o AuthorizedKeysFile=/media/host.pub -f "),
            "h3" => sshd.replace("echo ready", "mount -o remount,size=1m /root; echo ready"),
            "h4" => sshd.replace("echo ready", "mount -o remount,noexec /root; echo ready"),
            "h5" => sshd.replace("/usr/sbin/sshd", "sleep infinity #"),
            _ => sshd,
        }
    });
    (1..=4).for_each(|host| hosts.await_sshd(host));
    hosts.file("lab.txt", 0o600, "h[1-5]\n");
    hosts.muster(&["up", "--hosts", "lab.txt"]).run().code(1).says("muster init  [E200]");
    hosts.muster(&["init"]).run().ok();
    let said = hosts.muster(&["up", "--hosts", "lab.txt"]).run().code(1);
    let said = said.says("[E201]").says("4 of 5 hosts");
    let said = said.says("h2: reaching it: ").says("Permission denied (publickey");
    let said = said.says("h3: the program cannot be kept").says("No space left on device");
    let said = said
        .says("h4: the program cannot be kept")
        .says("Permission denied")
        .says("h5: reaching it: ");
    said.says("Connection refused");
    hosts.leftovers();
    let tolerant = ["up", "--tolerate-missing", "--hosts", "lab.txt"];
    let said = hosts.muster(&tolerant).run().ok().says("without h5: ");
    assert!(said.out.contains(", on h1, over TLS."), "{}", said.out);
    assert_eq!(hosts.muster(&["run", "hostname"]).run().ok().out, "h1\n");
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
    hosts.file("bad.txt", 0o600, "h1\nh2 cpus=4\n");
    hosts.muster(&["up", "--hosts", "bad.txt"]).run().code(1).says("line 2: 'cpus=4'");
}

/// A program for i686 that says so and ends with status 3.
fn i686() -> Vec<u8> {
    const BASE: u32 = 0x0804_8000;
    let (text, head, length) = (b"an i686 program\n", 52 + 32, 34);
    let code = [
        (0xb8, 4), // mov eax, 4: write
        (0xbb, 2), // mov ebx, 2
        (0xb9, BASE + head + length),
        (0xba, text.len() as u32),
        (0xb8, 1), // mov eax, 1: exit
        (0xbb, 3), // mov ebx, 3
    ];
    let code = code.map(|(load, number)| [&[load][..], &u32::to_le_bytes(number)].concat());
    // int 0x80, twice.
    let code = [&code[..4].concat(), &[0xcd, 0x80][..], &code[4..].concat(), &[0xcd, 0x80]];
    let code = code.concat();
    let size = head + length + text.len() as u32;
    let numbers = |numbers: &[u32]| numbers.iter().copied().flat_map(u32::to_le_bytes).collect();
    let mut file = b"\x7fELF\x01\x01\x01".to_vec();
    file.resize(16, 0);
    // ET_EXEC, EM_386, the version; where it begins; the table of segments.
    file.extend([2, 0, 3, 0, 1, 0, 0, 0]);
    let begins: Vec<u8> = numbers(&[BASE + head, 52, 0, 0]);
    file.extend([&begins[..], &[52, 0, 32, 0, 1, 0, 0, 0, 0, 0, 0, 0]].concat());
    // PT_LOAD, to be read and executed.
    let load: Vec<u8> = numbers(&[1, 0, BASE, BASE, size, size, 5, 0x1000]);
    assert_eq!((load.len(), code.len()), (32, length as usize));
    file.extend([&load[..], &code, text].concat());
    file
}

/// The one is of another kind as its kernel says it, which runs its programs; the other only says
/// that it is.
#[test]
fn a_host_of_another_processor_runs_the_program_for_that_or_its_user_hears_which_file_lacks() {
    let hosts = Hosts::with("arch", 3, |host| {
        let sshd = format!("{OWN}{SSHD}");
        let uname = "printf '#!/bin/sh\n[ $1 = -n ] && hostname || echo Linux riscv64' >/run/uname
            chmod 755 /run/uname; mount --bind /run/uname $(command -v uname); echo ready";
        match host {
            "h2" => sshd.replace("exec /usr/sbin/sshd", "exec setarch i686 /usr/sbin/sshd"),
            "h3" => sshd.replace("echo ready", uname),
            _ => sshd,
        }
    });
    (1..=3).for_each(|host| hosts.await_sshd(host));
    hosts.file("lab.txt", 0o600, "h[1-3]\n");
    hosts.muster(&["init"]).run().ok();
    let folder = std::path::Path::new(MUSTER).canonicalize().unwrap();
    let folder = folder.parent().unwrap().display();
    let mut said = hosts.muster(&["up", "--hosts", "lab.txt"]).run().code(1).says("2 of 3 hosts");
    for (host, arch, cpu) in [("h2", "i686", "i686"), ("h3", "riscv64", "riscv64gc")] {
        said = said.says(&format!(
            "{host}: it is Linux {arch}; this program is for x86_64, and there is no \
             {folder}/muster.{arch}. Build it of the same sources: cargo build --release --target \
             {cpu}-unknown-linux-gnu -p muster-cli, and copy \
             target/{cpu}-unknown-linux-gnu/release/muster there"
        ));
    }
    hosts.leftovers();
    // Beside the program itself, whatever link leads there.
    let bin = hosts.work().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::fs::copy(MUSTER, bin.join("muster")).unwrap();
    // The library makes another build of it, where it is built.
    let library = std::path::Path::new(MUSTER).with_file_name("libmpi_abi.so");
    if library.exists() {
        std::fs::copy(library, bin.join("libmpi_abi.so")).unwrap();
    }
    std::os::unix::fs::symlink("bin/muster", hosts.work().join("muster")).unwrap();
    std::fs::write(bin.join("muster.i686"), i686()).unwrap();
    std::fs::write(bin.join("muster.riscv64"), i686()).unwrap();
    let muster = |args: &[&str]| {
        let mut command = hosts.at_head();
        command.arg("./muster").args(args);
        call(command)
    };
    let said = muster(&["up", "--tolerate-missing", "--hosts", "lab.txt"]).run().ok();
    // It came there and ran, though it is none that keeps a host's part.
    let program = bin.join("muster.i686").display().to_string();
    let said = said.says(&format!(
        "without h2: {program} cannot be kept in /root/.cache/muster and run: an i686 program"
    ));
    let file = bin.join("muster.riscv64");
    said.says(&format!("without h3: it is Linux riscv64; {} is for i686.", file.display()));
    assert_eq!(muster(&["run", "hostname"]).run().ok().out, "h1\n");
    assert_eq!(hosts.inside(Some(2), "find /root/.cache -type f"), "", "it is not kept");
    muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn a_bring_up_that_is_interrupted_takes_down_what_it_has_begun() {
    // One host takes connections and says nothing, from before anybody calls it.
    let silent = "mkdir /run/sshd; /usr/sbin/sshd -D -e -f /media/sshd_config >&2 & \
                  until ss -Hltn | grep -q :22; do sleep 0.05; done; kill -STOP $!; \
                  echo ready; exec 1>&2; wait";
    let hosts = Hosts::with("interrupted", 3, |host| {
        format!("{OWN}{}", if host == "h3" { silent } else { SSHD })
    });
    (1..=2).for_each(|host| hosts.await_sshd(host));
    hosts.file("lab.txt", 0o600, "h[1-3]\n");
    hosts.muster(&["init"]).run().ok();
    // Whose part of a host blocks SIGTERM hears of it otherwise, and waits for the head.
    let waiting = |host| {
        let part = hosts.processes(Some(host)).into_iter();
        let part = part.filter(|line| !line.contains("sh -c")).find(|l| l.contains("daemon host"));
        let pid = part?.split(' ').next()?.to_owned();
        let script = format!("grep '^SigBlk:.*[4-7c-f]...$' /proc/{pid}/status || :");
        (!hosts.inside(Some(host), &script).is_empty()).then_some(pid)
    };
    let running = hosts.muster(&["up", "--hosts", "lab.txt"]).start();
    for host in 1..=2 {
        until("a host has been called", || waiting(host).is_some());
    }
    let all = hosts.processes(None);
    let up = all.iter().find(|line| line.contains(" up --hosts")).expect("it runs");
    hosts.inside(None, &format!("kill -INT {}", up.split(' ').next().unwrap()));
    running.wait().code(130).says("interrupted: nothing of the cluster was left running  [E204]");
    hosts.leftovers();
    // A host that is told to end while it waits for the others does.
    let running = hosts.muster(&["up", "--hosts", "lab.txt"]).start();
    let mut pid = None;
    until("two hosts have been called", || {
        pid = waiting(1);
        pid.is_some() && waiting(2).is_some()
    });
    hosts.inside(Some(1), &format!("kill -TERM {}", pid.unwrap()));
    until("it has left", || hosts.processes(Some(1)).is_empty());
    running.wait().code(1).says("h3: reaching it: ");
    hosts.leftovers();
}

/// Hosts once kept their part for a minute, since a manager that does not answer may do so again;
/// and the head ended what reaches them before it waited for them.
#[test]
fn hosts_behind_a_firewall_have_left_when_that_is_said() {
    let hosts = Hosts::new("firewall", 2);
    hosts.file("lab.txt", 0o600, "h[1-2]\n");
    hosts.muster(&["init"]).run().ok();
    // The head reaches both, the first reaches the head, and then it stays a while to see whether
    // that answers again.
    let wall = format!(
        "nft 'table inet wall {{ chain in {{ type filter hook input priority 0; \
         ip saddr {} tcp flags & (syn | ack) == syn drop; }}; }}'",
        hosts::address(2)
    );
    hosts.inside(None, &wall);
    let said = hosts.muster(&["up", "--hosts", "lab.txt"]).run().code(1);
    said.says("nothing was left running").says("Is there a firewall?");
    for host in 1..=2 {
        let left = hosts.processes(Some(host));
        assert!(left.is_empty(), "h{host} still has {left:?}");
    }
    hosts.leftovers();
}

#[test]
fn a_host_behind_a_jump_host_is_told_of_and_comes_in_where_the_address_is_given() {
    let hosts = Hosts::new("jump", 2);
    hosts.file("lab.txt", 0o600, "h2\n");
    let config = hosts.work().join("../ssh_config");
    let before = std::fs::read_to_string(&config).expect("it is there");
    // In place: the head has this very file.
    std::fs::write(&config, format!("Host h2\n ProxyJump h1\n{before}")).expect("written");
    hosts.muster(&["init"]).run().ok();
    let said = hosts.muster(&["up", "--hosts", "lab.txt"]).run().code(1);
    let said =
        said.says("h2 takes this machine to be at 10.78.0.1, which is none of its addresses");
    said.says("[N202]")
        .says("n0 on h2 did not join")
        .says("Nodes look for the manager at 10.78.0.1:");
    hosts.leftovers();
    let head = ["up", "--hosts", "lab.txt", "--address", "10.78.0.254"];
    let said = hosts.muster(&head).run().ok();
    assert!(!said.err.contains("[N202]"), "{}", said.err);
    assert_eq!(hosts.muster(&["run", "hostname"]).run().ok().out, "h2\n");
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}

#[test]
fn strangers_are_let_in_nowhere_and_keys_are_shown_to_nobody() {
    let hosts = six("strangers");
    // Whatever listens on the network, on a host or at the head: who has no key hears nothing.
    for (host, at) in [(Some(1), hosts::address(1).to_string()), (None, "10.78.0.254".into())] {
        let ports = "ss -Hltn | awk '{print $4}' | sed 's/.*://' | grep -vx 22 | sort -u";
        let ports = hosts.inside(host, ports);
        assert_eq!(ports.lines().count(), 2, "one port for files, one for memory: {ports}");
        for port in ports.lines() {
            // A 9P version request, and the hello of a daemon in the clear.
            let ask = format!(
                "printf '\\023\\000\\000\\000d\\377\\377\\000\\000\\001\\000\\010\\0009P2000' \
                 | timeout 20 bash -c 'exec 3<>/dev/tcp/{at}/{port}; cat >&3; cat <&3' \
                 | grep -ac 9P2000 || :"
            );
            assert_eq!(hosts.inside(Some(2), &ask).trim(), "0");
        }
    }
    for host in std::iter::once(None).chain((1..=6).map(Some)) {
        let script = "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | grep -ac secret-ed25519 || :";
        assert_eq!(hosts.inside(host, script).trim(), "1", "only this search itself");
    }
    // Keys stay where they are used, readable for their user alone.
    let keys = "find /tmp -name '*.key' | xargs stat -c '%a %n'";
    let keys = hosts.inside(Some(3), keys);
    assert!(keys.lines().count() == 1 && keys.starts_with("600 "), "{keys}");
    hosts.muster(&["down"]).run().ok();
    hosts.leftovers();
}
