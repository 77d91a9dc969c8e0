#pragma once
// Every limit of the I/O threads: name, unit, value, reason. No client or process can set one.

#include <cstddef>
#include <cstdint>

namespace httpsys::limits {

// Maximum bytes that one read of a socket receives, except for long bodies (kBlocksPerRead). A
// larger buffer would only use more of the CPU cache.
inline constexpr size_t kReadBytes = 64 * 1024;
// Like kReadBytes, for a chunked body whose consumer has the extra window (kReceiveExtraBytes):
// with fewer reads, the kernel does less of the client's sending on the lane's thread.
inline constexpr size_t kLargeReadBytes = 256 * 1024;
// Maximum number of reads of one connection per readiness event: other connections wait meanwhile.
inline constexpr int kReadsPerEvent = 4;
// Maximum length of a body within its kRequest record: one record, one copy.
inline constexpr size_t kInlineBodyBytesMax = 16 * 1024;
// Body pieces above this size get a block of their own, which JavaScript takes over without a copy.
inline constexpr size_t kInlinePieceBytesMax = 8 * 1024;
// Size of a block into which a body is read directly.
inline constexpr size_t kBlockBytes = 64 * 1024;
// Number of blocks (of kBlockBytes) that one read of a long body fills. Twice as many would make a
// byte 10 % cheaper, half as many 20 % more expensive.
inline constexpr size_t kBlocksPerRead = 16;
// Maximum number of blocks that JavaScript lends to a lane at a time: enough for 8 reads. V8 counts
// lent blocks as future garbage: four times as many would cost more than they save.
inline constexpr size_t kReceiveBlocksMax = 128;
// Minimum missing bytes of a body for a read directly into a block: for fewer, it saves nothing.
inline constexpr size_t kDirectReadBytesMin = 16 * 1024;
// Receive window of a connection: body and opaque bytes that JavaScript may have received but not
// consumed. Two socket buffers, enough to keep a reader busy while messages cross threads.
inline constexpr int32_t kReceiveWindowBytes = 128 * 1024;
// Extra receive window of a connection whose JavaScript consumes its whole window within
// kKeepsUpMs; a read then fills kBlocksPerRead blocks. Consumers that wait are slower.
inline constexpr int32_t kReceiveExtraBytes = kBlocksPerRead * kBlockBytes - kReceiveWindowBytes;
inline constexpr uint32_t kKeepsUpMs = 10;
// A consumer with the extra window loses it if consuming everything takes longer than this. A
// generous limit: a fast consumer's socket is read all the time, so it rarely has nothing left.
inline constexpr uint32_t kSlowMs = 100;
// Maximum number of a lane's connections (and streams) with kReceiveExtraBytes: 14 MiB each.
inline constexpr size_t kReceiveExtraMax = 16;
// Maximum bytes of a refused message that a 'clientError' event shows: as much as one read in Node.
inline constexpr size_t kRawBytesMax = 64 * 1024;
// Maximum number of unused parsers and decoders that a lane keeps for the next incomplete messages.
inline constexpr size_t kSpareParsersMax = 64;
// Most lines of a request head that stays parsed while the request waits. The views of a longer
// head would take several times the memory of its bytes, so it is parsed again.
inline constexpr size_t kKeptHeadLinesMax = 64;

// Maximum bytes of free small blocks that a thread keeps: enough for a thousand streams.
inline constexpr size_t kSmallBlocksKeptBytes = 2 * 1024 * 1024;

// Maximum number of reply records that a lane handles before it sends their output, so that the
// first replies of a busy JavaScript thread do not wait for the last ones.
inline constexpr int kRepliesPerPass = 256;
// Like kRepliesPerPass, in bytes, including the record that reaches the limit. Half of the credit
// (kSendBytesFastMax of socket-output.js): JavaScript writes while the lane sends the other half.
inline constexpr uint32_t kReplyBytesPerPass = 512 * 1024;
// Number of a lane's reply segments whose pages stay resident after reading (2 MiB). Further
// segments, which are needed only while JavaScript is far ahead of the lane, cost page faults.
inline constexpr uint32_t kReplySegmentsKept = 8;
// Maximum number of passes of a lane over replies before it polls its sockets again.
inline constexpr int kPassesPerPoll = 4;
// A lane sends a kCredit record when this many bytes of payload were sent: a quarter of the default
// write credit of JavaScript.
inline constexpr size_t kCreditBytes = 64 * 1024;
// Like kCreditBytes, for an HTTP/2 stream that has nothing left to send: half of the unsent bytes
// that each stream may always have (stream-credit.js: kStreamBytesMin, kUntoldBytes).
inline constexpr size_t kStreamCreditBytes = 8 * 1024;
// Maximum total size of pieces that are copied into one buffer, which is cheaper than an iovec.
inline constexpr size_t kGatherBytesMax = 32 * 1024;
// Maximum number of pieces for one sendmsg(2); well below IOV_MAX.
inline constexpr int kVectorsMax = 64;
// Maximum number of prefixes for which an HTTP/2 connection and its client count at a time
// (maxConnectionsPerPrefix); for a further prefix the connection forgets the oldest one. Bounds the
// memory of a client that requests all prefixes.
inline constexpr size_t kCountedGroupsMax = 64;
// If a connection has more unsent bytes than this, its next request is not handled yet. So a client
// that sends requests without reading costs this, one answer, and one read of further requests.
inline constexpr size_t kUnsentBytesMax = 64 * 1024;
// Maximum memory of a connection's unsent output: more output ends the connection. JavaScript's
// credit (socket-output.js) keeps the output below an eighth of this. Only forged replies reach it,
// or an application that keeps sending control frames on a WebSocket that accepts none.
inline constexpr size_t kUnsentRepliesMax = 16 * 1024 * 1024;
// After this many connections that ended with unsent output, the lane makes malloc() return memory
// to the kernel. Otherwise malloc() would keep the memory of a flood.
inline constexpr size_t kTrimAfterDrops = 32;
// Maximum bytes sent on one connection per writability event, to leave time for others.
inline constexpr size_t kSendBytesPerEvent = 1024 * 1024;

// Minimum size of output to several connections that is queued by reference instead of copied.
inline constexpr size_t kSharedBytesMin = 1024;

// -- Files.

// Maximum size of a file (or of its rest) that is read into memory and sent together with other
// answers. The kernel sends larger files without a copy, which costs one more system call.
inline constexpr size_t kFileReadBytesMax = 8 * 1024;
// Maximum bytes of a file that one system call sends, and the bytes that are read ahead. A disk
// reads as much at once, and a fast client receives as much in less than a tenth of a millisecond.
inline constexpr size_t kFileWindowBytes = 256 * 1024;
// Time for which a file that was found completely in memory is assumed to stay there. Two checks
// cost a tenth of sending 35 KB; the kernel does not drop pages in use so soon.
inline constexpr uint64_t kFileHotMs = 50;
// Maximum bytes of a file that are encrypted at a time for TLS: four records.
inline constexpr size_t kFileSealBytes = 64 * 1024;
// Like kFileSealBytes, if the socket might accept less: one record. Encrypted bytes that the socket
// does not accept stay in memory.
inline constexpr size_t kFileSealBytesMin = 16 * 1024;
// Maximum number of blocks of kFileWindowBytes that a lane keeps for clients that have not received
// them yet: 16 MiB. Bytes for further clients are dropped and read again later.
inline constexpr size_t kFileBlocksKeptMax = 64;
// Maximum number of files that an engine keeps open for later requests, but at most a quarter of
// the process' descriptor limit. More than any page has, and few compared with connections.
inline constexpr size_t kOpenFilesMax = 1024;
// Time for which an unused file stays open: long enough for files that are requested every few
// seconds, short enough for a user who unmounts a file system.
inline constexpr uint64_t kFileUnusedMs = 5000;
// Maximum number of threads that wait for disks and for servers of network file systems. A device
// gets one for reads and one for names: four hanging devices leave threads for the others.
inline constexpr int kFileThreadsMax = 8;

// -- Bandwidth of a prefix (maxBandwidth).

// Burst: after a pause, as much output as the rate allows in this time may be sent at once. Longer
// than delays of a busy lane or its timers, shorter than any usual measurement of a rate.
inline constexpr uint64_t kBandwidthBurstMs = 100;
// Minimum burst in bytes: a small answer is sent at once even at the lowest rate.
inline constexpr uint64_t kBandwidthBurstBytesMin = 4096;
// Bandwidth share of one connection or stream per turn: the bytes that the rate allows in
// kBandwidthTurnMs, within these two bounds. Smaller shares cost system calls; larger ones make
// other connections wait longer. The maximum is the usual piece for a socket.
inline constexpr uint64_t kBandwidthTurnMs = 20;
inline constexpr uint64_t kBandwidthTurnBytesMin = 512;
inline constexpr uint64_t kBandwidthTurnBytesMax = 64 * 1024;
// Shortest and longest time after which a lane checks output that waits for bandwidth. Fewer checks
// find bytes for several shares at once; but the rate may grow when another owner leaves.
inline constexpr uint64_t kBandwidthLookMsMin = 5;
inline constexpr uint64_t kBandwidthLookMsMax = 500;

// -- WebSockets.

// Maximum length of a message that is sent to JavaScript within its record; a longer one gets a
// block of its own, whose memory JavaScript takes over.
inline constexpr size_t kInlineMessageBytesMax = 16 * 1024;
// Longest message, even if the application allows more, because its length is one word of a record.
inline constexpr uint64_t kMessageBytesMax = 0x7fffffff;
// Maximum bytes of an upgraded connection that a lane keeps until JavaScript decides whether they
// are a WebSocket or a tunnel.
inline constexpr size_t kUndecidedBytesMax = 64 * 1024;
// Minimum and maximum payload that one read receives directly into the memory of its message. Below
// the minimum, a copy is cheaper.
inline constexpr size_t kMessageReadBytesMin = 32 * 1024;
inline constexpr size_t kMessageReadBytesMax = 1024 * 1024;
// Smallest block that is kept for the next large message, and the total bytes of kept blocks per
// lane. Memory for smaller blocks is kept by malloc(). V8 frees about the total at a time (it
// collects after 32 MiB); with a smaller total, every other block would be fresh memory.
inline constexpr size_t kPooledBlockBytesMin = 64 * 1024;
inline constexpr size_t kPoolBytesMax = 36 * 1024 * 1024;
// Interval after which unused zlib states and blocks are freed.
inline constexpr uint64_t kUnusedMs = 2000;

// -- HTTP/2.

// Longest head or trailer section of a response written in pieces; no client accepts more.
inline constexpr size_t kResponseHeadBytesMax = 1024 * 1024;
// Bytes of HTTP/2 frames that are gathered for one write: several TLS records. Doubled up to the
// maximum each time the socket has accepted everything, like kTlsWireBytes. A slow reader costs as
// much memory, in addition to the output of its streams.
inline constexpr size_t kHttp2WireBytes = 64 * 1024;
inline constexpr size_t kHttp2WireBytesMax = 256 * 1024;
// Connection window: body bytes that a client may send on all streams of a connection together.
inline constexpr int32_t kHttp2ConnectionWindowBytes = 1024 * 1024;
// Maximum output that a connection's socket has not accepted: written frames, frames that wait for
// them, and heads of streams that the client has reset meanwhile. Twice the output of one pass, and
// the heads of some hundred streams. Bytes that wait for an HTTP/2 window do not count.
inline constexpr size_t kHttp2UnsentBytesMax = 2 * 1024 * 1024;
// Estimated memory of nghttp2 for a waiting frame, without its fields.
inline constexpr size_t kHttp2FrameBytes = 256;
// Maximum number of lines of a request head. A record has 16 bits for it, and up to 15 lines may be
// added: for fields that HTTP/2 has elsewhere, and for the validators of a cached response.
inline constexpr size_t kRequestLinesMax = UINT16_MAX - 15;
// Number of fields in a section that is accepted even if maxHeaderSize is small; as in node:http2.
inline constexpr size_t kHttp2FieldsMin = 128;
// Maximum number of unsent acknowledgements of SETTINGS and PING: more = the client does not read.
inline constexpr size_t kHttp2UnsentAcksMax = 1000;
// Maximum number of entries that one SETTINGS frame may have; ten are known.
inline constexpr size_t kHttp2SettingsMax = 32;
// Maximum number of CONTINUATION frames of a field section; the largest one needs one or two.
inline constexpr int kHttp2ContinuationsMax = 6;
// Maximum decoded bytes of a field section beyond maxHeaderSize. A request up to this size is
// answered with 431; a longer section is treated as a compression bomb, and the connection ends.
inline constexpr size_t kHttp2OversizeBytesMax = 256 * 1024;
// Number of streams that a client may reset: at once, and per second in the long run. A browser
// that leaves a page resets some hundred.
inline constexpr uint32_t kHttp2ResetsMax = 1000;
inline constexpr uint32_t kHttp2ResetsPerSecond = 33;
// Number of frames without effect (SETTINGS, PING, PRIORITY, empty DATA) that a client may send: at
// once, and per second in the long run.
inline constexpr uint32_t kHttp2IdleFramesMax = 1000;
inline constexpr uint32_t kHttp2IdleFramesPerSecond = 100;
// Number of invalid messages that a client may send: at once, and per second in the long run. Each
// one costs an answering frame.
inline constexpr uint32_t kHttp2ErrorsMax = 100;
inline constexpr uint32_t kHttp2ErrorsPerSecond = 10;
// Longest delay of the second GOAWAY, which is sent when the client answers a PING.
inline constexpr uint64_t kHttp2NoticeMs = 1000;
// Maximum number of spare objects for field sections that a lane keeps.
inline constexpr size_t kSpareFieldsMax = 64;
// -- TLS.

// Maximum bytes of one TLS connection that are read and decrypted at a time: four records. A fast
// client must leave time for other connections.
inline constexpr size_t kTlsReadBytes = 64 * 1024;
// Plain bytes of a full record (RFC 8446, section 5.1).
inline constexpr size_t kTlsRecordBytes = 16 * 1024;
// Encrypted bytes that are gathered for one send(2): four records, doubled up to sixteen each time
// the socket has accepted all of them; sixteen fit into a CPU's own cache. Bytes that the socket
// does not accept stay in memory: beyond four records, at most twice what it has just accepted.
inline constexpr size_t kTlsWireBytes = 64 * 1024;
inline constexpr size_t kTlsWireBytesMax = 256 * 1024;
// Maximum bytes from a client without application data: an incomplete record, some key updates.
inline constexpr size_t kTlsBarrenBytesMax = 32 * 1024;
// Number of TLS messages that a client may send after the handshake, at once and per second in the
// long run: key updates (TLS 1.3) and refused renegotiation requests (earlier versions). OpenSSL
// answers each one during a read, even if the client does not read the answers, and derives keys
// for 10 us. Ciphers need a new key after 2^24 records at the earliest.
inline constexpr uint32_t kTlsRekeysMax = 100;
inline constexpr uint32_t kTlsRekeysPerSecond = 10;
// Maximum bytes that a client may send before the handshake is done. OpenSSL accepts up to 128 KiB
// of ClientHello and 100 KiB of certificates.
inline constexpr size_t kTlsHandshakeBytesMax = 256 * 1024;
// Longest TLS session that JavaScript gets, as in Node; longer sessions are not resumed.
inline constexpr size_t kTlsSessionBytesMax = 10 * 1024;
// Longest key log of a handshake; in TLS 1.3 it has five lines of 200 bytes.
inline constexpr size_t kTlsKeyLogBytesMax = 8 * 1024;
// Longest keying material that an application may export.
inline constexpr size_t kTlsKeyingBytesMax = 64 * 1024;
// Longest time that JavaScript waits for a lane's answer about a TLS connection.
inline constexpr uint64_t kTlsAskMs = 1000;
// Time for which one key encrypts session tickets, and number of keys that are kept to decrypt
// tickets. Sessions last some minutes, so a key that leaks later reveals little.
inline constexpr uint64_t kTicketKeyMs = 3'600'000;
inline constexpr size_t kTicketKeysKept = 3;
// Longest delay until all processes of a shared port have a new ticket key. Until then only the
// process that made a ticket can resume its session.
inline constexpr uint64_t kTicketTellMs = 60'000;

// Idle timeout of a connection of HTTP.SYS until JavaScript sets one; the default of node:http.
inline constexpr uint32_t kNativeIdleMs = 5000;
// Maximum bytes and time for which input is read and discarded after a reply that closes the
// connection. Without that, the kernel would answer a late upload with a reset, which destroys the
// reply. A sender that has not noticed the end by then never will.
inline constexpr size_t kLingerBytesMax = 1024 * 1024;
inline constexpr uint64_t kLingerMs = 2000;
// Longest time to wait for a disk (a search or a read) for a client that has ended its direction. A
// client that still reads gets most files in this time; without a limit, others would accumulate on
// the lane. Node ends such a connection at once.
inline constexpr uint64_t kLeftMs = 2000;
// Delay after which a lane checks whether a client that it does not watch has ended its direction:
// while the lane is awake, and while it sleeps. Waking the lane costs as much as a request.
inline constexpr uint64_t kUnwatchedMs = 20;
inline constexpr uint64_t kUnwatchedWakeMs = 200;
// Maximum number of distinct idle timeouts; a further one is rounded down to the next of them.
inline constexpr size_t kTimerListsMax = 64;

// Size of a lane's table of repeated header lines, which get an id instead of being copied: 1024
// sets of 4. The lines of some hundred browser variants fit.
inline constexpr size_t kInternSets = 1024;
inline constexpr size_t kInternWays = 4;
// Longest text (a header line, or a target) that gets an id; longer texts rarely repeat.
inline constexpr size_t kInternTextBytesMax = 256;
// Maximum number of header lines that get an id per loop iteration, so that lines that always
// change cost little more than copied ones.
inline constexpr uint32_t kInternDefinitionsPerPass = 64;

// Maximum number of connections that the acceptor accepts per wake-up before it checks its other
// listeners. A large number: a busy port gathers many while its process waits for the CPU, and
// their owners should get them in few pieces.
inline constexpr int kAcceptsPerWake = 1024;
// Interval at which the deputy, and every other process that is not on duty at a shared port,
// checks for waiting connections while there is load.
inline constexpr uint64_t kDeputyLookMs = 20;
inline constexpr uint64_t kAcceptLookMs = 500;
// After this many successive checks that found no fewer waiting connections than the check before,
// the process on duty counts as stopped. Until then it is left alone: it may only be waiting for
// the CPU, and several accepting processes would give the owners more and smaller pieces.
inline constexpr int kAcceptLooksUntouchedMax = 5;
// After this many successive checks without a connection, the process sleeps until it is woken.
inline constexpr int kAcceptLooksQuietMax = 10;
// Pause of the acceptor after the process ran out of descriptors. Connections wait in the backlog
// until some open ones end. Each attempt costs a failing call.
inline constexpr int kAcceptBackoffMs = 10;
// Time for which a lane also watches idle clients for their end after free descriptors ran low.
// Under load, many connections come and go in this time.
inline constexpr uint64_t kDescriptorsLowMs = 1000;

// Default of HTTPSYS_QUEUE_BYTES: the total bytes of a process' requests that JavaScript has not
// begun. Further requests are parked. Enough for bursts of 100,000 clients.
inline constexpr uint64_t kQueueBytesMax = 64 * 1024 * 1024;
// After this many bytes of new requests, a lane checks again how many bytes of requests wait on all
// lanes. Equal to the size of a segment.
inline constexpr uint64_t kQueueLookBytes = 256 * 1024;
// Retry-After of a 503 response, in seconds: a burst is over by then.
inline constexpr int kRetryAfterSeconds = 1;
// Maximum number of error log lines per second: enough to see a problem, too few to fill a disk.
inline constexpr uint32_t kLogLinesPerSecond = 100;
// Delay before the number of omitted log lines, or of refused requests (on stderr), is written, and
// interval of further attempts: an attempt fails within the second of the last line.
inline constexpr uint64_t kLogDroppedMs = 1000;
inline constexpr uint64_t kLogDroppedRetryMs = 100;
// Longest field in the error log, in bytes.
inline constexpr size_t kLogFieldBytesMax = 512;

// -- Port sharing.

// Maximum number of reads of one link to another process per readiness event.
inline constexpr int kPeerReadsPerEvent = 64;
// Maximum number of connections that were handed to one process and not acknowledged; further ones
// wait. With their bytes they fit into the buffer of a Unix socket.
inline constexpr size_t kPeerUnackedMax = 256;
// Maximum unprocessed bytes in a message that hands over several connections.
inline constexpr size_t kHandOverBytesMax = 64 * 1024;
// Longest time until another process acknowledges a request, or it goes elsewhere, or gets 503.
inline constexpr uint64_t kPeerAckMs = 5000;
// Longest time without an acknowledgement before another process is given up. The rest of
// kPeerAckMs is for the next steps on a busy machine.
inline constexpr uint64_t kPeerSilentMs = 4500;
// Longest delay before acknowledgements are read, which keeps the connections' descriptors open.
inline constexpr uint64_t kPeerAckLookMs = 5;
// Maximum bytes of frames that another process may leave unread; with more, it is given up.
inline constexpr size_t kPeerUnsentBytesMax = 4 * 1024 * 1024;
// Maximum number of moves of a connection between members for one request. Members disagree about
// the owner only until all have the new routes.
inline constexpr uint8_t kHopsMax = 20;
// Maximum number of times that a request may come back to the relaying member because its owner has
// just left. Each time it waits for kWaitingRetryMs (doubled after each kReturnsPerWait returns) or
// until new routes have arrived: 3 s in total, enough for a member that gets little CPU.
inline constexpr uint8_t kReturnsMax = 100;
inline constexpr int kReturnsPerWait = 20;
// Longest text of an address with its zone.
inline constexpr size_t kAddressBytesMax = 128;
// Relays leave one in this many of the process' descriptors (`ulimit -n`), up to a maximum, to
// connections, links and files. If fewer are free, descriptors count as low.
inline constexpr size_t kDescriptorsSparedPart = 4;
inline constexpr size_t kDescriptorsSparedMax = 1024;
// Maximum number of relays of a lane, and of request bytes that a member has not read.
inline constexpr size_t kRelaysMax = 4096;
inline constexpr size_t kRelayUnsentBytesMax = 256 * 1024;
// SO_SNDBUF of a relayed HTTP/2 stream; the kernel uses twice as much, with its own structures.
// Otherwise a hundred streams that are not read would cost 20 MiB of kernel memory.
inline constexpr int kRelayStreamBufferBytes = 16 * 1024;
// Maximum bytes of relayed requests that a relay keeps until they are answered. Longer requests
// cannot go to another member if the first one leaves.
inline constexpr size_t kRelayKeptBytesMax = 64 * 1024;
// Maximum number of answers per relay that a member has announced but not sent.
inline constexpr size_t kRelayAnswersMax = 1024;
// Maximum bytes of a client's certificates that are sent with a relay. With the other facts about
// its TLS, they must fit into one text field of a frame.
inline constexpr size_t kRelayCertificateBytesMax = 32 * 1024;
// Longest ClientHello that is searched for its server name. With post-quantum keys, it has 2 KiB.
inline constexpr size_t kHelloPeekBytesMax = 16 * 1024;
// Maximum numbers of members of one port, and of prefixes on it: each change goes to all members.
inline constexpr size_t kMembersMax = 1024;
inline constexpr size_t kEntriesMax = 16 * 1024;
// Maximum number of links on a port, even a full one, that belong to no member: to programs that
// query its state, and to processes that have not identified themselves.
inline constexpr size_t kVisitorsMax = 64;
// Maximum number of files in a directory that one search for killed processes' names examines.
inline constexpr size_t kSweptNamesMax = 4096;
// Interval at which a member asks the kernel who has the name of its unreachable coordinator.
inline constexpr uint64_t kStrangerLookMs = 100;
// Maximum number of other members' caches that an engine reads, and of processes that read this
// one's cache. Each costs a descriptor in both processes.
inline constexpr size_t kCacheReadersMax = 128;
// Bytes of the memory in which a process counts hits on the entries of another process' cache. If
// there are more entries than counters, several entries share a counter.
inline constexpr size_t kCacheHitsBytes = 16 * 1024;
// Time after which a member asks an owner for its cache again if it got no answer.
inline constexpr uint64_t kCacheAskMs = 1000;
// Interval at which an owner checks whether a reader has received the messages about its cache.
inline constexpr uint64_t kCacheTellMs = 100;
// Time for which a killed process' cache is kept for prefixes that have no owner since.
inline constexpr uint64_t kCacheOrphanMs = 60'000;
// Time for which a member still obeys invalidations from a former owner of the same prefixes,
// because that owner may still answer requests that make stored responses obsolete.
inline constexpr uint64_t kCacheFormerMs = 60'000;
// Maximum number of listening sockets of one port: one for each bound address.
inline constexpr size_t kSharedSocketsMax = 64;
// Longest time that a member waits for the coordinator's answer. Enough to find that it is stopped
// (kDoubtMs, kSilentMs) and to ask the next one, which may have to wait for others (kConfirmMs).
inline constexpr uint64_t kCoordinatorMs = 3000;
// Longest silence of a coordinator before a member that waits for it doubts it. A busy coordinator
// answers in a few milliseconds.
inline constexpr uint64_t kDoubtMs = 300;
// Longest time without an answer to kPing before a member succeeds the coordinator. A process that
// gets any CPU answers sooner.
inline constexpr uint64_t kSilentMs = 1000;
// Interval at which a member in doubt checks whether another member has succeeded the coordinator.
inline constexpr uint64_t kDoubtLookMs = 100;
// Interval at which a member reports its doubt, or a successor informs missing members.
inline constexpr uint64_t kDoubtTellMs = 500;
// Number of names of a port's meeting place, one per rank. So at most kRanksMax - 1 coordinators
// can be stopped at a time.
inline constexpr uint32_t kRanksMax = 4;
// Time for which the kernel's answer about the owner of a rank is reused while too many connections
// wait at that name. The kernel lists all Unix sockets, which may take milliseconds, and
// coordinators check before each input.
inline constexpr uint64_t kRankOwnerMs = 100;
// Interval at which a coordinator at a rank above 0 tries to take a free lower rank.
inline constexpr uint64_t kDescentMs = 100;
// Longest time that a query about the state of a port waits for the coordinator, and that the
// coordinator waits for the members.
inline constexpr uint64_t kStateMs = 2000;
// Longest time that the meeting place of a port in use may be free: members compete for it at once.
inline constexpr uint64_t kElectionMs = 200;
// Longest time that a registration waits for members that do not confirm it.
inline constexpr uint64_t kConfirmMs = 500;
// Time for which a member that has removed a prefix, perhaps its last one, repeats the removal to
// new coordinators if coordinators end in succession. Two elections take some milliseconds.
inline constexpr uint64_t kRemovalMs = 2000;
// Longest time that a new coordinator waits for the known members to come back.
inline constexpr uint64_t kReunionMs = 1000;
// Longest time that requests wait for a restarted owner (server.close({ restart: true, waitMs })).
inline constexpr uint32_t kAbsentMsMax = 300'000;
// Time for which requests for a process' prefixes get 503 after it died, or after its successor has
// not come in time. Supervisors restart processes sooner. Afterwards the prefixes are free.
inline constexpr uint32_t kOfflineMs = 10'000;
// JavaScript counts as blocked if it begins no request for this time although one waits: then other
// owners of its queue get new requests. Longer than most handlers run, too short to be noticed.
inline constexpr uint64_t kBlockedMs = 10;
// Like kBlockedMs, if the JavaScript thread has a CPU instead of waiting for one.
inline constexpr uint64_t kBusyMs = 6;
// Like kBlockedMs, if the JavaScript thread sleeps: in a system call, or until another thread wakes
// it. Short enough for other owners to answer 64 of its requests within 20 ms.
inline constexpr uint64_t kAsleepMs = 3;
// If JavaScript has begun nothing for this time and its thread sleeps, its lane checks more often
// (haste), so that it notices a block in time.
inline constexpr uint64_t kRestlessMs = 1;
// Time for which JavaScript that waits for a CPU keeps the requests that it has not begun.
inline constexpr uint64_t kStarvedMs = 30;
// Number of moves of a connection for which an owner blocked for kBusyMs is enough. Later moves
// need more: a short sleep of JavaScript (other threads collect its garbage) can look like a block.
inline constexpr int kBusyMoves = 3;
// Maximum number of moves of a connection between blocked owners; then it stays. For each further
// move the owner must have been blocked for twice as long as before (20 ms to 2.6 s). Otherwise
// connections would move to and fro between owners that are blocked in turn.
inline constexpr uint8_t kBlockedHopsMax = 12;
static_assert(kBlockedHopsMax < kHopsMax);
// Maximum number of times that a request is taken back from the same JavaScript although its new
// owner then cannot be reached; then it stays. The connection counts them in three bits.
inline constexpr uint8_t kReclaimsMax = 7;
// Maximum number of requests that a lane takes back per loop iteration, to leave time for others.
inline constexpr size_t kReclaimedMax = 128;
// Number of requests that are sent to other members in one flush after they were taken back.
inline constexpr size_t kReclaimedPerFlush = 8;
// Longest request (head and body) that is kept until JavaScript begins it, so that another owner of
// the queue can get it: the size of a form in a browser. Longer requests stay.
inline constexpr size_t kMovableBytesMax = 16 * 1024;
// Memory that the empty list of unread requests keeps: number of items, and bytes for each of them.
inline constexpr size_t kUnreadItemsKept = 1024;
inline constexpr size_t kUnreadBytesKept = 2048;
// Time after which an owner that was blocked asks for its connections back, if it has passed on
// none since. Much longer than kBlockedMs: an owner that is blocked again and again must not ask.
inline constexpr uint64_t kUnblockedMs = 100;
// Time for which a lane runs in haste after it got or passed on requests that had waited for
// blocked JavaScript. By then other members have answered them.
inline constexpr uint64_t kHasteMs = 100;
// Interval at which waiting requests look for their owner again. A look costs some microseconds per
// request: if more than kWaitingPerRetry wait, the interval grows in proportion.
inline constexpr uint64_t kWaitingRetryMs = 5;
inline constexpr size_t kWaitingPerRetry = 1000;

// -- Waking JavaScript.

// Longest delay before JavaScript learns of the end of a connection that it has ended itself, if
// nothing wakes it sooner. A wake-up costs as much as a request, and nothing waits for this record.
inline constexpr uint64_t kToldLateMs = 100;
// Longest delay before JavaScript learns of a new TLS connection. The first request usually arrives
// within it, so that both share one wake-up.
inline constexpr uint64_t kOpenToldLateMs = 2;

// Longest time for which a lane lets requests and replies gather while JavaScript works on a batch
// (a nap). Far below what a person notices; some 30 requests of an Express application.
inline constexpr uint64_t kNapUs = 500;
// Maximum number of naps of a lane before it polls its sockets again. The second nap keeps the lane
// from sending the replies of a long batch one by one while JavaScript writes them.
inline constexpr int kNapsPerPoll = 2;
// Maximum number of waits that are skipped after a useless wait (1, then doubled each time). A
// lane's nap is useless if JavaScript did not begin anything: other programs have its CPU, and the
// end of a nap is one more wake-up among theirs. An acceptor's GiveWay() is useless if it then
// found a single connection.
inline constexpr int kWaitsSkippedMax = 31;
// Shortest and longest interval of a lane's checks for replies while JavaScript works on requests:
// a reply written before a blocking handler is sent within this time, without a wake-up.
inline constexpr uint64_t kPeekMs = 1;
inline constexpr uint64_t kPeekMsMax = 8;
// Longest interval of checks for replies until JavaScript has begun its batch (kPeekMs, doubled
// each time): replies are then at most as late as JavaScript itself.
inline constexpr uint64_t kPeekIdleMsMax = 64;

// Longest time that native code may use in one iteration of the JavaScript event loop.
inline constexpr uint64_t kDrainNs = 10'000'000;
// Longest time that a terminated worker or closing environment waits until replies are sent.
inline constexpr uint64_t kExitDrainMs = 1000;
// Longest time that the exit of the process waits until the I/O threads have stopped. They need
// microseconds, unless a disk blocks one or the machine is overloaded.
inline constexpr uint64_t kExitStopMs = 1000;

}  // namespace httpsys::limits
