#pragma once
// Every limit of the I/O threads: name, unit, value, reason. None of them is set by the peer.

#include <cstddef>
#include <cstdint>

namespace httpsys::limits {

// Bytes of one read of what is not a long body (kBlocksPerRead). More only costs cache.
inline constexpr size_t kReadBytes = 64 * 1024;
// The same for a chunked body whose reader has a larger window: the fewer reads, the less the
// kernel takes of the client's sending into the time of the lane.
inline constexpr size_t kLargeReadBytes = 256 * 1024;
// Reads of one connection per readiness event, so that a fast uploader leaves time for others.
inline constexpr int kReadsPerEvent = 4;
// A whole body up to this size travels inside its kRequest record: one record, one copy.
inline constexpr size_t kInlineBodyBytesMax = 16 * 1024;
// Larger body pieces become blocks of their own, which JavaScript takes over without a copy.
inline constexpr size_t kInlinePieceBytesMax = 8 * 1024;
// Memory of a block that a body is read into directly.
inline constexpr size_t kBlockBytes = 64 * 1024;
// Blocks that one read fills: twice as many make it 10 % cheaper per byte, half as many 20 %
// dearer.
inline constexpr size_t kBlocksPerRead = 16;
// Blocks that JavaScript lends at a time to a lane: 8 reads. V8 counts them as garbage to come:
// with four times as many it spends more time on that than the reads of more connections save.
inline constexpr size_t kReceiveBlocksMax = 128;
// Below this much outstanding body a direct read saves nothing.
inline constexpr size_t kDirectReadBytesMin = 16 * 1024;
// Body and opaque bytes of one connection that JavaScript may have without having consumed them:
// two socket buffers, enough to keep a reader busy across a thread hop.
inline constexpr int32_t kReceiveWindowBytes = 128 * 1024;
// The same in addition, for a connection whose JavaScript consumes its window within kKeepsUpMs,
// which few consumers do that wait for a disk or a network: a read then has kBlocksPerRead blocks.
inline constexpr int32_t kReceiveExtraBytes = kBlocksPerRead * kBlockBytes - kReceiveWindowBytes;
inline constexpr uint32_t kKeepsUpMs = 10;
// How long JavaScript that has it may take to consume all, before it counts as slow: while it is
// fast the socket is read on, so that a moment without anything left to consume may be rare.
inline constexpr uint32_t kSlowMs = 100;
// Connections of a lane that have it at a time, and streams of HTTP/2: 14 MiB each.
inline constexpr size_t kReceiveExtraMax = 16;
// Bytes of a refused message that 'clientError' shows: what Node reads at a time.
inline constexpr size_t kRawBytesMax = 64 * 1024;
// Unused parsers and decoders that a lane keeps for the next incomplete message.
inline constexpr size_t kSpareParsersMax = 64;

// Bytes of small blocks that a thread keeps for the next streams: what a thousand streams need.
inline constexpr size_t kSmallBlocksKeptBytes = 2 * 1024 * 1024;

// Reply records handled before their output is sent, so that the first replies of a busy JavaScript
// thread do not wait for the last.
inline constexpr int kRepliesPerPass = 256;
// The same in bytes, with the reply that reaches it: half of the credit of a fast client
// (socket-output.js: kSendBytesFastMax), so that JavaScript makes one half while the other is sent.
inline constexpr uint32_t kReplyBytesPerPass = 512 * 1024;
// Reply segments of a lane that keep their pages once they have been read (2 MiB). More are needed
// only while JavaScript is far ahead of the lane, and cost page faults then.
inline constexpr uint32_t kReplySegmentsKept = 8;
// Passes before a lane looks at its sockets again.
inline constexpr int kPassesPerPoll = 4;
// Bytes that have left before JavaScript hears of them: a quarter of its default write credit.
inline constexpr size_t kCreditBytes = 64 * 1024;
// The same for a stream of HTTP/2 that has nothing left to send: half of what each stream may
// always have unsent (stream-credit.js: kStreamBytesMin, kUntoldBytes).
inline constexpr size_t kStreamCreditBytes = 8 * 1024;
// Total bytes of several pieces up to which they are gathered in one buffer, which is cheaper than
// an iovec.
inline constexpr size_t kGatherBytesMax = 32 * 1024;
// Pieces of one sendmsg(2), well below IOV_MAX.
inline constexpr int kVectorsMax = 64;
// Prefixes for which a connection of HTTP/2 counts at a time (maxConnectionsPerPrefix), with its
// client: what it asked for earlier is forgotten. Bounds the memory of a client that asks for all.
inline constexpr size_t kCountedGroupsMax = 64;
// Unsent bytes of a connection above which the head of its next request waits. A client that sends
// requests and does not read costs this, one answer, and one read of further requests.
inline constexpr size_t kUnsentBytesMax = 64 * 1024;
// Memory of a connection's unsent output above which nothing is added to it, and the connection
// ends. JavaScript's credit (socket-output.js) keeps it below an eighth of this: only forged
// replies, or an application that never looks whether its WebSocket's control frames leave, come
// here.
inline constexpr size_t kUnsentRepliesMax = 16 * 1024 * 1024;
// Connections that ended with unsent output, after which malloc() is asked to give memory back to
// the kernel: otherwise it keeps what a flood has left.
inline constexpr size_t kTrimAfterDrops = 32;
// Bytes sent on one connection per writability event, so that a fast reader leaves time for others.
inline constexpr size_t kSendBytesPerEvent = 1024 * 1024;

// Size from which output that several connections share is queued by reference; less is cheaper to
// copy.
inline constexpr size_t kSharedBytesMin = 1024;

// -- Files.

// A file, or the rest of one, up to this size is read into the memory of the answers that leave
// together; beyond, the kernel sends it without a copy, which costs a system call of its own.
inline constexpr size_t kFileReadBytesMax = 8 * 1024;
// Bytes of a file that one system call sends, and that are read ahead: what a disk reads at once,
// and a fast client takes in less than a tenth of a millisecond.
inline constexpr size_t kFileWindowBytes = 256 * 1024;
// How long a file that was found in memory as a whole is not looked at again, in ms. Two looks cost
// a tenth of sending 35 KB; the kernel drops no page so soon that is in use.
inline constexpr uint64_t kFileHotMs = 50;
// Bytes of a file that one call seals (TLS): four records.
inline constexpr size_t kFileSealBytes = 64 * 1024;
// The same where the socket may not take so many: what it does not take costs memory. One record.
inline constexpr size_t kFileSealBytesMin = 16 * 1024;
// Blocks of kFileWindowBytes that a lane keeps for clients that have not taken them yet; a client
// beyond has its bytes read again when it takes more. 16 MiB.
inline constexpr size_t kFileBlocksKeptMax = 64;
// Files that an engine keeps open for the next requests, below a quarter of the descriptors that
// the process may have: far more than a page has, and little beside connections.
inline constexpr size_t kOpenFilesMax = 1024;
// How long a file stays open that nobody uses, in ms: whoever removes it, or unmounts its file
// system, hardly waits, and files that are asked for every few seconds stay open.
inline constexpr uint64_t kFileUnusedMs = 5000;
// Threads that wait for disks, and for servers of network file systems: a device has one for reads
// and one for names, so that four that do not answer leave the others alone until a fifth one.
inline constexpr int kFileThreadsMax = 8;

// -- Bandwidth of a prefix (maxBandwidth).

// Output of this time may leave at once after a pause: longer than a busy lane or its timers are
// late, and shorter than what anybody measures a rate over.
inline constexpr uint64_t kBandwidthBurstMs = 100;
// The least burst, in bytes: a small answer leaves at once with every rate.
inline constexpr uint64_t kBandwidthBurstBytesMin = 4096;
// The share of one connection or stream before the others have their turn, as time and bytes. Less
// costs more system calls, more lets each of many wait longer. The most is a socket's usual piece.
inline constexpr uint64_t kBandwidthTurnMs = 20;
inline constexpr uint64_t kBandwidthTurnBytesMin = 512;
inline constexpr uint64_t kBandwidthTurnBytesMax = 64 * 1024;
// The least and the longest time, in ms, after which a lane looks at the output that waits: looks
// that find bytes for several turns cost less, and the rate may grow when another owner leaves.
inline constexpr uint64_t kBandwidthLookMsMin = 5;
inline constexpr uint64_t kBandwidthLookMsMax = 500;

// -- WebSockets.

// A message up to this size travels inside its record; a longer one in a block of its own, whose
// memory JavaScript takes over.
inline constexpr size_t kInlineMessageBytesMax = 16 * 1024;
// Longest message, whatever the application allows: a record counts its bytes in a word.
inline constexpr uint64_t kMessageBytesMax = 0x7fffffff;
// Bytes that a lane keeps of an upgraded connection while JavaScript has not said what they are.
inline constexpr size_t kUndecidedBytesMax = 64 * 1024;
// Payload that is received directly into the memory of its message. Below the minimum, a copy is
// cheaper.
inline constexpr size_t kMessageReadBytesMin = 32 * 1024;
inline constexpr size_t kMessageReadBytesMax = 1024 * 1024;
// Blocks that are kept for the next large message, and their total bytes per lane. Below the
// minimum block, malloc() has memory that it does not give back to the kernel. V8 frees about the
// total at a time (it counts to 32 MiB before it collects); with less, every other block would be
// fresh memory.
inline constexpr size_t kPooledBlockBytesMin = 64 * 1024;
inline constexpr size_t kPoolBytesMax = 36 * 1024 * 1024;
// How often zlib states and blocks that are not in use are given back.
inline constexpr uint64_t kUnusedMs = 2000;

// -- HTTP/2.

// Longest head or trailer section of a response that is written in pieces: longer than any client
// takes.
inline constexpr size_t kResponseHeadBytesMax = 1024 * 1024;
// Bytes of frames that are gathered for one write: what a slow reader costs beside the output of
// its streams, and several TLS records. Doubled each time that the socket has taken all of them, as
// kTlsWireBytes is.
inline constexpr size_t kHttp2WireBytes = 64 * 1024;
inline constexpr size_t kHttp2WireBytesMax = 256 * 1024;
// Body bytes of all streams of a connection that its peer may send ahead of the streams' windows.
inline constexpr int32_t kHttp2ConnectionWindowBytes = 1024 * 1024;
// Output that a connection's socket has not taken: written frames, frames that wait behind them,
// and heads of streams that the peer has reset meanwhile. Twice what one pass makes, and the heads
// of some hundred streams. Bytes that wait for a window do not count.
inline constexpr size_t kHttp2UnsentBytesMax = 2 * 1024 * 1024;
// Memory of nghttp2 for a frame that waits, beside its fields.
inline constexpr size_t kHttp2FrameBytes = 256;
// Lines of a request head. Its record has 16 bits for their number, and we may add a few lines:
// what HTTP/2 has in other places, and the validators of an entry of the output cache.
inline constexpr size_t kRequestLinesMax = UINT16_MAX - 15;
// Fields of one section that are accepted even if maxHeaderSize is small: as many as node:http2
// accepts.
inline constexpr size_t kHttp2FieldsMin = 128;
// Acknowledgements of SETTINGS and PING that the peer does not read.
inline constexpr size_t kHttp2UnsentAcksMax = 1000;
// Entries of one SETTINGS frame: there are ten known ones.
inline constexpr size_t kHttp2SettingsMax = 32;
// CONTINUATION frames of one field section; the largest that is taken needs one or two.
inline constexpr int kHttp2ContinuationsMax = 6;
// Decoded bytes of a field section beyond maxHeaderSize. Up to here the request is answered with
// 431; a longer section is a compression bomb.
inline constexpr size_t kHttp2OversizeBytesMax = 256 * 1024;
// Streams that the peer may reset: at once, and per second in the long run. A browser that leaves a
// page resets some hundred.
inline constexpr uint32_t kHttp2ResetsMax = 1000;
inline constexpr uint32_t kHttp2ResetsPerSecond = 33;
// Frames that bring nothing (SETTINGS, PING, PRIORITY, empty DATA), likewise.
inline constexpr uint32_t kHttp2IdleFramesMax = 1000;
inline constexpr uint32_t kHttp2IdleFramesPerSecond = 100;
// Messages of the peer that are refused, likewise: each costs a frame.
inline constexpr uint32_t kHttp2ErrorsMax = 100;
inline constexpr uint32_t kHttp2ErrorsPerSecond = 10;
// How long the first GOAWAY waits for the answer to its PING before the second one is sent.
inline constexpr uint64_t kHttp2NoticeMs = 1000;
// Spare objects for field sections that a lane keeps.
inline constexpr size_t kSpareFieldsMax = 64;
// -- TLS.

// Bytes of one connection that are read and decrypted at a time (four records), so that a fast peer
// leaves time for others.
inline constexpr size_t kTlsReadBytes = 64 * 1024;
// Plain bytes of a full record (RFC 8446, section 5.1).
inline constexpr size_t kTlsRecordBytes = 16 * 1024;
// Sealed bytes that are gathered for one send(2): four records, doubled each time that the socket
// has taken all of them, and at most sixteen, which fit into a CPU's own cache. What the socket
// leaves is kept: beyond four records, never more than twice what it has just taken.
inline constexpr size_t kTlsWireBytes = 64 * 1024;
inline constexpr size_t kTlsWireBytesMax = 256 * 1024;
// Bytes that a peer may send without one for the application: an incomplete record, and some new
// keys.
inline constexpr size_t kTlsBarrenBytesMax = 32 * 1024;
// Messages of the peer after the handshake, at once and per second in the long run: key updates
// (TLS 1.3), and renegotiation requests (earlier versions), which are refused. OpenSSL answers each
// one while it reads, whether or not the peer takes the answers, and derives keys for 10 us.
// Ciphers need a new key after 2^24 records at the earliest.
inline constexpr uint32_t kTlsRekeysMax = 100;
inline constexpr uint32_t kTlsRekeysPerSecond = 10;
// Bytes that a peer may send before the handshake is done. OpenSSL takes up to 128 KiB of
// ClientHello and 100 KiB of certificates.
inline constexpr size_t kTlsHandshakeBytesMax = 256 * 1024;
// Longest session that JavaScript gets; longer ones are not resumed. Node has the same limit.
inline constexpr size_t kTlsSessionBytesMax = 10 * 1024;
// Longest key log of a handshake; one of TLS 1.3 has five lines of 200 bytes.
inline constexpr size_t kTlsKeyLogBytesMax = 8 * 1024;
// Longest keying material that an application exports.
inline constexpr size_t kTlsKeyingBytesMax = 64 * 1024;
// How long JavaScript waits for a lane that it asks about a connection.
inline constexpr uint64_t kTlsAskMs = 1000;
// How long a key seals tickets, and how many keys are kept to open them. Sessions live for some
// minutes, so that a key that leaks later opens little.
inline constexpr uint64_t kTicketKeyMs = 3'600'000;
inline constexpr size_t kTicketKeysKept = 3;
// How late the processes of a shared port learn of a new key. Until then, tickets made with it are
// good only where they were made.
inline constexpr uint64_t kTicketTellMs = 60'000;

// How long a connection may be idle below HTTP.SYS before JavaScript has named a time (node:http
// has the same).
inline constexpr uint32_t kNativeIdleMs = 5000;
// How much, and for how long, is read and discarded after a reply that closes the connection, so
// that the kernel does not answer a late upload with a reset that would destroy the reply. A sender
// that has not noticed by then never will.
inline constexpr size_t kLingerBytesMax = 1024 * 1024;
inline constexpr uint64_t kLingerMs = 2000;
// How long a client that has ended its direction is waited with for a file, in ms: a search, or a
// read, on a disk that does not answer. A client that reads on gets most files by then; others
// would collect on the lane. Node ends such a connection at once.
inline constexpr uint64_t kLeftMs = 2000;
// How late a lane looks whether a client that sends nothing more has ended its direction: a lane
// that is awake, and one that sleeps, for which a wake would cost as much as a request.
inline constexpr uint64_t kUnwatchedMs = 20;
inline constexpr uint64_t kUnwatchedWakeMs = 200;
// Distinct idle timeouts that run at the same time. Further ones share the next shorter list.
inline constexpr size_t kTimerListsMax = 64;

// Header lines with an id, per lane: 1024 sets of 4. The lines of some hundred browser variants
// fit.
inline constexpr size_t kInternSets = 1024;
inline constexpr size_t kInternWays = 4;
// Longest line (name and value) or target that gets an id; longer ones rarely repeat.
inline constexpr size_t kInternTextBytesMax = 256;
// New ids per loop iteration, so that ever-changing lines cost little more than literal ones.
inline constexpr uint32_t kInternDefinitionsPerPass = 64;

// Connections accepted per wake of the acceptor before it looks at its other listeners. A busy port
// gathers many while its process waits for the CPU, and their owners should get them in few pieces.
inline constexpr int kAcceptsPerWake = 1024;
// How often a process that is not on duty at a port looks for waiting connections, under load: the
// deputy, and the others.
inline constexpr uint64_t kDeputyLookMs = 20;
inline constexpr uint64_t kAcceptLookMs = 500;
// Looks in a row that never found fewer connections than the look before, after which the process
// on duty counts as stopped. Until then connections are left to it, because it may only wait for
// the CPU, and several processes would give the owners more and smaller pieces.
inline constexpr int kAcceptLooksUntouchedMax = 5;
// Looks in a row that found no connection, after which there is no load: the process waits to be
// woken.
inline constexpr int kAcceptLooksQuietMax = 10;
// Pause after running out of descriptors: until then connections wait in the backlog, and some of
// those that are open end. A look costs a call that fails.
inline constexpr int kAcceptBackoffMs = 10;
// How long the ends of clients are watched after descriptors were low, in ms. So many connections
// come and go while there is load.
inline constexpr uint64_t kDescriptorsLowMs = 1000;

// Default of the bytes of requests in a process that JavaScript has not begun
// (HTTPSYS_QUEUE_BYTES): room for the bursts of 100,000 clients. Above, requests are parked.
inline constexpr uint64_t kQueueBytesMax = 64 * 1024 * 1024;
// Bytes of requests after which a lane looks how much all lanes have: what a segment holds.
inline constexpr uint64_t kQueueLookBytes = 256 * 1024;
// Seconds after which the client of a 503 may ask again (Retry-After): a burst is over by then.
inline constexpr int kRetryAfterSeconds = 1;
// Lines of the error log per second: enough to see what goes on, too few to fill a disk in a day.
inline constexpr uint32_t kLogLinesPerSecond = 100;
// When the number of omitted lines is written after the first of them, or the number of refused
// requests to stderr, and how often that is tried again: it must be in a later second.
inline constexpr uint64_t kLogDroppedMs = 1000;
inline constexpr uint64_t kLogDroppedRetryMs = 100;
// Longest field in the error log, in bytes.
inline constexpr size_t kLogFieldBytesMax = 512;

// -- Port sharing.

// Reads of one connection to a peer per readiness event.
inline constexpr int kPeerReadsPerEvent = 64;
// Connections handed to one peer that it has not acknowledged; further ones wait. With their bytes
// they fit into the buffer of a Unix socket.
inline constexpr size_t kPeerUnackedMax = 256;
// Unhandled bytes of connections that are handed over in one message; a longer one goes alone.
inline constexpr size_t kHandOverBytesMax = 64 * 1024;
// Time within which a request that was handed to a peer is acknowledged, goes to another owner, or
// gets 503.
inline constexpr uint64_t kPeerAckMs = 5000;
// Time without an acknowledgement after which a peer is given up. The rest of kPeerAckMs is for
// what follows on a busy machine.
inline constexpr uint64_t kPeerSilentMs = 4500;
// How late acknowledgements are read. Until then the descriptor is kept, which costs nothing.
inline constexpr uint64_t kPeerAckLookMs = 5;
// Bytes of frames that a peer may leave unread before it is given up.
inline constexpr size_t kPeerUnsentBytesMax = 4 * 1024 * 1024;
// Moves of a connection with one request. The routes of two members differ only while a change
// travels.
inline constexpr uint8_t kHopsMax = 20;
// Times that a request may come back to the relaying member because its owner has just left. Each
// time it waits for kWaitingRetryMs, twice as long after each kReturnsPerWait returns, or until the
// change has arrived: for 3 s in all, so that a member that gets little of a busy machine has heard
// of the change by then.
inline constexpr uint8_t kReturnsMax = 100;
inline constexpr int kReturnsPerWait = 20;
// Longest text of an address with its zone.
inline constexpr size_t kAddressBytesMax = 128;
// Descriptors that relays leave to connections, links and files, and below which descriptors count
// as low: one of this many of the process' limit (`ulimit -n`), up to a maximum.
inline constexpr size_t kDescriptorsSparedPart = 4;
inline constexpr size_t kDescriptorsSparedMax = 1024;
// Relays of a lane, and request bytes that wait for a member to read them.
inline constexpr size_t kRelaysMax = 4096;
inline constexpr size_t kRelayUnsentBytesMax = 256 * 1024;
// SO_SNDBUF of a relayed stream of HTTP/2. The kernel takes twice as much, with its own structures.
// A client with a hundred streams that reads nothing would otherwise cost 20 MiB of kernel memory.
inline constexpr int kRelayStreamBufferBytes = 16 * 1024;
// Bytes of relayed requests that are kept until they are answered, per relay; longer requests
// cannot go to another member when the first one leaves.
inline constexpr size_t kRelayKeptBytesMax = 64 * 1024;
// Answers per relay that a member has announced and not sent.
inline constexpr size_t kRelayAnswersMax = 1024;
// Bytes of a client's certificates that go with a relay: they must fit into a text of a frame, with
// the other facts about its TLS.
inline constexpr size_t kRelayCertificateBytesMax = 32 * 1024;
// Longest ClientHello that is examined for its server name. With post-quantum key shares, browsers
// send 2 KiB.
inline constexpr size_t kHelloPeekBytesMax = 16 * 1024;
// Members of one port, and prefixes on it: each change goes to all members.
inline constexpr size_t kMembersMax = 1024;
inline constexpr size_t kEntriesMax = 16 * 1024;
// Further links on a port: of programs that ask for its state, and of peers that have not said who
// they are. They are served on a full port, too.
inline constexpr size_t kVisitorsMax = 64;
// Files that one search for the names of killed processes examines in a directory.
inline constexpr size_t kSweptNamesMax = 4096;
// How often a member that cannot reach its coordinator asks the kernel who has the name.
inline constexpr uint64_t kStrangerLookMs = 100;
// Caches of other members that an engine reads, and readers that a lane gives the cache of its
// process to: each costs a descriptor in both processes.
inline constexpr size_t kCacheReadersMax = 128;
// Bytes of the memory in which a process counts hits on the entries of another one: entries share
// a counter where there are more of them.
inline constexpr size_t kCacheHitsBytes = 16 * 1024;
// How long a member waits before it asks an owner for its cache again that did not answer.
inline constexpr uint64_t kCacheAskMs = 1000;
// How often an owner looks whether a reader has taken what it was sent.
inline constexpr uint64_t kCacheTellMs = 100;
// How long the cache of a killed process is kept for prefixes that nobody has taken back.
inline constexpr uint64_t kCacheOrphanMs = 60'000;
// How long a member that owned the same prefixes is heard after it has given them up: it may still
// answer requests that make stored responses obsolete.
inline constexpr uint64_t kCacheFormerMs = 60'000;
// Listening sockets of one port: one per bound address.
inline constexpr size_t kSharedSocketsMax = 64;
// How long a coordinator may take to answer. Long enough to find that it is stopped (kDoubtMs,
// kSilentMs) and to ask the next one, which may have to wait for others (kConfirmMs).
inline constexpr uint64_t kCoordinatorMs = 3000;
// How long a coordinator says nothing to a member that waits for it before the member doubts it. A
// busy one answers in a few milliseconds.
inline constexpr uint64_t kDoubtMs = 300;
// How long a coordinator does not answer kPing before a member succeeds it. A process that gets any
// CPU answers sooner.
inline constexpr uint64_t kSilentMs = 1000;
// How often a member with a doubt looks whether another member has succeeded the coordinator.
inline constexpr uint64_t kDoubtLookMs = 100;
// How often a member tells others of its doubt, and a successor tells members that have not come.
inline constexpr uint64_t kDoubtTellMs = 500;
// Names of a port's meeting place, one for each rank: so many coordinators, less one, can be
// stopped at a time.
inline constexpr uint32_t kRanksMax = 4;
// How long the kernel's answer is used again, who has a rank of a meeting place at which too many
// wait: it lists all Unix sockets, which may take milliseconds, and coordinators look before each
// input.
inline constexpr uint64_t kRankOwnerMs = 100;
// How often a coordinator whose rank is above 0 tries to take a lower one that nobody has.
inline constexpr uint64_t kDescentMs = 100;
// How long a program that asks for the state of a port waits for the coordinator, and the
// coordinator for the members.
inline constexpr uint64_t kStateMs = 2000;
// How long the meeting place of a port in use may be free: its members compete for it at once.
inline constexpr uint64_t kElectionMs = 200;
// How long a registration waits for members that do not confirm it.
inline constexpr uint64_t kConfirmMs = 500;
// How long a member that has taken a prefix back, perhaps its last one, keeps telling that while
// coordinators end one after the other. Two elections take some milliseconds.
inline constexpr uint64_t kRemovalMs = 2000;
// How long a new coordinator waits for the members that it knows of to come back.
inline constexpr uint64_t kReunionMs = 1000;
// Longest time that requests wait for a restarted owner (server.close({ restart: true, waitMs })).
inline constexpr uint32_t kAbsentMsMax = 300'000;
// How long the prefixes of a process that died, or whose successor has not come in time, answer
// 503. Supervisors restart processes sooner. Afterwards the prefixes are free.
inline constexpr uint32_t kOfflineMs = 10'000;
// Time in which JavaScript begins nothing, although it could, after which it counts as blocked:
// other owners of a queue get new requests. Longer than most handlers run, shorter than anybody
// notices.
inline constexpr uint64_t kBlockedMs = 10;
// The same if its thread works. A thread that waits for a CPU will begin at once when it has one.
inline constexpr uint64_t kBusyMs = 6;
// The same if its thread sleeps: in a call of the system, or until another thread wakes it. So
// short that 64 requests that were given to it are answered by others within 20 ms.
inline constexpr uint64_t kAsleepMs = 3;
// The same after which a lane is in haste if the thread sleeps: the lane must be there in time.
inline constexpr uint64_t kRestlessMs = 1;
// Time for which JavaScript that waits for a CPU keeps what it has not begun.
inline constexpr uint64_t kStarvedMs = 30;
// Moves of a connection for which its owner must have been blocked for no longer than kBusyMs: that
// JavaScript sleeps for a moment, because other threads collect its garbage, is not always told
// from a block.
inline constexpr int kBusyMoves = 3;
// Moves of a connection between blocked owners, after which it waits where it is. For each further
// move the owner must have been blocked for twice as long as for the move before (20 ms to 2.6 s),
// so that connections do not go to and fro all the time between owners that are blocked in turn.
inline constexpr uint8_t kBlockedHopsMax = 12;
static_assert(kBlockedHopsMax < kHopsMax);
// Times that a request is taken back from the same JavaScript, because the owner for which that was
// done cannot be reached: then it stays. What three bits of a connection can count.
inline constexpr uint8_t kReclaimsMax = 7;
// Requests that a lane takes back in one turn of its loop, which also has to serve others.
inline constexpr size_t kReclaimedMax = 128;
// How many of them go to other members together.
inline constexpr size_t kReclaimedPerFlush = 8;
// Longest request, head and body, that is kept while JavaScript has not begun it, so that another
// owner of the queue can get it: what a browser sends with a form. Longer ones stay.
inline constexpr size_t kMovableBytesMax = 16 * 1024;
// Memory that the list of unread requests keeps once it is empty: so many items, and so many bytes
// for each.
inline constexpr size_t kUnreadItemsKept = 1024;
inline constexpr size_t kUnreadBytesKept = 2048;
// Time after which an owner that has passed nothing on, and is not blocked, asks for its
// connections back. Much longer than kBlockedMs, so that an owner that is blocked again and again
// does not.
inline constexpr uint64_t kUnblockedMs = 100;
// How long a lane is in haste after requests were passed on to it, or by it, that have waited for
// blocked JavaScript: by then other members have answered them.
inline constexpr uint64_t kHasteMs = 100;
// How often waiting requests look for their owner by themselves: a look costs some microseconds for
// each, so that more than kWaitingPerRetry look less often in proportion.
inline constexpr uint64_t kWaitingRetryMs = 5;
inline constexpr size_t kWaitingPerRetry = 1000;

// -- Waking JavaScript.

// Longest delay before JavaScript hears of the end of a connection that it has ended itself, if
// nothing wakes it sooner. Nobody waits for that, and a wake costs as much as a request.
inline constexpr uint64_t kToldLateMs = 100;
// Longest delay before JavaScript hears of a new TLS connection. The first request usually arrives
// within it, so that both share one wake.
inline constexpr uint64_t kOpenToldLateMs = 2;

// Longest time that a lane lets requests and replies gather while JavaScript works on a batch: far
// below what a person notices, and some 30 requests of an Express application.
inline constexpr uint64_t kNapUs = 500;
// Naps before a lane looks at its sockets again. The second one keeps a lane from sending the
// replies of a long batch one by one while JavaScript writes them.
inline constexpr int kNapsPerPoll = 2;
// Most waits that are skipped after a wait in vain (doubled each time, from 1). A lane's nap is in
// vain if JavaScript did not even begin: other programs have its CPU, and the end of a nap is one
// more wake among theirs. An acceptor's GiveWay() is in vain if it then found a single connection.
inline constexpr int kWaitsSkippedMax = 31;
// How often a lane looks for replies by itself while JavaScript works on its requests. A reply
// written before a handler that blocks leaves within this time, without a wake per reply.
inline constexpr uint64_t kPeekMs = 1;
inline constexpr uint64_t kPeekMsMax = 8;
// The same until JavaScript has begun, doubled each time: the replies are at most as late as
// JavaScript itself.
inline constexpr uint64_t kPeekIdleMsMax = 64;

// Time that native code may take in one turn of the JavaScript event loop.
inline constexpr uint64_t kDrainNs = 10'000'000;
// How long a terminated worker or a closing environment waits for accepted replies to leave.
inline constexpr uint64_t kExitDrainMs = 1000;
// How long the exit of the process waits for the I/O threads to stand still. They need microseconds
// unless a disk makes one wait, or the machine is overloaded.
inline constexpr uint64_t kExitStopMs = 1000;

}  // namespace httpsys::limits
