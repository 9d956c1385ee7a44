//! Every limit of the system, each with the sum it is derived from.
//!
//! A limit is checked before the memory it guards is taken, so no peer can make a daemon grow
//! by asking for much.

use std::time::Duration;

/// Header of every 9P message: `size[4] type[1] tag[2]`.
pub const HEADER: usize = 4 + 1 + 2;

/// Bytes of an `Rread`, `Twrite` or `Rreaddir` that are not payload. `Twrite` is the largest:
/// header, `fid[4] offset[8] count[4]`; the kernel's v9fs reserves one byte more (P9_IOHDRSZ).
pub const IO_HEADER: usize = HEADER + 4 + 8 + 4 + 1;

/// Largest message a server grants: 4 MiB of payload and its header. The kernel client asks for
/// 128 KiB by default and for 1 MiB when told to; more than 4 MiB no longer gains throughput.
pub const MSIZE_MAX: usize = 4 * 1024 * 1024 + IO_HEADER;

/// Message size we ask for as a client: 1 MiB of payload and its header.
pub const MSIZE_ASKED: usize = 1024 * 1024 + IO_HEADER;

/// Smallest message size a session works with: the least that Linux's v9fs may be told to ask for.
/// What has a limit fits, but for two things: a walk of 16 names of 255 bytes (4,129 bytes), which
/// `Fid::walk` cuts, and what is said of symbolic links of more than some 3,700.
pub const MSIZE_MIN: usize = 4096;

/// Most a connection may send before its `Tversion` is answered: a version string needs 32.
pub const MSIZE_FIRST: usize = 8 * 1024;

/// Names in one `Twalk` (walk(5): MAXWELEM).
pub const WALK_MAX: usize = 16;

/// Bytes in one file name (Linux NAME_MAX).
pub const NAME_MAX: usize = 255;

/// Fids of one connection. A kernel client with every dentry of a large tree cached holds some
/// tens of thousands; at about 200 bytes each this is 13 MiB. Those of an exported directory hold
/// descriptors, of which a server may have fewer.
pub const FIDS_MAX: usize = 1 << 16;

/// Fids of one of the manager's connections: half of those that all of them may have at a node,
/// which are half of what one connection may have there.
pub const SHARED_FIDS_MAX: usize = FIDS_MAX / 4;

/// Bytes of a path, and of what a symbolic link says (Linux PATH_MAX).
pub const PATH_MAX: usize = 4096;

/// Bytes of the paths of one connection's fids, which only the dialects with names in their
/// stats keep: 256 for each fid.
pub const PATHS_MAX: usize = FIDS_MAX * 256;

/// Requests of one connection that wait for an answer: all 16-bit tags but NOTAG.
pub const TAGS_MAX: usize = 0xffff;

/// Bytes of replies that may queue for a client that does not read, beyond one message.
/// Requests are no longer read from it until it has taken them. What reads of files under way
/// will bring counts as well, with room for one message more, before further reads of files of the
/// same server are begun.
pub const OUTBOX_MAX: usize = 256 * 1024;

/// What reads of files of other servers may bring to one client: eight servers' worth in the
/// largest messages, and 28 in those of our own clients. If so many stand still at once, reads of
/// all others wait for them, too.
pub const PROMISED_MAX: usize = 64 * 1024 * 1024;

/// Most that a read is given which has waited, or which may wait at another server and is one of
/// many: it bounds what many such reads can bring.
pub const WAITED_MAX: usize = 8 * 1024;

/// Bytes of requests that may queue for another server whose tree is a part of ours: for what
/// many have under way at once, of which `muster cp` has 8 MiB. Further writes wait. A server that
/// stands still costs no more, but for two messages: one that several have found room for at once,
/// and one for what is not written, as who asks that cannot be made to wait.
pub const HANDED_ON_MAX: usize = 64 * 1024 * 1024;

/// Bytes of one client's writes that may wait for whoever takes them (room in such a queue, a
/// program that reads its input) while it is read from, so that it can ask for other things and
/// take requests back: what `muster cp` has under way. Of the first through each fid a 32nd part
/// counts: a client that has one under way for each of its files bounds itself.
pub const WRITES_KEPT_MAX: usize = 8 * 1024 * 1024;

/// Bytes of an extended attribute's value (Linux XATTR_SIZE_MAX).
pub const XATTR_MAX: usize = 64 * 1024;

/// Connections of one server. Each has a first buffer of 8 KiB: 32 MiB for all of them.
pub const CONNECTIONS_MAX: usize = 4096;

/// Bytes of the messages that all connections of one server may hold beyond their first buffers:
/// 32 of the largest at once, or 126 of our own clients', each with 64 KiB of what follows. Who
/// needs more when they are given out waits, and is not read from meanwhile. With the first
/// buffers a server's input is at most 162 MiB.
pub const RECEIVE_MAX: usize = 32 * (MSIZE_MAX + 64 * 1024);

/// Bytes of a process's output that the node keeps while nobody reads; then the process waits,
/// as it would on a full pipe.
pub const STREAM_WINDOW: usize = 256 * 1024;

/// Bytes of a writable control file (`argv`, `env`, `ns`): Linux refuses an exec with more.
pub const TEXT_MAX: usize = 2 * 1024 * 1024;

/// Sessions of one node daemon: each is a process tree, and the daemon's share of 20,000 open
/// descriptors is five for each.
pub const SESSIONS_MAX: usize = 3072;

/// Inits of one node daemon that have nothing to do and wait for the next program: as many programs
/// as start at once on most nodes. Each is a process of 200 KB of its own, and two descriptors.
pub const SPARE_INITS_MAX: usize = 32;

/// Empty directories that one node daemon keeps for its next sessions.
pub const SPARE_DIRECTORIES_MAX: usize = 32;

/// Node daemons of one cluster on one machine. Each takes about 5 MB of its own and nine threads:
/// more is a mistake in typing, and would stop the machine before it could be taken back.
pub const NODES_HERE_MAX: usize = 256;

/// Bytes of a cluster's history of jobs before it is put aside; twice that is kept. A line has
/// about 500 bytes, so 8,000 jobs are there, and fewer with many nodes or long arguments.
pub const HISTORY_FILE_MAX: u64 = 4 * 1024 * 1024;

/// Jobs that are kept whole after they are done, with their ranks and output: as many as fit on a
/// few screens. Of those before them the history has a line each.
pub const JOBS_REMEMBERED: usize = 256;

/// How often a job may begin again: one that loses a node each time will do so a hundredth time.
pub const REQUEUES_MAX: u32 = 100;

/// Hosts of one cluster: the head keeps a process and three threads for each.
pub const HOSTS_MAX: usize = 1024;

/// Bytes of a simulated datagram: as large as a packet of bulk ever is.
pub const SIMULATED_MESSAGE_MAX: usize = 256 * 1024;

/// Bytes under way in one direction of a simulated connection: twice the largest message, each
/// with a bookkeeping of 64 bytes, so that one can be filled while another is taken.
pub const SIMULATED_WINDOW: usize = 2 * (SIMULATED_MESSAGE_MAX + 64);

/// Simulated connections that wait to be accepted, as of a listening socket (SOMAXCONN was 128).
pub const SIMULATED_WAITING: usize = 128;

/// Bytes of a name in a hello of the fabric: what its length in one byte can say.
pub const HELLO_TEXT_MAX: usize = 255;

/// Bytes of a frame that carries a message over a byte stream: 16 MiB of the user's and 4 KiB for
/// what emulated strategies put before them.
pub const FRAME_MAX: usize = 16 * 1024 * 1024 + 4096;

/// How long who leaves a full socket waits for room for its goodbye, where the kernel makes none: a
/// peer that reads makes it in a fraction of that.
pub const GOODBYE_LINGER: Duration = Duration::from_secs(1);

/// Bytes of one put or get over active messages: the user's part of a frame.
pub const COPY_MAX: usize = 16 * 1024 * 1024;

/// Bytes of a piece of an emulated put or get: about what a receiver reads at once, so that the
/// owner is never kept for longer than 10 us by one of them.
pub const COPY_PIECE: usize = 64 * 1024;

/// Pieces under way at once: 1 MiB hides a round trip of 100 us at 10 GB/s.
pub const COPY_WINDOW: usize = 16;

/// Puts and gets of one end that have not ended; those that wait hold at most [`COPY_MAX`] bytes
/// beyond the first one's.
pub const COPIES_MAX: usize = 64;

/// Bytes of answers to active messages that wait for room: those to a full window of gets.
pub const ANSWERS_MAX: usize = COPY_WINDOW * (COPY_PIECE + 64);

/// Bytes of active messages that are held back while the answers to earlier ones have no room: four
/// of the largest. Who calls has no more than that under way without an answer, or one message.
pub const HELD_MAX: usize = 4 * FRAME_MAX;

/// Active messages that one call of progress carries out, so that a busy peer does not keep the
/// caller: at 1 us each about a quarter of a millisecond.
pub const ACTIVE_TURN: usize = 256;

/// Regions that one end exposes: the owner looks a key up in a table of at most 3 MiB.
pub const REGIONS_MAX: usize = 1 << 16;

/// Connectors of one listener that have not said hello yet. Each costs a descriptor and 519 bytes
/// (with TLS three, and at most 200 KiB: 50 MiB for all), for at most as long as a hello may take;
/// when more come, the one that is silent longest goes.
pub const HELLOS_MAX: usize = 256;

/// Bytes of a protected connection that are sealed at once: four of TLS's records. What waits on
/// the way out is at most one such chunk and its records' heads, on the way in at most twice as
/// much; of a handshake about half as much.
pub const TLS_CHUNK: usize = 64 * 1024;

/// Connections that a shell's door has let in and its thread has not taken: each has a first buffer
/// of 64 KiB, 16 MiB for all. The thread takes all of them in one turn, so more come only from one
/// who connects again and again.
pub const GUESTS_MAX: usize = 256;

/// Connections that the kernel holds for a listening socket, which cuts this to its own limit (4096
/// since Linux 5.4): those of a second in which 1,000 nodes start.
pub const BACKLOG: i32 = 1024;

/// Connectors that wait for a listener of this process: threads, of which a start makes as many as
/// there are processors, some of them several times. Each holds a segment of its own.
pub const PROCESS_BACKLOG: usize = 128;

/// How long to wait for the lock under which a Unix socket's name is taken: ten thousand times what
/// that takes.
pub const NAME_LOCK_TIME: Duration = Duration::from_secs(1);

/// Packets that one look at a shared-memory connection's socket takes: at 1 us each, a peer that
/// sends more keeps nobody for longer than a message of 1 MiB does.
pub const SHARED_PACKETS: usize = 64;

/// Bytes of a message through shared memory: what one receiver can be made to take at most, and
/// four times the largest frame of a socket.
pub const SHARED_MESSAGE_MAX: usize = 64 * 1024 * 1024;

/// Bytes of packets under way in one direction of a shared-memory connection: two second-level
/// caches of 2 MiB, beyond which a larger ring is no faster (docs/decisions/pipeline.md). Memory is
/// taken as far as it is used.
pub const SHARED_ARENA: usize = 4 * 1024 * 1024;

/// The same for the system's lane, whose messages are short.
pub const SHARED_ARENA_SYSTEM: usize = 128 * 1024;

/// Regions of one shared-memory peer that are mapped; more are reached by messages. Linux lets a
/// process have 65,530 mappings: room for 200 such peers and for everything else.
pub const SHARED_WINDOWS_MAX: usize = 256;

/// Bytes of these: [`CONNECTIONS_MAX`] such peers use half of a process's 128 TiB of addresses.
pub const SHARED_WINDOW_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;

/// Bytes of one XFER-AND-SIGNAL. It is staged whole, and a message of a tree waits for the one
/// before it: 1 MiB takes 0.1 ms through memory and 1 ms over 10 Gbit/s. Longer data goes in
/// several transfers.
pub const TRANSFER_MAX: usize = 1 << 20;

/// The longest letter from one daemon to others: it is one XFER-AND-SIGNAL. Arguments and
/// environment that do not fit go as files do.
pub const LETTER_MAX: usize = TRANSFER_MAX;

/// Bytes of a chunk of a file: half a letter, so that what each costs beside its bytes does not
/// count and two are on their way while one is written.
pub const CHUNK: usize = TRANSFER_MAX / 2;

/// The hashes of one file's chunks: 1 MiB of them are 16 GiB. Longer files go without.
pub const RECIPE_MAX: usize = 1 << 20;

/// Chunks of one job: they are counted in 20 bits, with what else is sent.
pub const JOB_CHUNKS_MAX: usize = 1 << 19;

/// Chunks of a boot image that one client takes at once, and that one source gives at once: some
/// are on their way while the next are asked for. More would share the links, and each would be
/// whole, and passed on, later; a client that took more than a source gives would keep others from
/// having something to give.
pub const IMAGE_WINDOW: usize = 4;

/// Helpers that one client takes a boot image from. Each costs a connection and a handshake at both
/// ends, 1 ms of processor time; with eight, a rare chunk is three steps from 500 clients.
pub const IMAGE_SOURCES: usize = 8;

/// Chunks of a boot image that are cast before all who listen have told of the oldest of them: a
/// listener keeps so many in memory.
pub const IMAGE_CASTS: usize = 8;

/// How long those who listen to an image wait for one of them, in all: it takes chunks from others
/// then. Machines that do not stand still are late by some slices of a busy processor.
pub const IMAGE_STALL: Duration = Duration::from_secs(1);

/// How long a client may take over a chunk before its source counts as free again: at that rate,
/// 512 KiB in half a minute, an image of 64 MiB would take an hour.
pub const IMAGE_GRANT_TIME: Duration = Duration::from_secs(30);

/// Clients of one boot image at once: each holds a session and a connection of the server's.
pub const IMAGE_CLIENTS_MAX: usize = 2048;

/// Images that a cluster keeps.
pub const IMAGES_MAX: usize = 1024;

/// Bytes of the files that the nodes of a machine keep for the jobs that come: what a day's
/// programs have. Less where little is free.
pub const CHUNK_STORE_MAX: u64 = 1 << 30;

/// What each of many nodes of a machine may keep all the same, where that is free: a few programs.
pub const CHUNK_STORE_MIN: u64 = 64 << 20;

/// Operations of one member that have not ended, and their bytes: two of the largest transfers
/// keep a tree busy, one on its way down and one whose acknowledgement is on its way up.
pub const PENDING_MAX: usize = 64;

/// See [`PENDING_MAX`]; twice what is needed.
pub const PENDING_BYTES_MAX: usize = 4 * TRANSFER_MAX;

/// Operations that the master has under way, of all members together. Every member may have to keep
/// all of them: with node sets of one range each has less than 256 bytes.
pub const STAGED_MAX: usize = 256;

/// Operations that wait at the master until they may be under way: as many as members, whose ranks
/// may end everywhere at once. With node sets of one range they have 16 MiB.
pub const ASKED_MAX: usize = MEMBERS_MAX;

/// Bytes of the bodies of both: what a member has to keep at most is 16 MiB.
pub const STAGED_BYTES_MAX: usize = 16 * TRANSFER_MAX;

/// Bytes of a letter that a member tells the master: of all members together they have to have room
/// there at once. What is longer goes as an operation, which waits at its origin until it is taken.
pub const TELL_MAX: usize = 4 * 1024;

/// Bytes of such letters that go in one message where there are more.
pub const TELL_BYTES: usize = 64 * 1024;

/// Bytes that a member on the way of these keeps before it takes no more from below.
pub const TOLD_BYTES_MAX: usize = 1 << 20;

/// Ranges of a set of members: as many as numbers below [`MEMBERS_MAX`] can have. They are 256 KiB.
pub const RANGES_MAX: usize = MEMBERS_MAX / 2;

/// Ranges of an operation's node set. A restarted master is told of all operations under way in one
/// message: [`STAGED_MAX`] sets of 8 KiB each.
pub const SET_RANGES_MAX: usize = 1024;

const _: () = assert!(STAGED_MAX * (SET_RANGES_MAX * 8 + 64) + 3 * RANGES_MAX * 8 < FRAME_MAX / 2);

/// Bytes from which a body that goes to several members goes by multicast where it can: what one
/// call sends. Three messages go beside it, which cost 20 us, as does sending so much once more.
pub const MULTICAST_MIN: usize = 64 * 1024;

/// Bytes of a body that goes by multicast: of a whole XFER-AND-SIGNAL.
pub const MULTICAST_MAX: usize = TRANSFER_MAX;

/// Bytes of the bodies that a member assembles from datagrams: what can be staged, and as much
/// again for what goes to others and is heard all the same.
pub const MULTICAST_BYTES_MAX: usize = 2 * STAGED_BYTES_MAX;

/// Bytes that a listener's socket is asked to hold, which the kernel doubles, to sixteen of the
/// largest bodies: of these it holds four or more, since a datagram of 1344 bytes is charged with
/// all the memory that it lies in, up to 4 KiB where drivers receive into pages. So the root need
/// not wait in the midst of one. A usual process gets 208 KiB.
pub const MULTICAST_BUFFER: usize = 8 * TRANSFER_MAX;

/// Bytes of a message that repairs a body: 48 parts of 1344.
pub const MULTICAST_REPAIR: usize = 48 * 1344;

/// Calls that take or send datagrams, 60 KB each, before connections are looked at: 1 ms of work.
pub const MULTICAST_TURN: usize = 16;

/// Peers whose pipelines are remembered. Four states of a medium, each with a table of 81 ranges
/// of lengths, are about 40 KB: 10 MB for all of them.
pub const PIPELINE_PEERS_MAX: usize = 256;

const _: () = assert!(SESSIONS_MAX * 5 + CONNECTIONS_MAX < 20_000);
const _: () = assert!(MSIZE_MIN > WALK_MAX * (2 + NAME_MAX) / 2);
const _: () = assert!(HEADER == 7 && IO_HEADER == 24);

/// Shortest period of the heartbeat, in microseconds. A strobe was measured to cost a leaf 12 to
/// 19 us on a busy machine, which is 4 to 6 % of a processor at this period.
pub const PERIOD_MIN_US: u64 = 300;

/// Longest period of the heartbeat, in microseconds: a minute.
pub const PERIOD_MAX_US: u64 = 60_000_000;

/// Micro-heartbeats of one heartbeat: with the shortest period one every 18 us, which is as fine
/// as timers are.
pub const MICRO_MAX: u16 = 16;

/// Members of a heartbeat's tree: 256 KiB of numbers in the strobe that announces them.
pub const MEMBERS_MAX: usize = 1 << 16;

/// Children of a node in a heartbeat's tree: each has a queue at its parent.
pub const ARITY_MAX: usize = 1024;

/// Events of one strobe.
pub const EVENTS_MAX: usize = 1024;

/// Bytes of a strobe's events, each with its header of 8: all members and 64 KiB besides. At the
/// shortest period they would need 1.1 GB/s, so usual strobes are far smaller.
pub const STROBE_MAX: usize = MEMBERS_MAX * 4 + 64 * 1024;

/// Bytes of one user's event: two of them still fit beside a list of all members.
pub const EVENT_MAX: usize = 31 * 1024;

/// Bytes of events that wait for a strobe: 16 strobes of 64 KiB.
pub const EVENTS_WAITING_MAX: usize = 1024 * 1024;

/// Strobes a node keeps for those that have missed some: 13 minutes of the usual period
/// of 200 ms, 4 s of one of 1 ms.
pub const HISTORY_MAX: usize = 4096;

/// Bytes of the strobes that are kept, headers not counted.
pub const HISTORY_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Nodes named by one report of who is late; of 16 bytes each, 16 KiB.
pub const LATE_MAX: usize = 1024;

const _: () = assert!(STROBE_MAX <= HISTORY_BYTES_MAX && 2 * (EVENT_MAX + 8) < 64 * 1024);

/// Messages that wait at a shell for one peer, and their bytes. A whole history of strobes and one
/// broadcast of 16 MiB fit; a peer behind which more has gathered does not read.
pub const QUEUE_MAX: usize = 2 * HISTORY_MAX;
/// See [`QUEUE_MAX`]. Bodies are shared, so many peers' queues may hold the same bytes.
pub const QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Messages that a shell takes from one peer before it looks at the others: at 2 us each, a peer
/// that sends without end delays the others' by half of the shortest heartbeat.
pub const SHELL_TURN: usize = 64;

/// Requests that wait for a shell's thread. At 64 bytes each they hold 256 KiB, bodies not counted.
pub const REQUESTS_MAX: usize = 4096;

/// Senders of one mailbox: as many as a server has connections.
pub const MAILBOX_SENDERS_MAX: usize = CONNECTIONS_MAX;

/// Operations of one shared segment that nobody has waited for. A window of them hides the time
/// of a round trip: 256 of 4 KiB at 10 us fill 100 GB/s.
pub const SEGMENT_OPERATIONS_MAX: usize = 256;

/// Messages under way that all operations of one shared segment consist of: four for each.
pub const SEGMENT_PARTS_MAX: usize = 4 * SEGMENT_OPERATIONS_MAX;

/// Calls of one remote object invocation that have no answer: 256 hide a round trip of 250 us
/// behind calls of 1 us. Call numbers give eight bits to it.
pub const INVOCATION_CALLS_MAX: usize = 256;

/// Bytes of answers that one end of a remote object invocation keeps until somebody waits for them:
/// four of the largest. Without it, a peer could answer every call with as much.
pub const INVOCATION_ANSWERS_MAX: usize = 4 * FRAME_MAX;

/// Bytes of the sentence by which an object refuses a call that are kept.
pub const INVOCATION_REASON_MAX: usize = 1024;

/// Objects that one end of a remote object invocation lets the other call.
pub const INVOCATION_OBJECTS_MAX: usize = 1024;

/// How long a hello to a listener may take: some round trips and the opening of an endpoint, on a
/// machine that is busy. Nobody waits for it but the one who says it.
pub const HELLO_TIME: Duration = Duration::from_secs(5);

/// Host names that one process looks up at once. Each costs a thread for as long as the system's
/// resolver takes, half a minute where no server answers: two new ones a second meanwhile.
pub const LOOKUPS_MAX: usize = 64;

/// How long a listener waits for the addresses of its own host, which rarely need a server.
pub const LISTEN_LOOKUP_TIME: Duration = Duration::from_secs(10);

/// How long the end of a libfabric connection waits for what is under way: a hundred times what a
/// full window takes at 100 MB/s.
pub const OFI_LINGER: Duration = Duration::from_secs(1);

/// Greetings that a libfabric listener has under way at once, of those whose hello it has read.
/// Each has an endpoint at both ends, and providers are looked at every millisecond, 20 us or more
/// each time: eight of them at both ends use a third of a processor, and a hundred all of two.
pub const OFI_GREETINGS_MAX: usize = 8;

/// The largest message over libfabric: a transfer with its nodes, or as much of a user's, and 4 KiB
/// for what emulated strategies put before them. Both ends of a connection keep a buffer of that
/// size each way.
pub const OFI_MESSAGE_MAX: usize = TRANSFER_MAX + SET_RANGES_MAX * 8 + 4096;

/// Bytes of a piece of a message between ranks of two nodes: its copies take 1 us each, about what
/// the system call takes that moves it.
pub const GATEWAY_PIECE: usize = 8 * 1024;

/// Pieces that go over a socket as one frame: with what goes before them 63 of the 64 pages that a
/// pipe of 256 KiB refers to. What a call costs then is small beside its copies, and two of them
/// are under way to a rank at a time.
pub const GATEWAY_RUN: usize = 31;

/// Pieces that a rank has on their way out, and as many on their way in: 1 MiB each hides 800 us at
/// 10 Gbit/s, and both stay below the 4 MB that a rank's library may take.
pub const GATEWAY_SLOTS: usize = 128;

/// Pieces on their way from one rank to another at most, 512 KiB: two of the longest frames. They
/// are no more than its slots that are free beside them, so a few ranks that take nothing (up to
/// seven: 64, 32, 16, 8, 4, 2 and 1) do not keep a sender from the others.
pub const GATEWAY_WINDOW: u64 = GATEWAY_SLOTS as u64 / 2;

/// Ranks of one node in one job that exchange messages: a line of words for each set of them, and
/// rings for each two, 2.4 GB of addresses.
pub const GATEWAY_RANKS_MAX: usize = 256;

/// Messages that a ring between two ranks of one node holds: a page of lines. A window of 64 short
/// messages, as benchmarks and halo exchanges send them, fits.
pub const NEAR_ENTRIES: usize = 64;

/// Lines of a ring for what is longer, 32 KiB: two messages of 16 KiB, and it stays in a first
/// cache of 48 KiB together with what is copied. A rank that talks to all of 64 ranks has touched
/// 2.3 MB of them.
pub const NEAR_LINES: usize = 512;

/// Bytes of a piece of a message between two ranks of one node: the receiver copies one while the
/// sender copies the next.
pub const NEAR_PIECE: usize = 8 * 1024;

/// The same of a message of 64 KiB and more, in chunks: a receiver copies the halves of a piece
/// side by side, and each is to be some pages (`docs/decisions/near.md`).
pub const NEAR_LONG_PIECE: usize = 16 * 1024;

/// Chunks that a rank has for the longer pieces of its messages to all others of its node: 2 MiB,
/// so that none is in a processor's own caches any more when it is written again
/// (`docs/decisions/near.md`). Loom has so few that they are soon used again.
pub const NEAR_CHUNKS: usize = if cfg!(any(loom, miri)) { 4 } else { 2048 };

/// Bytes of a chunk. A piece takes some in a row.
pub const NEAR_CHUNK: usize = 1024;

/// Boards of a node's segment, for short collectives: each communicator of its ranks that uses one
/// has its own, and a program rarely has more that do.
pub const BOARDS: usize = 16;

/// Bytes that a rank shows on a board at once: four lines with what is said of them. What is longer
/// is as fast in messages.
pub const BOARD_BYTES: usize = 4 * 64 - 8;

/// Ranks that share a board at most: each looks at all.
pub const BOARD_RANKS_MAX: u32 = 64;

/// Nodes of one job: as many as a welcome of 8 KiB can name, and each process holds a descriptor
/// for each, of the 20,000 that it may have.
pub const GATEWAY_NODES_MAX: usize = 4096;

/// Rails of one connection: what a machine has network ports for, twice.
pub const RAILS_MAX: usize = 8;

/// Bytes of a connection over several rails that were sent and are not known to have arrived, and
/// as many that have arrived and were not read: what is kept in case a rail dies, and where pieces
/// wait for earlier ones. 4 MiB hide 1 ms at 32 Gbit/s. Memory is taken as far as it is used.
pub const RAILS_WINDOW: usize = 4 * 1024 * 1024;

/// The same for the system's lane, whose messages are short: four pieces.
pub const RAILS_WINDOW_SYSTEM: usize = 4 * RAILS_PIECE;

/// Bytes of a piece that goes over one rail: 50 us at 10 Gbit/s, five times what its head and its
/// calls cost, and short enough for two rails to share a message of 128 KiB.
pub const RAILS_PIECE: usize = 64 * 1024;

/// Bytes under way on one rail. 1 MiB each hides a round trip of 800 us at 10 Gbit/s, and two rails
/// leave half of the window to the others.
pub const RAILS_FLIGHT: u64 = 1024 * 1024;

/// Pieces under way on one rail, 32 bytes each to remember them: 256 short messages.
pub const RAILS_PIECES: usize = 256;

/// How long what went over a rail may be without an acknowledgement before it goes over another as
/// well: a turn of a busy machine's scheduler, some times over. If nothing was lost, the price is
/// that at most [`RAILS_FLIGHT`] bytes go twice.
pub const RAILS_PATIENCE: Duration = Duration::from_millis(100);

/// How long the first rails of a new connection wait for the others: as long as a SYN is lost once
/// (RFC 6298 sends it again after 1 s).
pub const RAILS_JOIN_TIME: Duration = Duration::from_millis(1500);

/// How long a listener remembers a connection that it handed out before all of its rails came: all
/// that were let in have [`HELLO_TIME`] to join, and as long again to be let in from a full queue.
/// At most [`HELLOS_MAX`] connections wait at once, and each for [`RAILS_JOIN_TIME`], so at most
/// 2,048 are remembered, of 32 bytes.
pub const RAILS_LATE: Duration = Duration::from_secs(10);

/// How long the end of a connection over several rails waits for a sign that what was sent gets on.
pub const RAILS_LINGER: Duration = Duration::from_secs(1);

/// How long it waits in all, whatever signs there are: a window at 7 Mbit/s.
pub const RAILS_LINGER_MAX: Duration = Duration::from_secs(5);

/// The shortest slice of gang scheduling: the strobes of 300 us are what the paper's nodes could
/// just keep up with (STORM, section 4.4).
pub const SLICE_MIN: Duration = Duration::from_micros(300);

/// The shortest slice where the strober is scheduled as all other processes: on a busy machine it
/// comes some milliseconds late then (`docs/decisions/gang.md`).
pub const SLICE_MIN_SHARED: Duration = Duration::from_millis(10);

/// The longest slice: the paper's figure 3 ends there; what waits longer for its turn is a queue.
pub const SLICE_MAX: Duration = Duration::from_secs(8);

/// Slots of gang scheduling: with the shortest slice a turn comes every 20 ms.
pub const SLOTS_MAX: usize = 64;
