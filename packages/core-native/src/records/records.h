#pragma once
// The records that the I/O threads and the JavaScript thread exchange. docs/internals/records.md is
// the prose; lib/records/records.js repeats the numbers for JavaScript and a test compares the two.
//
// Every record starts with four 32-bit words in host byte order and is a multiple of 8 bytes long:
//   word 0  size of the record in bytes, these words and padding included
//   word 1  type in the low 8 bits, flags in the upper 24
//   word 2  connection slot: a dense small integer per lane
//   word 3  0, unless a flag says otherwise
// Readers skip types they do not know and never trust a length without comparing it to the size.

#include <cstddef>
#include <cstdint>

namespace httpsys::records {

inline constexpr uint32_t kFormatVersion = 1;
inline constexpr size_t kHeaderBytes = 16;
inline constexpr size_t kAlignBytes = 8;

// I/O thread -> JavaScript.
enum class RequestType : uint8_t {
  kPad = 0,         // Fills the end of a segment; the next record starts the next segment.
  kOpen = 1,        // A connection was accepted.
  kRequest = 2,     // A whole request head, possibly with (all of) its body.
  kBody = 3,        // A piece of request body, or bytes of an upgraded connection.
  kBodyBlock = 4,   // The same in a block of its own: Engine.copyBlock(lane, id) or, with
                    // kFlagLent, one that JavaScript lent.
  kBodyEnd = 5,     // End of the request body, with trailers.
  kEof = 6,         // The peer closed its sending side.
  kClosed = 7,      // The connection is gone. The last record of its slot.
  kCredit = 8,      // Bytes that left since the last credit.
  kError = 9,       // The peer broke the protocol or ran out of time.
  kBlockDone = 10,  // A block given by Engine.sendBlock was sent or dropped.
  kIntern = 11,     // Defines an id for a header line, a header name or a target.
  kOversize = 12,   // A record too large for a segment, in a block of its own.
  // Records of a connection that kWebSocket has made a WebSocket.
  kMessage = 13,          // A whole message.
  kMessageBlock = 14,     // The same in a block of its own: Engine.takeBlock(lane, id).
  kControl = 15,          // A ping or a pong.
  kCloseFrame = 16,       // The peer closes. No record but kCredit, kEof and kClosed follows.
  kFrameError = 17,       // WebSocket frames of the peer are refused. Words as with kCloseFrame.
  kHello = 18,            // A handshake waits for Engine.answerHello(lane, id, ...). Of no slot.
  kTlsFailure = 19,       // TLS has failed; kClosed follows.
  kNewSession = 20,       // As kHello: the handshake waits until JavaScript has kept the session.
  kKeyLog = 21,           // Secrets of the connection; its kOpen follows.
  kPeerCertificate = 22,  // The answer to kAskCertificate.
  kSilence = 23,          // How long the connection has been silent.
};

// kOpen: word 4 server id, 5 remote port | family << 16 (4, 6, 0 = unix), 6 local port,
// 7 remote address bytes | local address bytes << 16; then both addresses as text, no separator.
inline constexpr size_t kOpenFixedBytes = 32;
// With kFlagSecure there follow, from the next multiple of 8 on, kOpenSecureBytes of words and
// then text and bytes without separators: word 0 protocol (0x0304 = TLS 1.3) | 1 << 16 for a
// session that goes on | 1 << 17 when the peer was asked for a certificate, 1 result of the
// verification (X509_V_...; 0 = fine), 2 bytes of the server name, 3 of the ALPN protocol, 4 of the
// cipher's name, 5 of its standard name, 6 of the version that it came with, 7 of the peer's
// certificates: each DER after its length in 4 bytes.
inline constexpr size_t kOpenSecureBytes = 32;

// kRequest: word 4 server id, 5 method | minor version << 8 | header line count << 16, 6 target,
// 7 text bytes, 8 body bytes, 9 url prefix id, 10 arrival (ms of uv_hrtime,
// modulo 2^32), 11 bytes of the head on the wire.
// Then one pair of words per header line, then the text (target if literal, then the literal parts
// of the lines, in order, no separators), then the body bytes.
//   target            kInternBit | id          or literal byte length
//   line, first word  kInternBit | id          whole line interned, second word unused
//                     kNameBit | id            name interned, second word = literal value length
//                     literal name length      second word = literal value length
inline constexpr size_t kRequestFixedBytes = 48;
inline constexpr uint32_t kInternBit = 0x80000000u;
inline constexpr uint32_t kNameBit = 0x40000000u;

enum RequestFlags : uint32_t {  // Already shifted into place: word 1 >> 8.
  kFlagHasBody = 1u << 0,       // Content-Length > 0 or chunked: kBody… and kBodyEnd follow.
  kFlagComplete = 1u << 1,      // The message ends within this record (no kBodyEnd follows).
  kFlagKeepAlive = 1u << 2,     // The result of llhttp_should_keep_alive().
  kFlagUpgrade = 1u << 3,  // Upgrade or CONNECT: the lane waits for kUpgradeAccept/kUpgradeDecline;
                           // the body bytes are what was read after the head.
  kFlagExpectContinue = 1u << 4,
  kFlagExpectOther = 1u << 5,
  kFlagHasHost = 1u << 6,
  kFlagChunked = 1u << 7,
  kFlagLent = 1u << 8,  // kBodyBlock: the id is that of an Engine.lendBlock.
  // kOpen: of a shared port, with its first request. The server has it even if it is not listening
  // yet, or not any more: nobody else can.
  kFlagShared = 1u << 9,
  // kRequest: of a stream of an HTTP/2 connection, which is opened by this record. Word 3 is the
  // slot of that connection.
  kFlagStream = 1u << 10,
  kFlagSecure = 1u << 11,  // kOpen: TLS.
  kFlagFailed = 1u << 12,  // kOpen: the handshake has failed; kTlsFailure and kClosed follow.
  // kOpen: the server was closed within the handshake. It waits for that: kOpen of another slot
  // comes when it is done, then kClosed of this one.
  kFlagPending = 1u << 13,
  // kRequest: of a stream of an HTTP/2 connection that another member of a shared port has. Apart
  // from the version of its protocol it is a connection of its own.
  kFlagRelayedStream = 1u << 14,
  // kEof: of an undecided upgrade. Its bytes are told first when JavaScript has decided, and then
  // kEof without this flag. Behind it nothing comes for which a decision could wait.
  kFlagUndecided = 1u << 15,
  // kRequest: the lane may take the request back until JavaScript has begun it, and has no barrier
  // for that (ClaimedRequests). Who begins it stores kDispatchResume by Atomics before it reads
  // kRequestsClaimed.
  kFlagClaimable = 1u << 16,
  // kCredit: the socket has taken everything that it was given.
  kFlagTaken = 1u << 17,
  // kSilence: the connection has had an answer, and no request is unanswered.
  kFlagBetween = 1u << 18,
  // kSilence: the connection carries streams, which have timers of their own.
  kFlagFramed = 1u << 19,
  // kSilence: nobody has asked. The idle time of the server is over, and its 'timeout' has
  // listeners, which decide.
  kFlagUnasked = 1u << 20,
};

// kBody: word 4 bytes; then the bytes.            kBodyBlock: word 4 bytes, 5 block id.
// kBodyEnd: word 4 trailer line count, 5 text bytes; then lines and text as in kRequest.
// kEof: nothing more; kFlagUndecided.             kClosed: word 4 errno (0 = clean), positive.
// kCredit: word 4 bytes; kFlagTaken.              kBlockDone: word 4 block id, 5 errno,
//                                                 6 and 7 (low, high) the bytes of a file that left
//                                                 before its error, or the connection's end.
// kSilence: word 4 ms since bytes were read or written (kSilenceUnknown: this backend does not
//           know), 5 the time of that, which has changed when bytes have come or left;
//           kFlagBetween, kFlagFramed, kFlagUnasked.
// kError: word 4 ErrorKind, 5 bytes of the segment, 6 bytes of the prefix, 7 offset in the segment;
//         then, at byte 32, the segment in which the fault is, as received, and the prefix. A
//         parser that has read the prefix finds the fault in the segment from the offset on.
// kIntern: word 4 id, 5 name bytes, 6 value bytes; then name and value. A bare name has value bytes
//          kInternNameOnly, a target has name bytes 0.
// kOversize: word 4 bytes, 5 block id.
inline constexpr uint32_t kInternNameOnly = 0xffffffffu;
inline constexpr uint32_t kSilenceUnknown = 0xffffffffu;
// kMessage: word 4 bytes; then, at byte 24, the bytes.   kMessageBlock: word 4 bytes, 5 block id.
//           Flag kMessageBinary. Each takes its bytes and kMessageCost of the window.
// kControl: word 4 bytes, 5 opcode (9, 10); then, at byte 24, the bytes. Takes as kMessage does.
// kCloseFrame: word 4 code (1005 = none), 5 reason bytes; then, at byte 24, the reason.
// kFrameError: word 4 websocket::ReadError, 5 text bytes, 6 detail, 7 zlib's code (negative);
//              then, at byte 32, zlib's text.
inline constexpr uint32_t kMessageBinary = 1u << 0;
// What a message without bytes costs: a peer that sends many of them is paused, too.
inline constexpr uint32_t kMessageCost = 32;
inline constexpr size_t kFrameErrorTextAt = 32;
inline constexpr size_t kErrorTextAt = 32;

// kHello: word 4 id, 5 server id, 6 server name bytes, 7 bytes of the ALPN list, 8 of the session
//         id; then, at byte 40, these, the list as on the wire. Flags kHelloTicket (it has a
//         session in a ticket), kHelloStatus (it wants an OCSP response).
// kNewSession: word 4 id, 5 server id, 6 session id bytes, 7 bytes of the session; then, at byte
//              32, both.
// kKeyLog: word 4 bytes; then, at byte 24, lines.
// kTlsFailure: word 4 errno, 5 bytes of OpenSSL's whole text, 6 of its library, 7 of the function,
//              8 of the reason; then, at byte 40, these.
// kPeerCertificate: word 4 system error (0 = the peer has shown one, or has none), 5 result of the
//                   verification as with kOpen, 6 bytes; then, at byte 32, the certificates as
//                   there.
inline constexpr uint32_t kHelloTicket = 1u << 0;
inline constexpr uint32_t kHelloStatus = 1u << 1;
inline constexpr size_t kHelloTextAt = 40;
inline constexpr size_t kNewSessionTextAt = 32;
inline constexpr size_t kTlsFailureTextAt = 40;
inline constexpr size_t kPeerCertificateAt = 32;

enum class ErrorKind : uint32_t {
  kMalformed = 1,        // 400
  kHeaderOverflow = 2,   // 431
  kChunkExtensions = 3,  // 413
  kTimeout = 4,          // 408, headersTimeout or requestTimeout
  kBodyTooLarge = 5,     // 413, maxRequestBodySize
  kIncomplete = 6,       // EOF inside a message: HPE_INVALID_EOF_STATE
  kDataAfterClose = 7,   // Bytes after a `Connection: close` request: HPE_CLOSED_CONNECTION
};

// JavaScript -> I/O thread.
enum class ReplyType : uint8_t {
  kJump = 0,            // word 2 = id of the reply segment where the next record stands.
  kResponse = 1,        // Response head, possibly with (all of) its body.
  kData = 2,            // A piece of response body, or raw bytes.
  kBlock = 3,           // The same by reference: Engine.sendBlock.
  kTrailers = 4,        // Ends a chunked body, and with it the response.
  kEnd = 5,             // The response is complete.
  kWindow = 6,          // JavaScript consumed that many body bytes.
  kUpgradeAccept = 7,   // From here on the connection carries opaque bytes.
  kUpgradeDecline = 8,  // Treat the message as an ordinary request.
  kShutdown = 9,        // FIN once everything is sent, then close when the peer has closed too.
  kDestroy = 10,        // Send what the kernel takes at once, close.
  kReset = 11,          // RST.
  kRelease = 12,        // JavaScript has forgotten the slot. The last record of a slot.
  kSocketOption = 13,   // word 4: 1 = TCP_NODELAY, 2 = SO_KEEPALIVE; 5 value; 6 initial delay (s).
  kIdleTimeout = 14,    // word 4: idle timeout in ms for a connection without a request (0 = none).
  kWebSocket = 15,      // An undecided upgrade becomes a WebSocket.
  kFrame = 16,          // A frame to send on it.
  kFrameBlock = 17,     // The same by reference.
  kBroadcast = 18,      // One frame for several WebSockets.
  kBroadcastBlock = 19,  // The same by reference.
  kCachePolicy = 20,     // How long the kernel may answer with the response that begins.
  kAskCertificate = 21,  // The peer is to show a certificate; kPeerCertificate follows.
  kRefuseBody = 22,      // JavaScript refuses a body that is longer than its request may have.
  kAskSilence = 23,      // A timer of JavaScript has expired; kSilence follows.
};

enum CachePolicy : uint32_t {
  kCacheNothing = 0,
  kCacheUserInvalidates = 1,  // Until it is flushed.
  kCacheTimeToLive = 2,
};

enum ReplyFlags : uint32_t {   // word 1 >> 8.
  kReplyEnd = 1u << 0,         // The response is complete with this record.
  kReplyClose = 1u << 1,       // With kReplyEnd: close the connection after it (res._last).
  kReplyChunked = 1u << 2,     // The backend frames the body bytes of this record as one chunk, and
                               // with kReplyEnd writes the last chunk.
  kReplyInterim = 1u << 3,     // A 1xx head.
  kReplyRaw = 1u << 4,         // Bytes as the application framed them.
  kReplyIfIdle = 1u << 5,      // kDestroy: only when no request is being received or answered,
  kReplyIfUnserved = 1u << 6,  // with this also before the first one has begun.
  kReplyMayMove = 1u << 7,     // kDestroy: another member of a shared port may have it instead.
  kReplyUndecided = 1u << 8,   // kUpgradeAccept: not decided yet what the bytes are. The lane keeps
                               // them until kUpgradeAccept without this flag, or kWebSocket.
  kReplyLogged = 1u << 9,      // kRefuseBody: the refusal is counted, and is in the error log,
  kReplyUnanswered = 1u << 10,  // with this as one that its client learns from the end alone.
  kReplyFile = 1u << 11,        // kResponse: a kBlock follows that is a part of a file.
};

// kResponse: word 4 head bytes, 5 body bytes, 6 status, 7 keep-alive timeout in ms (with kReplyEnd;
//            0 = none, kIdleNotCounted = JavaScript counts); then head text (status line to blank
//            line), then body.
// kData: word 4 bytes, 5 keep-alive timeout in ms (with kReplyEnd); then, at byte 24, the bytes.
// kCachePolicy: word 4 CachePolicy, 5 seconds; before the head.
// kBlock: word 4 block id, of memory or of a file.      kTrailers: as kData; the bytes are lines,
// each with CRLF.
//      kEnd: word 4 keep-alive timeout in ms.      kWindow: word 4 bytes.
inline constexpr uint32_t kIdleNotCounted = 0xffffffffu;
inline constexpr size_t kResponseFixedBytes = 32;
// kWebSocket: word 4 SocketFlags, 5 longest message (0 = no limit), 6 most fragments (0 = any), 7
//             most arrivals of a frame (0 = any), 8 most unsent pongs (0 = any), 9 bytes below
//             which a message that stands alone is not compressed, 10 window bits of the server |
//             of the client << 8 | zlib level (signed) << 16 | memory level << 24, 11 zlib
//             strategy, 12 bytes; then, at byte 56, what was read behind the request.
// kFrame: word 4 bytes; then, at byte 24, the bytes.     kFrameBlock: word 4 block id.
// kBroadcast: word 4 bytes, 5 slots; then, at byte 24, the bytes, and, from the next multiple of 4,
//             the slots.      kBroadcastBlock: word 4 block id, 5 slots; the slots at byte 24.
inline constexpr size_t kWebSocketFixedBytes = 56;
enum SocketFlags : uint32_t {
  kSocketAutoPong = 1u << 0,     // The lane answers pings.
  kSocketSkipUtf8 = 1u << 1,     // Text is not looked at.
  kSocketDeflate = 1u << 2,      // permessage-deflate was negotiated,
  kSocketServerAlone = 1u << 3,  // with server_no_context_takeover,
  kSocketClientAlone = 1u << 4,  // with client_no_context_takeover.
};
enum FrameFlags : uint32_t {  // word 1 >> 8.
  kFrameOpcode = 0xf,         // The opcode of RFC 6455; 0 continues a message.
  kFrameFin = 1u << 4,
  kFrameCompress = 1u << 5,  // If it was negotiated; of the frame that begins a message.
};
// Where the payload of kBody, kBodyEnd (lines), kData and kTrailers stands: words 4 and 5, then
// bytes. kIntern has words 4 to 7 (the last unused) and its text at byte 32.
inline constexpr size_t kPayloadAt = 24;
inline constexpr size_t kInternTextAt = 32;

// Fates of a request that waited for JavaScript: Engine.takeClaim(lane).
enum class Claim : uint32_t {
  kNone,     // The lane has left the request alone: JavaScript begins it.
  kRefused,  // The lane has answered the request, and its connection ends.
  kMoved,    // Another owner of the queue gets the request.
};

// Words of the control block of a lane (Int32Array over a SharedArrayBuffer, one cache line each).
enum ControlWord : uint32_t {
  kReplyPublished =
      0,  // Bytes of reply records published so far, modulo 2^32. Written by JavaScript.
  kSegmentsDone = 16,  // Reply segments the lane has left by a kJump, modulo 2^32.
  kLaneSleeping =
      32,  // 1 while the lane waits in its poll; JavaScript then calls Engine.wake(lane).
  // Requests that the lane has claimed back and JavaScript has not come to: Engine.takeClaim(lane)
  // says whether the present one is among them. In the line of the word before, which is read and
  // written by the same.
  kRequestsClaimed = 33,
  kDispatchResume =
      48,  // Where dispatch() goes on after a throw. Written and read on the JS thread.
  // 1 while dispatch() runs. Who calls it clears the word, and then looks at kLaneSleeping: until
  // then the lane may let replies gather.
  kBatchOpen = 49,
  // 1 from the first reply that is published outside dispatch() until the event loop's turn ends.
  // Set by JavaScript, which then calls Engine.openTurn(lane); cleared at the turn's end, after
  // which the lane is woken for further replies. Until then the lane looks for them by itself.
  kTurnOpen = 50,
  kControlWords = 64,
};

}  // namespace httpsys::records
