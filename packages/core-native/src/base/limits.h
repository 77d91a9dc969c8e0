#pragma once
// Every limit of the I/O threads: name, unit, value, reason. None of them is set by the peer.

#include <cstddef>
#include <cstdint>

namespace httpsys::limits {

// One read. 64 KiB is what a loopback socket hands over at once; more only costs cache.
inline constexpr size_t kReadBytes = 64 * 1024;
// Reads of one connection per readiness event, so that a fast uploader leaves room for others.
inline constexpr int kReadsPerEvent = 4;
// A whole body up to this size travels inside its kRequest record: one record, one copy.
inline constexpr size_t kInlineBodyBytesMax = 16 * 1024;
// Larger body pieces become blocks of their own, which JavaScript takes over without a copy.
inline constexpr size_t kInlinePieceBytesMax = 8 * 1024;
// Memory of a block that a body is read into directly.
inline constexpr size_t kBlockBytes = 64 * 1024;
// Below this much outstanding body a direct read saves nothing.
inline constexpr size_t kDirectReadBytesMin = 16 * 1024;
// Body and opaque bytes of one connection that JavaScript may hold without having consumed them.
// Two socket buffers' worth: enough to keep a reader busy across a thread hop.
inline constexpr int64_t kReceiveWindowBytes = 128 * 1024;
// Raw bytes of a refused message that are kept for 'clientError'.
inline constexpr size_t kRawBytesMax = 64 * 1024;
// Unused parsers and decoders that a lane keeps for the next incomplete message.
inline constexpr size_t kSpareParsersMax = 64;

// Small blocks that a thread keeps for the next streams: what a thousand of them have.
inline constexpr size_t kSmallBlocksKeptBytes = 2 * 1024 * 1024;

// Reply records handled before their output is sent, so that the first replies of a busy JavaScript
// thread do not wait for the last.
inline constexpr int kRepliesPerPass = 256;
// Reply segments of a lane that keep their pages once they have been read: 2 MiB. Further ones are
// needed while JavaScript is far ahead of the lane, and cost page faults then.
inline constexpr uint32_t kReplySegmentsKept = 8;
// Passes before a lane looks at its sockets again.
inline constexpr int kPassesPerPoll = 4;
// Bytes that left before JavaScript hears of it: a quarter of its default write credit.
inline constexpr size_t kCreditBytes = 64 * 1024;
// The same for a stream of HTTP/2 of which nothing is left to send: half of what each one may
// always have unsent (stream-credit.js: kStreamBytesMin, kUntoldBytes).
inline constexpr size_t kStreamCreditBytes = 8 * 1024;
// Several pieces up to this many bytes in total are gathered into one buffer: cheaper than an
// iovec.
inline constexpr size_t kGatherBytesMax = 32 * 1024;
// Pieces of one sendmsg(2); well below IOV_MAX.
inline constexpr int kVectorsMax = 64;
// Unsent bytes of a connection above which the head of its next request is not taken up: a client
// that asks and does not read costs this, one answer, and one read of further requests.
inline constexpr size_t kUnsentBytesMax = 64 * 1024;
// Connections that have ended with unsent output, after which malloc() is asked to give memory back
// to the kernel: it keeps what a flood has left behind otherwise.
inline constexpr size_t kTrimAfterDrops = 32;
// Bytes sent on one connection per writability event, so that a fast reader leaves room for others.
inline constexpr size_t kSendBytesPerEvent = 1024 * 1024;

// Output that several connections share is kept by reference from this size on; less is cheaper
// copied.
inline constexpr size_t kSharedBytesMin = 1024;

// -- WebSockets.

// A message up to this size travels inside its record; a longer one in a block of its own, whose
// memory JavaScript takes over.
inline constexpr size_t kInlineMessageBytesMax = 16 * 1024;
// Longest message whatever the application allows: its bytes are counted in a word.
inline constexpr uint64_t kMessageBytesMax = 0x7fffffff;
// What is kept of an upgraded connection while JavaScript has not said what the bytes are.
inline constexpr size_t kUndecidedBytesMax = 64 * 1024;
// Payload received directly into its message. Below the minimum a copy is cheaper.
inline constexpr size_t kMessageReadBytesMin = 32 * 1024;
inline constexpr size_t kMessageReadBytesMax = 1024 * 1024;
// Blocks that are kept for the next large message. Below the minimum malloc() has memory that it
// does not give back to the kernel. In all, per lane: V8 lets go of that much at a time (it counts
// to 32 MiB before it looks), and with less every other block would be fresh memory.
inline constexpr size_t kPooledBlockBytesMin = 64 * 1024;
inline constexpr size_t kPoolBytesMax = 36 * 1024 * 1024;
// How often zlib states and blocks that are not in use are given back.
inline constexpr uint64_t kUnusedMs = 2000;

// -- HTTP/2.

// Head or trailer section of a response that was written in pieces. Longer than any client takes.
inline constexpr size_t kResponseHeadBytesMax = 1024 * 1024;
// Bytes made of frames before they are given to the socket: what a slow reader costs beside what
// its streams hold, and one TLS record's worth several times. Twice as many each time that the
// socket has taken them all, as with kTlsWireBytes.
inline constexpr size_t kHttp2WireBytes = 64 * 1024;
inline constexpr size_t kHttp2WireBytesMax = 256 * 1024;
// Body bytes of all streams of a connection that its peer may send ahead of the streams' windows.
inline constexpr int32_t kHttp2ConnectionWindowBytes = 1024 * 1024;
// What a connection's socket has not taken: bytes made of frames, frames that wait behind them, and
// heads of streams that the peer has reset meanwhile. Twice what one pass makes, and the heads of
// some hundred streams. Bytes that wait for a window are not counted.
inline constexpr size_t kHttp2UnsentBytesMax = 2 * 1024 * 1024;
// What nghttp2 keeps of a frame that waits, beside its fields.
inline constexpr size_t kHttp2FrameBytes = 256;
// Fields of one section that are taken even where maxHeaderSize is small: what node:http2 takes.
inline constexpr size_t kHttp2FieldsMin = 128;
// Acknowledgements of SETTINGS and PING that the peer does not read.
inline constexpr size_t kHttp2UnsentAcksMax = 1000;
// Entries of one SETTINGS frame: there are ten known ones.
inline constexpr size_t kHttp2SettingsMax = 32;
// CONTINUATION frames of one field section; the largest that is taken needs one or two.
inline constexpr int kHttp2ContinuationsMax = 6;
// Decoded bytes of a field section beyond maxHeaderSize: up to here it is answered with 431, beyond
// it is a compression bomb.
inline constexpr size_t kHttp2OversizeBytesMax = 256 * 1024;
// Streams that the peer resets: so many at once, and so many a second from then on. A browser that
// leaves a page resets some hundred.
inline constexpr uint32_t kHttp2ResetsMax = 1000;
inline constexpr uint32_t kHttp2ResetsPerSecond = 33;
// Frames that bring nothing (SETTINGS, PING, PRIORITY, empty DATA), likewise.
inline constexpr uint32_t kHttp2IdleFramesMax = 1000;
inline constexpr uint32_t kHttp2IdleFramesPerSecond = 100;
// Messages of the peer that are refused, likewise: each costs a frame in return.
inline constexpr uint32_t kHttp2ErrorsMax = 100;
inline constexpr uint32_t kHttp2ErrorsPerSecond = 10;
// How long the first GOAWAY waits for the answer to its PING before the second one is sent.
inline constexpr uint64_t kHttp2NoticeMs = 1000;
// Longest HTTP2-Settings of a request that asks for HTTP/2, in base64: 32 settings, of which there
// are eight.
inline constexpr size_t kHttp2UpgradeSettingsBytes = 256;
// Heads and sections being collected that a lane keeps for the next ones.
inline constexpr size_t kSpareFieldsMax = 64;
// -- TLS.

// Bytes of one connection that are read and opened at a time, so that a fast peer leaves room for
// others; four records.
inline constexpr size_t kTlsReadBytes = 64 * 1024;
// What a full record has for the application (RFC 8446, section 5.1).
inline constexpr size_t kTlsRecordBytes = 16 * 1024;
// Sealed bytes that are gathered for one send(2): four records, and twice as many each time that
// the socket has taken them all. What it leaves is kept: beyond four records never more than twice
// what it has just taken. Sixteen at most, so that they stay in a CPU's own cache.
inline constexpr size_t kTlsWireBytes = 64 * 1024;
inline constexpr size_t kTlsWireBytesMax = 256 * 1024;
// What a peer may send without a byte for the application before it is given up: a record that is
// not whole yet, and some new keys.
inline constexpr size_t kTlsBarrenBytesMax = 32 * 1024;
// Messages of the peer behind the handshake: new keys (TLS 1.3) and wishes to renegotiate (before
// it, refused). So many at once, and so many a second from then on. OpenSSL answers each of them
// while it reads, whether or not the peer takes the answers, and derives keys for 10 us. Ciphers
// need a new key after 2^24 records, at the earliest.
inline constexpr uint32_t kTlsRekeysMax = 100;
inline constexpr uint32_t kTlsRekeysPerSecond = 10;
// What it may send before the handshake is done: OpenSSL takes up to 128 KiB of ClientHello and 100
// KiB of certificates.
inline constexpr size_t kTlsHandshakeBytesMax = 256 * 1024;
// Longest session of which JavaScript hears; longer ones are not resumed. Node's own.
inline constexpr size_t kTlsSessionBytesMax = 10 * 1024;
// Longest key log of a handshake; one of TLS 1.3 has five lines of 200 bytes.
inline constexpr size_t kTlsKeyLogBytesMax = 8 * 1024;
// Longest keying material that an application exports.
inline constexpr size_t kTlsKeyingBytesMax = 64 * 1024;
// How long JavaScript waits for a lane that it asks about a connection.
inline constexpr uint64_t kTlsAskMs = 1000;
// How long a key makes tickets, and how many keys are kept to read them: sessions live for some
// minutes, so that a key that is known later opens little.
inline constexpr uint64_t kTicketKeyMs = 3'600'000;
inline constexpr size_t kTicketKeysKept = 3;
// How late the processes of a shared port learn of a new key: until then tickets that were made
// with it are good where it was made.
inline constexpr uint64_t kTicketTellMs = 60'000;

// Idle timeout after a reply of the engine before JavaScript has named one (node:http has the
// same).
inline constexpr uint32_t kNativeIdleMs = 5000;
// After a closing reply: what is read and thrown away so that the kernel does not answer a late
// upload with a reset that would destroy the reply. A sender that has not noticed after that never
// will.
inline constexpr size_t kLingerBytesMax = 1024 * 1024;
inline constexpr uint64_t kLingerMs = 2000;
// How late it is looked whether a client that sends nothing more has ended its side: by a lane that
// is awake, and by one that sleeps, for which a wake would cost as much as a request.
inline constexpr uint64_t kUnwatchedMs = 20;
inline constexpr uint64_t kUnwatchedWakeMs = 200;
// Distinct idle timeouts that run at the same time; further ones share the next shorter list.
inline constexpr size_t kTimerListsMax = 64;

// Header lines with an id, per lane: 1024 sets of 4. A browser's lines of some hundred variants
// fit.
inline constexpr size_t kInternSets = 1024;
inline constexpr size_t kInternWays = 4;
// Longest line (name and value) or target that gets an id; longer ones rarely repeat.
inline constexpr size_t kInternTextBytesMax = 256;
// New ids per loop iteration, so that ever-changing lines cost little more than literal ones.
inline constexpr uint32_t kInternDefinitionsPerPass = 64;

// Connections accepted per wake of the acceptor before it looks at its other listeners: what a busy
// port gathers while its process waits for the CPU, so that its owners get it in few pieces.
inline constexpr int kAcceptsPerWake = 1024;
// How often a process that is not on duty at a port looks for connections that wait, under load:
// the one who is first in line, and the others.
inline constexpr uint64_t kDeputyLookMs = 20;
inline constexpr uint64_t kAcceptLookMs = 500;
// What it finds it leaves to the one on duty, which may only wait for the CPU: what several took
// would reach the owners in more and smaller pieces. After so many looks in a row that never found
// less than before, that one has stopped.
inline constexpr int kAcceptLooksUntouchedMax = 5;
// After so many that found nothing there is no load: it waits to be woken.
inline constexpr int kAcceptLooksQuietMax = 10;
// Pause after running out of descriptors when there is none to give up.
inline constexpr int kAcceptBackoffMs = 100;

// Requests that are given to a server and not begun by it, by default (server option queueLimit):
// HTTP.SYS's own number.
inline constexpr uint32_t kQueueLimit = 1000;
// Lines of the error log a second: enough to see what goes on, too few to fill a disk in a day.
inline constexpr uint32_t kLogLinesPerSecond = 100;
// How many were left out is said so long after the first of them, and looked at again so often: in
// the second that follows.
inline constexpr uint64_t kLogDroppedMs = 1000;
inline constexpr uint64_t kLogDroppedRetryMs = 100;
// Longest field in it, in bytes.
inline constexpr size_t kLogFieldBytesMax = 512;

// -- Port sharing.

// Reads of one connection to a peer per readiness event.
inline constexpr int kPeerReadsPerEvent = 64;
// Connections handed to one peer that it has not acknowledged; further ones wait. Together with
// their bytes they stay within what a Unix socket buffers.
inline constexpr size_t kPeerUnackedMax = 256;
// Unhandled bytes of connections that are handed over in one message; a longer one goes alone.
inline constexpr size_t kHandOverBytesMax = 64 * 1024;
// Within this time a request that was given to a peer is acknowledged, or goes to the next owner,
// or gets 503.
inline constexpr uint64_t kPeerAckMs = 5000;
// A peer that has acknowledged nothing for so long is given up. The rest of the time above is for
// what follows on a machine that is busy.
inline constexpr uint64_t kPeerSilentMs = 4500;
// How late acknowledgements are read: until then the descriptor is kept, which costs nothing.
inline constexpr uint64_t kPeerAckLookMs = 5;
// Frames that a peer does not read, before it is given up.
inline constexpr size_t kPeerUnsentBytesMax = 4 * 1024 * 1024;
// Times that a connection is passed on with one request: tables of two members differ only while a
// change travels.
inline constexpr uint8_t kHopsMax = 8;
// Times that a request comes back to whoever relays it because its owner has just left; each time
// it waits for kWaitingRetryMs, or until the change has arrived.
inline constexpr uint8_t kReturnsMax = 100;
// Longest text of an address with its zone.
inline constexpr size_t kAddressBytesMax = 128;
// What relays leave of the descriptors that a process may have (`ulimit -n`), for its connections,
// links and files: one of so many, up to a maximum.
inline constexpr size_t kDescriptorsSparedPart = 4;
inline constexpr size_t kDescriptorsSparedMax = 1024;
// Relays of a lane, request bytes that wait for a member to read them, and answers that it has
// announced and not sent.
inline constexpr size_t kRelaysMax = 4096;
inline constexpr size_t kRelayUnsentBytesMax = 256 * 1024;
// What the kernel may hold of the answer on a relayed stream of HTTP/2, as SO_SNDBUF counts: it
// takes twice as much, with its own structures. A client with a hundred streams that reads nothing
// would otherwise cost 20 MiB of kernel memory.
inline constexpr int kRelayStreamBufferBytes = 16 * 1024;
// Relayed requests that are kept until they are answered, per relay: longer ones cannot be told to
// another member when the one that has them leaves.
inline constexpr size_t kRelayKeptBytesMax = 64 * 1024;
inline constexpr size_t kRelayAnswersMax = 1024;
// Certificates of a client that are told with a relay: what a text of a frame has room for, beside
// the rest of what is known of its TLS.
inline constexpr size_t kRelayCertificateBytesMax = 32 * 1024;
// Longest ClientHello that is looked at for the name of its server before somebody reads it: with
// post-quantum key shares browsers send 2 KiB.
inline constexpr size_t kHelloPeekBytesMax = 16 * 1024;
// Members of one port, and prefixes on it: each change goes to all members.
inline constexpr size_t kMembersMax = 1024;
inline constexpr size_t kEntriesMax = 16 * 1024;
// Besides, who only asks for its state, or has not said who it is; they are heard on a full port,
// too.
inline constexpr size_t kVisitorsMax = 64;
// Files in a directory of names that one look for those of killed processes goes through.
inline constexpr size_t kSweptNamesMax = 4096;
// How often a member that cannot reach its coordinator asks the kernel whose the name is.
inline constexpr uint64_t kStrangerLookMs = 100;
// Listening sockets of one port: one per bound address.
inline constexpr size_t kSharedSocketsMax = 64;
// How long a coordinator may take to answer.
inline constexpr uint64_t kCoordinatorMs = 1000;
// How long somebody who asks for the state of a port waits: for the coordinator, and it for others.
inline constexpr uint64_t kStateMs = 2000;
// How long nobody may hold the meeting place of a port in use: its members run for it at once.
inline constexpr uint64_t kElectionMs = 200;
// How long a registration waits for members that do not confirm it.
inline constexpr uint64_t kConfirmMs = 500;
// How long a member that has taken a prefix back, perhaps its last one, goes on telling so while
// one coordinator after the other ends. Two elections need some milliseconds.
inline constexpr uint64_t kRemovalMs = 2000;
// How long a new coordinator waits for the members that it knows of.
inline constexpr uint64_t kReunionMs = 1000;
// Longest time that requests wait for a restarted owner (server.close({ restart: true, waitMs })).
inline constexpr uint32_t kAbsentMsMax = 300'000;
// How long the prefixes of a process that died, or of one whose successor has not come in time,
// answer 503: supervisors start it again sooner. After that they are as if nobody had registered
// them.
inline constexpr uint32_t kOfflineMs = 10'000;
// JavaScript that has been working on one batch for so long is blocked: the other owners of a queue
// take what comes. Longer than most handlers run, shorter than anybody notices.
inline constexpr uint64_t kBlockedMs = 10;
// What was passed on so often waits where it is. Each time its owner must have been blocked for
// twice as long as for the time before, so that it stays where JavaScript is free first: 10 ms to
// 320 ms.
inline constexpr uint8_t kBlockedHopsMax = 6;
// An owner that has passed nothing on for so long, and is not blocked, asks for its connections
// back: much longer than kBlockedMs, so that one that is blocked again and again does not.
inline constexpr uint64_t kUnblockedMs = 100;
// How often waiting requests look for their owner by themselves.
inline constexpr uint64_t kWaitingRetryMs = 5;
// Requests that wait for the owner of one prefix, and for all, per lane; further ones get 503. The
// first is the default of a queue; the second bounds what looking again costs.
inline constexpr size_t kWaitingMax = 1000;
inline constexpr size_t kWaitingAllMax = 4000;

// -- Waking JavaScript.

// How late JavaScript may hear of the end of a connection that it has ended itself, if nothing else
// wakes it before: nobody waits for that, and a wake costs as much as a request.
inline constexpr uint64_t kToldLateMs = 100;
// How late of a new one with TLS, whose first request mostly is on its way: one wake for both.
inline constexpr uint64_t kOpenToldLateMs = 2;

// How long a lane lets requests and replies gather while JavaScript works on a batch, at most: far
// below what a person notices, and some 30 requests of an Express application.
inline constexpr uint64_t kNapUs = 500;
// Waits that are left out after one in vain (doubled each time, from 1). A lane's nap in which
// JavaScript did not even begin: other programs have its CPU, and the end of a nap is one more wake
// among theirs. An acceptor that let others run and then found a single connection: a client waits
// for no more than that.
inline constexpr int kWaitsSkippedMax = 31;
// How often a lane looks for replies by itself while JavaScript is busy with its requests: a reply
// written before a handler that blocks leaves within this time without a wake per reply.
inline constexpr uint64_t kPeekMs = 1;
inline constexpr uint64_t kPeekMsMax = 8;
// The same until JavaScript has begun, doubled each time: as late as JavaScript itself, at most.
inline constexpr uint64_t kPeekIdleMsMax = 64;

// Native code's own share of one turn of the JavaScript event loop.
inline constexpr uint64_t kDrainNs = 10'000'000;
// How long a terminated worker or a closing environment waits for accepted replies to leave.
inline constexpr uint64_t kExitDrainMs = 1000;

}  // namespace httpsys::limits
