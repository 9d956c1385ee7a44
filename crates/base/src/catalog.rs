//! The messages that have a stable id: what each means and what to do about it. `muster explain`
//! prints them; a test holds them against the ids that the sources use.
//!
//! `E` ends what was asked for, `N` is a notice. 10x a job's program and files, 11x its size and
//! place, 12x reaching a cluster, 13x where it lives, 14x a job's files and terminal here, 15x
//! serving and mounting, 16x files of the cluster, 17x boot images, 2xx between nodes, 3xx how a
//! job ended, 4xx the manager's word on a job, 5xx MPI.

/// One message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: &'static str,
    /// What it says, in a line.
    pub title: &'static str,
    /// Why it happens.
    pub cause: &'static str,
    /// What to do next.
    pub next: &'static str,
}

/// The message of this id, in capitals or not.
pub fn find(id: &str) -> Option<&'static Entry> {
    CATALOG.iter().find(|entry| entry.id.eq_ignore_ascii_case(id))
}

macro_rules! catalog {
    ($($id:ident $title:literal $cause:literal $next:literal)*) => {
        /// All messages, in the order of their ids.
        pub const CATALOG: &[Entry] = &[$(Entry {
            id: stringify!($id), title: $title, cause: $cause, next: $next,
        }),*];
    };
}

catalog! {
    E100 "The command line asks for something that cannot be."
        "A flag of muster run has a value that no job can have; nothing was started."
        "muster run --help explains each flag."
    E101 "The program was not found."
        "A name without a slash is searched on each node, in the PATH that you have here (with \
         --no-env the usual one); a name with a slash is a file here that is sent along."
        "Send your own program: muster run ./NAME. Look there: muster run -w n0 ls /usr/local/bin"
    E102 "The program is none that the nodes can run."
        "Its ELF header names a machine that some of the chosen nodes are not; or it is no binary, \
         and no script either: the first line of a script names what runs it."
        "Choose nodes that can run it (-w), or build it for them, too: beside ./NAME, or instead \
         of it, ./NAME.aarch64, ./NAME.x86_64 and the like travel, and each node takes its own. \
         muster nodes shows what nodes are where they differ. A shell script begins with #!/bin/sh"
    E103 "The program is there but cannot be run."
        "It is a directory, lacks the permission to be executed, or needs an interpreter, or a \
         loader of shared libraries, that is missing on the node."
        "chmod +x FILE; look at its first line, or at what `file FILE` says."
    E104 "A file that the job needs cannot be sent."
        "It cannot be read, is no file or directory, has the name of another one, or changed while \
         it was sent."
        "Look at it with ls -l, then run the job again."
    E105 "A shared library that the program needs is missing."
        "The program was sent to a node, whose loader did not find one of its libraries there."
        "Send its libraries along: muster run --bcast-libs ./NAME. One that the program opens only \
         while it runs has to be named: --bcast FILE --env LD_LIBRARY_PATH=. (the working \
         directory)."
    E106 "A shared library that the program needs is not on this machine."
        "--bcast-libs sends the libraries that the file names, and one of them was not found where \
         the loader would look: RPATH, LD_LIBRARY_PATH, RUNPATH, its cache, the system's \
         directories. Nothing was started."
        "Add its directory: export LD_LIBRARY_PATH=DIR. Where the nodes have all of them, leave \
         --bcast-libs out."
    E107 "A node could not prepare the process."
        "The working directory does not exist there, or the node has no processes, memory or \
         control groups left."
        "Name a directory that is on the nodes: --chdir DIR. See: muster nodes. Where the cluster \
         was brought up, look at ulimit -u and ulimit -n."
    E108 "The C library of a node is older than the program."
        "A program built on a newer system asks for what the node's C library does not have. That \
         library is not sent along: it and the loader, which a program names by its path, have to \
         be from one build."
        "Build the program on the oldest system that it is to run on, or link it statically (for \
         instance with musl), or choose other nodes: -w"
    E109 "A file may not be executed where it is."
        "The file system that it is on is mounted noexec on the node. What a job brings is then \
         run from memory, where the kernel allows that: not with vm.memfd_noexec=2, not more than \
         239 libraries, and not what the program itself starts or loads from its directory."
        "Have clusters elsewhere: muster down, export MUSTER_RUNTIME=DIRECTORY on another file \
         system (for instance ~/.muster; on hosts that ssh reaches set it there), muster up. A \
         file on the nodes: send it along by naming it with a slash, without --no-send."
    E110 "The job asks for what the cluster does not have."
        "More nodes than exist. It was refused at once; nothing waits. For nodes that are down, \
         slow or drained a job waits."
        "muster nodes shows what there is. A larger cluster, once its jobs are done: muster down \
         && muster up -N K"
    N110 "The job waits for its nodes."
        "Others have them or wait ahead of it, or some are down, slow, drained or reserved. It \
         starts by itself, but never on nodes that are reserved each day if it does not say how \
         long it runs (--time)."
        "muster ps shows who waits for what; Ctrl-C or muster kill ends the wait. muster scheduler \
         tells by which rule nodes are given."
    E111 "The ranks do not fit the nodes that were asked for."
        "Each node has at least one rank, and a job has a limit of ranks."
        "Give at least as many ranks as nodes: muster run -N 2 -n 8"
    N111 "More ranks than processors."
        "The ranks share the processors in turn, and each runs slower than alone."
        "Nothing, or fewer ranks: muster run -n K"
    E112 "The job's specification is not right."
        "The file spec of the job lacks its program, or has a field that is not understood."
        "docs/files.md lists its fields."
    N112 "A flag of mpiexec, srun or sbatch was left out."
        "It tells Open MPI, MPICH or Slurm how to do what Muster does otherwise: how ranks are \
         started, bound to processors and connected, which memory they get; or it passes on a \
         variable that is not set here. Or it stands in a line #SBATCH of a script."
        "Nothing, or write a script's flags on the command line. mpiexec --help and muster run \
         --help list the flags that have an effect; -quiet of mpiexec and -q of muster run have \
         this not said."
    E113 "There is no such node."
        "The name is none of this cluster, or is not written as a set of nodes: n[0-3,7]."
        "muster nodes lists them."
    N113 "The beginning of the job's output is not kept."
        "The muster run that started the job had it. Of what is taken so, 64 to 96 MiB are kept \
         for others, or one job's output could fill the disk."
        "Keep it where it goes: muster run ./a > FILE, or -o FILE. The output of a job that was \
         started with --detach is kept whole while the disk has room."
    N114 "All that the job has printed is on standard error."
        "muster logs prints standard output, unless it is told otherwise."
        "muster logs --stderr JOB"
    E114 "The node is down."
        "Its daemon died or its connection broke while a job was being started there, or no node \
         has joined yet. It is started again, and joins by itself; a job that asks for it then \
         waits."
        "muster nodes tells why; try again, or choose others: -w n[0-2]"
    E115 "This is no way to schedule."
        "There is no such scheduler, or one of its settings is not what it can be: a slice takes \
         from 300 us to 8 s, and at least one slot is needed."
        "muster scheduler shows what is set. For instance: muster scheduler gang --slice 2ms"
    E116 "The job's time cannot be."
        "It is more than its partition allows, or nothing."
        "muster partition shows how long jobs may be; give less: --time 1h"
    E117 "There is no such partition or view."
        "The name is none of those that were made."
        "muster partition and muster --view / view list them."
    E118 "The partition or view is not right."
        "One of its words is not understood, its name could not be a word of a command, it \
         reserves nodes in a time that is over or that are reserved for others then, or it is to \
         be changed or deleted while jobs are in it."
        "muster partition --help and muster view --help show how one is made."
    E119 "The strober does not answer."
        "The process that lets jobs take turns is stopped or has just died. The keeper starts it \
         again; until then jobs share the processors."
        "Try again in a moment. The cluster's keeper.log tells of its deaths."
    E120 "No cluster is up."
        "None of this name was started, or it was taken down, or its keeper died and all went \
         with it."
        "Start one: muster up -N 4. Name another: --cluster NAME. Those of yours are listed in \
         the message if there are any."
    N120 "The cluster was brought up by another build of muster."
        "Its daemons are of that build as long as it is up, and this one may say what they do not \
         know, or mean other things by the same words. It is said behind what went wrong."
        "Use the program that is named, if it is still there, or bring the cluster up anew: muster \
         down, muster up"
    E121 "The manager does not answer."
        "It is stopped, the machine is busy beyond measure, or it is being restarted after a \
         crash."
        "Try again in a moment. If it stays so: muster down ends it whatever its state."
    E122 "The cluster is ending."
        "Its keeper is gone and its daemons are still cleaning up."
        "Wait a moment, or help: muster down"
    E123 "Not all nodes joined in time."
        "A node's daemon did not start or could not reach the manager, as behind a firewall. \
         Nothing was left running."
        "The last lines of its log are shown with the message. On one machine try fewer nodes: \
         muster up -N 2. On several hosts, see that they reach this one at the address and port \
         of the message, or say where it is: --address"
    E124 "A cluster of this name is up already."
        "A user has one cluster of each name on a machine."
        "Use it, take it down (muster down), or name another: muster --cluster NAME up"
    E125 "Something of the cluster could not be started."
        "The system refused a process, a pipe or a thread, mostly for a limit of the user."
        "Look at ulimit -u and ulimit -n, and at what else is running."
    N125 "Jobs take turns less exactly than they could."
        "Turns of less than 10 ms need a strober that is scheduled before all other processes \
         (SCHED_FIFO), and only a control group holds a job that does not want to be held. The \
         system permits you neither or only one of the two."
        "Permit it: rtprio 1 in /etc/security/limits.conf, and a control group of your own, as \
         systemd-run --user --scope -p Delegate=yes muster up makes one. All else works without."
    E126 "A daemon cannot be ended."
        "It was killed, but the kernel holds it: it waits for a device or for a file server that \
         is gone."
        "See what it waits for: cat /proc/PID/wchan. It ends when that ends, or with the machine."
    E127 "Nodes cannot stand in for that processor."
        "muster up --arch was given a processor that is none, or there is nothing on this machine \
         that runs programs for it."
        "On Debian: apt install qemu-user-static. Or name an emulator: --arch n1=aarch64:PATH"
    E128 "A cluster that the view merges is not reached."
        "It has ended, does not answer, or was named a moment ago."
        "See whether it is up: muster --cluster NAME ps. Or make the view without it."
    N128 "A cluster that the view merges is left out."
        "It is not up, or does not answer: what is shown is of the others, and no job is given to \
         it."
        "See what it says: muster --cluster NAME ps. Or make the view without it."
    N129 "The job is given to one of the clusters that the view merges."
        "Each has its jobs and their numbers. The one with most idle nodes was chosen; messages \
         tell the number that the job has there."
        "Say so with muster kill, logs and ps: big.7 is job 7 of cluster big. Another cluster: \
         muster --cluster NAME run, or nodes of it: -w NAME.n0"
    E129 "A job cannot do this to its cluster from where it is."
        "A job is a part of its cluster, which it would end with itself, and cannot wait for \
         its own end. In a cluster on several hosts (muster up --hosts or --slurm) it does not \
         reach the manager either."
        "Give the command where the cluster was brought up, outside of jobs."
    N130 "A long line of a rank was broken."
        "Ranks that share a place share it line by line, and a line is kept until it ends, up to \
         1 MiB, or less with more than 32 ranks. Of a longer one a piece went out, and then \
         another rank's line came: the piece ends in a backslash and a newline, which no rank has \
         written."
        "Output that is no text: muster run --raw passes bytes on as they come; -o out.%n gives \
         each rank a file, in which is what it has written and no more."
    E130 "This is no name for a cluster."
        "The name is part of the paths of sockets, so it is short and plain."
        "Use up to 40 letters, digits, '_', '-' and '.', starting with a letter or digit."
    E131 "The directory for the cluster is not safe."
        "Whoever can write there, or replace it, could act as you. It or a directory above it \
         belongs to somebody else, lets others in, or is a link that somebody else made."
        "Choose a directory that is yours alone: mkdir -m 700 ~/.muster; \
         export MUSTER_RUNTIME=~/.muster"
    E132 "The directory's path is too long, or no text."
        "The cluster's sockets are in it, and the kernel takes paths of at most 107 bytes for \
         sockets. Daemons are told of it in lines of text (UTF-8)."
        "export MUSTER_RUNTIME=/tmp/m or another short path."
    E133 "The directory of the cluster cannot be used."
        "The system refused, in the words given: no space, no permission, a read-only disk."
        "Mend that, or choose another: export MUSTER_RUNTIME=PATH"
    E134 "The heartbeat cannot beat so."
        "Its period is a time from 300us to 1m."
        "For example: echo 10ms | muster write heartbeat"
    E140 "Output could not be written: a file of the job's, or what a command prints."
        "It is a directory, or its directory does not exist, is not yours to write, or has a full \
         disk."
        "Make the directory or room, or name another place; for a job: --output FILE"
    E141 "The job's standard input could not be read."
        "The file does not exist, is a directory, you may not read it, or its disk fails."
        "Look at it with ls -l, or give the input through a pipe."
    E142 "A detached job needs a cluster that goes on after the command."
        "Without a running cluster `muster run` starts its own and takes it down at the end."
        "muster up -N 4, then the same command again."
    E143 "The job's output is not complete."
        "The job has ended, but the manager did not give the end of its output: it hangs, or its \
         disk fails. Or muster run was told to end as well, and who reads its output took nothing \
         of it for 5 s."
        "What it has: muster logs JOB. If that waits as well: muster down"
    E150 "Plain 9P over TCP is for this machine only."
        "It has neither encryption nor passwords, so an export binds loopback addresses alone. \
         No switch turns this off."
        "Listen at 127.0.0.1:PORT or [::1]:PORT or at a socket's path, and reach it through ssh: \
         ssh -L 5640:127.0.0.1:5640 HOST"
    E151 "The mount failed."
        "FUSE is missing (no /dev/fuse, no fusermount3), or the directory is in use."
        "On Debian: apt install fuse3. Without it all files are within reach of muster ls, cat, cp."
    E152 "The directory cannot be served."
        "It cannot be opened, or the address is in use or not of this machine."
        "Choose another port, 0 for any free one: --listen 127.0.0.1:0"
    E153 "This is no mount of Muster's."
        "Nothing is mounted there, or something else is."
        "grep muster /proc/self/mounts lists them."
    E160 "A file of the cluster refused."
        "The message says which file and what its server said."
        "Look at what is there: muster ls -l PATH. What each file does: docs/files.md"
    E161 "A local file refused."
        "The message says which file and what the system said."
        "Look at it: ls -l FILE"
    E162 "There is no such job."
        "No job of this number is known to the manager, and none is in its history."
        "muster ps --all lists those it knows, muster history those that have ended."
    E163 "There is no such signal."
        "Signals are named as kill -l does, with or without SIG, or given by number."
        "kill -l lists them."
    E164 "What the job has printed was dropped."
        "The disk of the cluster's directory was full, and the outputs of the jobs that had ended \
         first made room; or somebody dropped it: muster logs --drop."
        "Keep output where it goes: muster run ./a > FILE, or -o FILE. Make room before the disk \
         is full: muster logs --drop JOB, df $MUSTER_RUNTIME"
    E165 "The output of a job that has not ended is not dropped."
        "It is still written, and whoever follows it has to get it."
        "End the job first: muster kill JOB"
    E166 "Of the job no more than a line is kept."
        "It has ended. The last 256 jobs are kept whole, with their ranks and output, and of \
         those before them how they ended."
        "See: muster history. Keep output where it goes: muster run ./a > FILE, or -o FILE"
    E170 "This is no name for an image."
        "Images and architectures are directories of the cluster's tree, so their names are plain."
        "Use letters, digits, '-', '_' and '.', and begin with neither '-' nor '.': muster image \
         push compute --arch x86_64 FILE"
    E171 "There is no such image."
        "Nothing was pushed under that name, or not for that architecture."
        "muster image ls tells what there is."
    E172 "Images cannot be kept or served so."
        "The image is empty or longer than 16 GiB, the address is in use or none of this machine, \
         or the image key is missing, or readable by others."
        "The message says which. chmod 600 the key's copy; muster image serve --help"
    E173 "The image server cannot be reached."
        "Its manager is down, its door for images is not open or is elsewhere, the image key is \
         another cluster's, or a firewall is in between."
        "At the server: muster image ls --json tells its door; muster image serve opens it."
    E174 "An image is corrupt at the server."
        "A chunk of its file in the cluster's directory is not what was pushed: a disk fails, or \
         somebody wrote to it. Nothing wrong was written here."
        "Push the image again. What has come of it is kept."
    E175 "A file here cannot be written."
        "The disk is full, the directory is missing or not yours, or FILE.part is another fetch's, \
         or one that others may write to."
        "Mend that, and give the same command again: it goes on from where it was."
    E200 "You have no key for clusters of several hosts."
        "It proves to the nodes of a cluster that their manager is yours. A cluster on one \
         machine needs none."
        "Make it, once: muster init"
    E201 "A host cannot be brought up."
        "The message names the host, what was being done, and what ssh or srun said. All hosts \
         were taken down again."
        "Try by hand what ssh is to do without a question: ssh -o BatchMode=yes HOST true. A host \
         of another processor needs the file that the message names. Where its C library is too \
         old, or is none that this build knows, build Muster for musl (README.md, On several \
         machines). To go on without such hosts: muster up --tolerate-missing"
    N201 "A host is missing."
        "It cannot be brought up, for the reason given, and --tolerate-missing was said. Nodes \
         keep the numbers that they have in the file of hosts."
        "Nothing, or mend it and bring the cluster up again."
    N202 "A host may look for the manager in the wrong place."
        "Its session comes from an address that is not this machine's: behind a jump host that is \
         the jump host's, and nobody is there. Where addresses are translated it may be right."
        "Nothing, if all nodes join. Otherwise say where hosts reach this machine: muster up \
         --address ADDRESS"
    E202 "The file of hosts is not right."
        "A line is [user@]host[:port], with nodes=N behind it where the host gets several; \
         lab[1-6] are six hosts; # begins a comment."
        "The message says which line, and what is wrong with it."
    E203 "There is no Slurm allocation to bring a cluster up in."
        "Slurm tells the nodes of an allocation in the environment of what runs in it."
        "salloc -N 4, and in the shell that it opens: muster up --slurm"
    E204 "muster up was interrupted."
        "By Ctrl-C or another signal, before all nodes had joined."
        "Hosts that had started are taken down. Call it again if it says that nothing is left; \
         otherwise end what is: muster down"
    E205 "A part of the nodes was not reached."
        "Files or orders go from node to node; the message names those that did not get them. Or \
         files did not come: the job's client stood still for a minute while its nodes waited."
        "muster nodes shows which are up. The others have what they need."
    E206 "The directory for your key is not fit for it."
        "It does not exist and cannot be made, is not yours, or others may enter it."
        "chmod 700 ~/.config/muster, or name another: export MUSTER_CONFIG=PATH"
    E301 "A rank was killed by a signal."
        "Your program caused it (SEGV: it touched memory that is not its own; ABRT: it gave up), \
         or somebody sent it, or the kernel ran out of memory (KILL)."
        "The rank's own words: muster logs JOB --rank R --stderr"
    E302 "A rank ended with a status other than 0."
        "That is your program's own word for failure."
        "The rank's own words: muster logs JOB --rank R --stderr. To let the others go on: \
         muster run --keep-going"
    E303 "The job took longer than its time limit."
        "It was started with --time and was ended when that had passed."
        "Give it more: --time 2h, or none."
    E304 "A rank was lost with its node."
        "The node's daemon or machine died, or its connection broke."
        "muster nodes shows which are up and why others are not."
    N304 "The job begins again."
        "A node that it ran on was lost, and it was started with --requeue. What it has printed so \
         far stays; what follows is of the next attempt."
        "muster ps tells the attempt and why. Not to have it begin again: muster kill JOB"
    E305 "The job was ended from outside."
        "By muster kill, or because the command that owned it was gone."
        "Start it with muster run --detach if it is to outlive its command."
    E306 "A node did not start its rank in time."
        "It is stopped, or busy beyond measure."
        "muster nodes shows which answer. Choose others: -w n[0-2]"
    N306 "A node is slow."
        "It has not answered for some seconds, and nothing says that it is dead: it is stopped, or \
         busy beyond measure. What it runs goes on when it does; it gets no new jobs until then."
        "muster nodes shows it. To give the job up: Ctrl-C, or muster kill JOB"
    E307 "A node grants no namespaces."
        "Every program gets a pid namespace, so that all of it can be ended, and who is not root \
         gets it in a user namespace. Some systems permit none to others than root (Ubuntu since \
         24.04, a hardened kernel), some container engines to nobody, and each has a limit for all \
         of a user's."
        "On the node unshare -Ur true says nothing where they are permitted. As root: sysctl -w \
         kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), or user.max_user_namespaces, \
         user.max_pid_namespaces and user.max_mnt_namespaces above 0; a container: --privileged"
    E310 "The manager cannot write."
        "Its disk is full or fails: the journal or a job's output cannot be kept. On a full disk \
         the outputs of jobs that have ended go first (E164); if that does not do, the message \
         names the job whose output takes most."
        "End that job and drop its output: muster kill JOB, muster logs --drop JOB. Or make room \
         where the cluster's directory is: df $MUSTER_RUNTIME"
    E401 "The cluster's manager cannot be reached."
        "It died or is stopped. A restarted manager finds its jobs again; muster run waits for it."
        "muster ps tells whether it is back. If it stays away: muster down"
    E402 "The manager refused or failed a request for this job."
        "The message gives its words."
        "muster ps --all shows the job's state."
    N500 "This MPI library lacks a function."
        "The program called a function of MPI-5.0 that Muster does not have. The call did nothing \
         and returned MPI_ERR_UNSUPPORTED_OPERATION; it is told once for each function."
        "A program that can do without goes on. One that ignores what the function returns may \
         fail later, and not say why."
    E501 "An MPI call failed, and the job was ended."
        "The message names the rank, the function, MPI's error class and what was wrong. To end \
         the job is what MPI_ERRORS_ARE_FATAL does, the error handler that programs begin with."
        "Mend the call; or let the program look at what it returns, after MPI_Comm_set_errhandler \
         with MPI_ERRORS_RETURN."
    E502 "The program is linked with another MPI."
        "It needs the library of Open MPI, MPICH or one of their kin, which are started by their \
         own mpiexec: here each rank would be alone, rank 0 of 1. Nothing was started."
        "Link it again: mpicc, mpicxx or mpifort in Muster's bin. To run it alone as often as \
         there are ranks: muster run -n N --bcast ./NAME sh -c ./NAME"
    E503 "The ranks of an MPI job wait for one another for ever, and the job was ended."
        "Each of the ranks named waits in an MPI call for what only others of them could do, and \
         nothing is under way; a rank that is in MPI_Finalize sends nothing any more. Ranks that \
         compute, also in other threads, are never taken for such."
        "Mend the order of the calls: often both of two ranks receive before they send, or a rank \
         has left out a call that all are to make, or has given up: what it printed says why. \
         MUSTER_MPI_DEADLOCK=off lets them wait."
    N504 "A call of a coscheduled MPI program waits for long until all ranks wait."
        "With --mpi=bcs a test or probe says no only when all ranks wait in MPI, and only then a \
         receive from any source takes a message and a window what was asked of it: else it would \
         depend on how fast ranks are. A rank that waits for a file, a lock or a thread outside \
         of MPI is one that computes. It is told once in a job."
        "Where a rank computes for long this is as it should be. A program whose ranks wait for \
         one another by other means than MPI needs the direct mode, which is the default."
    E505 "A run departed from the log that it followed, and the job was ended."
        "With --replay a program's messages are taken in the order of a recorded run. This one \
         posted a receive that the log has not, asked for something else, or ended before the log \
         did: so the program is another, or its arguments, environment or input are, or it does \
         what differs from run to run beside MPI, as to look at a clock or to draw lots."
        "Run what was recorded, with the same arguments; or record once more: muster run --record \
         FILE"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_are_in_order_and_found_in_any_case() {
        let number = |entry: &Entry| entry.id[1..].to_owned();
        assert!(CATALOG.windows(2).all(|pair| number(&pair[0]) <= number(&pair[1])));
        let all: BTreeSet<&str> = CATALOG.iter().map(|entry| entry.id).collect();
        assert_eq!(all.len(), CATALOG.len());
        assert_eq!(find("e120").map(|entry| entry.id), Some("E120"));
        assert_eq!(find("E999x"), None);
    }
}
