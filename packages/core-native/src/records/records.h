#pragma once
// Generated from schema/records.js by npm run generate. docs/internals/records.md is the prose.

#include <cstddef>
#include <cstdint>

namespace httpsys::records {

// Changes with every change that an old reader would misread.
inline constexpr uint32_t kFormatVersion = 1;
// Of the first four words.
inline constexpr size_t kHeaderBytes = 16;
// The size of a record is a multiple of this.
inline constexpr size_t kAlignBytes = 8;
// Where the bytes of kBody, kBodyEnd, kData, kTrailers and of WebSocket records begin.
inline constexpr size_t kPayloadAt = 24;
// Of the words of kOpen.
inline constexpr size_t kOpenFixedBytes = 32;
// Of the words of Secure.
inline constexpr size_t kOpenSecureBytes = 32;
// Of the words of kRequest.
inline constexpr size_t kRequestFixedBytes = 48;
// Of the words of kResponse.
inline constexpr size_t kResponseFixedBytes = 28;
// Of the words of kWebSocket.
inline constexpr size_t kWebSocketFixedBytes = 56;
// Where the bytes of kError begin.
inline constexpr size_t kErrorTextAt = 32;
// Where the text of kIntern begins.
inline constexpr size_t kInternTextAt = 32;
// Where the text of kFrameError begins.
inline constexpr size_t kFrameErrorTextAt = 32;
// Where the texts of kHello begin.
inline constexpr size_t kHelloTextAt = 40;
// Where the bytes of kNewSession begin.
inline constexpr size_t kNewSessionTextAt = 32;
// Where the texts of kTlsFailure begin.
inline constexpr size_t kTlsFailureTextAt = 40;
// Where the certificates of kPeerCertificate begin.
inline constexpr size_t kPeerCertificateAt = 32;
// Of a block that JavaScript lends.
inline constexpr size_t kBlockBytes = 0x10000u;
// Most blocks that JavaScript lends to a lane.
inline constexpr uint32_t kReceiveBlocksMax = 128;
// A word with this bit is the id of a whole line or target.
inline constexpr uint32_t kInternBit = 0x80000000u;
// A word with this bit is the id of a name.
inline constexpr uint32_t kNameBit = 0x40000000u;
// kIntern: a name without a value.
inline constexpr uint32_t kInternNameOnly = 0xffffffffu;
// kSilence: the backend does not know.
inline constexpr uint32_t kSilenceUnknown = 0xffffffffu;
// JavaScript counts the idle time.
inline constexpr uint32_t kIdleNotCounted = 0xffffffffu;
// Bytes of the window that a message takes besides its own, so that a client that sends many empty
// ones is paused, too.
inline constexpr uint32_t kMessageCost = 32;

// Records of an I/O thread for JavaScript.
enum class RequestType : uint8_t {
  // Fills the end of a segment; the next record begins the next segment.
  kPad = 0,
  // A connection was accepted.
  kOpen = 1,
  // A whole request head, possibly with its body or a part of it.
  kRequest = 2,
  // A piece of a request body, or bytes of an upgraded connection.
  kBody = 3,
  // The same in a block of its own: Engine.copyBlock(lane, id), or with kFlagLent one that
  // JavaScript lent. Fields of kBody.
  kBodyBlock = 4,
  // End of a request body, with its trailers.
  kBodyEnd = 5,
  // The client has ended its direction.
  kEof = 6,
  // The connection is closed. The last record of its slot.
  kClosed = 7,
  // Bytes that have left since the last credit.
  kCredit = 8,
  // The client has broken the protocol, or a limit.
  kError = 9,
  // A block of Engine.sendBlock was sent or dropped.
  kBlockDone = 10,
  // Defines an id for a header line, a header name or a target.
  kIntern = 11,
  // A record that is too long for a segment, in a block of its own.
  kOversize = 12,
  // A whole WebSocket message. It takes its bytes and kMessageCost of the receive window.
  kMessage = 13,
  // The same in a block of its own: Engine.takeBlock(lane, id). Fields of kMessage.
  kMessageBlock = 14,
  // A ping or a pong. It takes as much of the window as kMessage.
  kControl = 15,
  // The client closes the WebSocket. No record but kCredit, kEof and kClosed follows.
  kCloseFrame = 16,
  // The client's WebSocket frames are refused. No record but kCredit, kEof and kClosed follows.
  kFrameError = 17,
  // A handshake waits for Engine.answerHello(lane, id, …). Of no slot; kHelloTicket, kHelloStatus.
  kHello = 18,
  // TLS has failed; kClosed follows.
  kTlsFailure = 19,
  // A handshake waits until JavaScript has stored its session: Engine.answerHello(lane, id, {}). Of
  // no slot.
  kNewSession = 20,
  // Secrets of a connection whose kOpen follows.
  kKeyLog = 21,
  // The answer to kAskCertificate.
  kPeerCertificate = 22,
  // How long the connection has been silent; kFlagBetween, kFlagFramed, kFlagUnasked, kFlagUnsent.
  kSilence = 23,
  // Bytes of requests that the lane has answered by itself, and of these answers.
  kUnseen = 24,
};

// Records of JavaScript for an I/O thread.
enum class ReplyType : uint8_t {
  // The next record stands in another reply segment.
  kJump = 0,
  // A response head, possibly with its body or a part of it.
  kResponse = 1,
  // A piece of a response body, or raw bytes.
  kData = 2,
  // The same by reference: Engine.sendBlock.
  kBlock = 3,
  // Ends a chunked body, and with it the response. Fields of kData; the bytes are lines, each with
  // CRLF.
  kTrailers = 4,
  // The response is complete.
  kEnd = 5,
  // JavaScript has consumed bytes of a body.
  kWindow = 6,
  // The connection carries opaque bytes from here on.
  kUpgradeAccept = 7,
  // The message is an ordinary request.
  kUpgradeDecline = 8,
  // FIN when everything is sent; closed when the client has ended, too.
  kShutdown = 9,
  // Sends what the kernel takes at once, and closes.
  kDestroy = 10,
  // RST.
  kReset = 11,
  // JavaScript has forgotten the slot. The last record of a slot.
  kRelease = 12,
  // Sets an option of the socket.
  kSocketOption = 13,
  // Word 4: ms that a connection without a request may be idle; 0 is no limit.
  kIdleTimeout = 14,
  // An undecided upgrade becomes a WebSocket.
  kWebSocket = 15,
  // A frame to send on a WebSocket; FrameFlags.
  kFrame = 16,
  // The same by reference. Fields of kBlock.
  kFrameBlock = 17,
  // One frame for several WebSockets; FrameFlags.
  kBroadcast = 18,
  // The same by reference. Fields of kBroadcast.
  kBroadcastBlock = 19,
  // How long the kernel may answer with the response whose head follows.
  kCachePolicy = 20,
  // The client has to show a certificate; kPeerCertificate follows.
  kAskCertificate = 21,
  // JavaScript refuses a body that is longer than its request may have.
  kRefuseBody = 22,
  // A timer of JavaScript has expired; kSilence follows.
  kAskSilence = 23,
};

// Flags of records for JavaScript.
enum RequestFlags : uint32_t {
  // kRequest: Content-Length above 0, or chunked. kBody records and kBodyEnd follow.
  kFlagHasBody = 1,
  // kRequest: the message ends within this record; no kBodyEnd follows.
  kFlagComplete = 2,
  // kRequest: the result of llhttp_should_keep_alive().
  kFlagKeepAlive = 4,
  // kRequest: Upgrade or CONNECT. The lane waits for a decision; the body is what was read behind
  // the head.
  kFlagUpgrade = 8,
  // kRequest: Expect: 100-continue.
  kFlagExpectContinue = 16,
  // kRequest: another Expect.
  kFlagExpectOther = 32,
  // kRequest: it has a Host field.
  kFlagHasHost = 64,
  // kRequest: the body is chunked.
  kFlagChunked = 128,
  // kBodyBlock: the id is that of a block of Engine.lendBlock.
  kFlagLent = 256,
  // kOpen: on a shared port, with its first request. The server has it even if it does not listen
  // yet, or no longer: no other can.
  kFlagShared = 512,
  // kRequest: of a stream of HTTP/2, which this record opens. Word 3 is the slot of the stream's
  // connection.
  kFlagStream = 1024,
  // kOpen: TLS.
  kFlagSecure = 2048,
  // kOpen: the handshake has failed; kTlsFailure and kClosed follow.
  kFlagFailed = 4096,
  // kOpen: the server was closed during the handshake. When that is done, kOpen of another slot
  // follows, then kClosed of this one.
  kFlagPending = 8192,
  // kRequest: of a stream of HTTP/2 whose connection another process has. Apart from the version it
  // is a connection of its own.
  kFlagRelayedStream = 16384,
  // kEof: of an undecided upgrade. Its bytes follow when JavaScript has decided, and then kEof
  // without this flag.
  kFlagUndecided = 32768,
  // kRequest: the lane has no barrier for a claim; JavaScript has to store kDispatchResume by
  // Atomics before it reads kRequestsClaimed.
  kFlagClaimable = 0x10000u,
  // kCredit: the socket has taken everything that it was given.
  kFlagTaken = 0x20000u,
  // kSilence: the connection has had an answer, and no request is unanswered.
  kFlagBetween = 0x40000u,
  // kSilence: the connection carries streams, which have timers of their own.
  kFlagFramed = 0x80000u,
  // kSilence: JavaScript has not asked. The server's idle time is over, and the listeners of its
  // 'timeout' decide.
  kFlagUnasked = 0x100000u,
  // kSilence: the connection or stream has output that has not left.
  kFlagUnsent = 0x200000u,
};

// Flags of kMessage.
enum MessageFlags : uint32_t {
  // A binary message.
  kMessageBinary = 1,
};

// Flags of kHello.
enum HelloFlags : uint32_t {
  // The client has a session in a ticket.
  kHelloTicket = 1,
  // The client wants an OCSP response.
  kHelloStatus = 2,
};

// Flags of records for an I/O thread.
enum ReplyFlags : uint32_t {
  // The response is complete with this record.
  kReplyEnd = 1,
  // With kReplyEnd: close the connection after it (res._last).
  kReplyClose = 2,
  // The backend frames the body of this record as one chunk, and with kReplyEnd writes the last
  // chunk.
  kReplyChunked = 4,
  // A 1xx head.
  kReplyInterim = 8,
  // Bytes as the application framed them.
  kReplyRaw = 16,
  // kDestroy: only if no request is being received or answered.
  kReplyIfIdle = 32,
  // kDestroy with kReplyIfIdle: also before the first request has begun.
  kReplyIfUnserved = 64,
  // kDestroy: another member of a shared port may have the connection instead.
  kReplyMayMove = 128,
  // kUpgradeAccept: what the bytes are is not decided. The lane keeps them until kUpgradeAccept
  // without this flag, or kWebSocket.
  kReplyUndecided = 256,
  // kRefuseBody: the refusal is counted, and is in the error log.
  kReplyLogged = 512,
  // kRefuseBody with kReplyLogged: the client learns of the refusal from the end of the connection
  // alone.
  kReplyUnanswered = 1024,
  // kResponse: a kBlock follows that is a part of a file.
  kReplyFile = 2048,
};

// Settings of a WebSocket.
enum SocketFlags : uint32_t {
  // The lane answers pings.
  kSocketAutoPong = 1,
  // Text is not validated.
  kSocketSkipUtf8 = 2,
  // permessage-deflate was negotiated.
  kSocketDeflate = 4,
  // With server_no_context_takeover.
  kSocketServerAlone = 8,
  // With client_no_context_takeover.
  kSocketClientAlone = 16,
};

// Flags of kFrame and kBroadcast.
enum FrameFlags : uint32_t {
  // Mask of the opcode of RFC 6455; 0 continues a message.
  kFrameOpcode = 15,
  // The last frame of its message.
  kFrameFin = 16,
  // Compress if that was negotiated; on the first frame of a message.
  kFrameCompress = 32,
};

// How long the kernel may keep a response.
enum CachePolicy : uint32_t {
  // Not at all.
  kCacheNothing = 0,
  // Until it is flushed.
  kCacheUserInvalidates = 1,
  // For a number of seconds.
  kCacheTimeToLive = 2,
};

// Words of a lane's control block, an Int32Array over a SharedArrayBuffer; words that different
// threads write are in different cache lines.
enum ControlWord : uint32_t {
  // Bytes of reply records published so far, modulo 2^32. Written by JavaScript.
  kReplyPublished = 0,
  // Reply segments that the lane has left by a kJump, modulo 2^32.
  kSegmentsDone = 16,
  // 1 while the lane waits in its poll; JavaScript then calls Engine.wake(lane).
  kLaneSleeping = 32,
  // Requests that the lane has claimed and JavaScript has not come to: Engine.takeClaim(lane) says
  // whether the present one is among them.
  kRequestsClaimed = 33,
  // Where dispatch() goes on after a throw. Written and read on the JavaScript thread.
  kDispatchResume = 48,
  // 1 while dispatch() runs: the lane may let replies gather. The caller clears the word before it
  // reads kLaneSleeping.
  kBatchOpen = 49,
  // 1 from the first reply outside dispatch() to the end of the event loop's turn: the lane looks
  // for replies by itself, and is woken for further ones at the end.
  kTurnOpen = 50,
  // Number of words.
  kControlWords = 64,
};

// The defect of a message.
enum class ErrorKind : uint32_t {
  // 400
  kMalformed = 1,
  // 431
  kHeaderOverflow = 2,
  // 413
  kChunkExtensions = 3,
  // 408; headersTimeout or requestTimeout
  kTimeout = 4,
  // 413; maxRequestBodySize
  kBodyTooLarge = 5,
  // the client ended inside a message: HPE_INVALID_EOF_STATE
  kIncomplete = 6,
  // bytes behind a request with Connection: close: HPE_CLOSED_CONNECTION
  kDataAfterClose = 7,
};

// The fate of a request that waited for JavaScript: Engine.takeClaim(lane).
enum class Claim : uint32_t {
  // The lane has not claimed it: JavaScript begins it.
  kNone = 0,
  // The lane has answered it, and its connection ends.
  kRefused = 1,
  // Another owner of the queue gets it.
  kMoved = 2,
};

// A word of a record, or some bits of it.
struct Field {
  uint32_t word;
  uint32_t shift = 0;
  uint32_t bits = 32;
};

// Record: Every record.
inline constexpr Field kRecordBytes{0};
inline constexpr Field kRecordType{1, 0, 8};
inline constexpr Field kRecordFlags{1, 8, 24};
inline constexpr Field kRecordSlot{2};
inline constexpr Field kRecordExtra{3};

// Secure: What kFlagSecure adds to kOpen, from the next multiple of 8 bytes on; texts and
// certificates follow without separators.
inline constexpr Field kSecureProtocol{0, 0, 16};
inline constexpr Field kSecureIsReused{0, 16, 1};
inline constexpr Field kSecureHasAsked{0, 17, 1};
inline constexpr Field kSecureVerifyResult{1};
inline constexpr Field kSecureServernameBytes{2};
inline constexpr Field kSecureAlpnBytes{3};
inline constexpr Field kSecureCipherBytes{4};
inline constexpr Field kSecureCipherStandardBytes{5};
inline constexpr Field kSecureCipherVersionBytes{6};
inline constexpr Field kSecureCertificatesBytes{7};

// Open: A connection was accepted. Then both addresses as text without a separator; with
// kFlagSecure, Secure.
inline constexpr Field kOpenServerId{4};
inline constexpr Field kOpenRemotePort{5, 0, 16};
inline constexpr Field kOpenFamily{5, 16, 16};
inline constexpr Field kOpenLocalPort{6};
inline constexpr Field kOpenRemoteBytes{7, 0, 16};
inline constexpr Field kOpenLocalBytes{7, 16, 16};

// Request: A whole request head, possibly with its body or a part of it. Then two words per header
// line, then the text (a literal target, and the literal parts of lines in their order, without
// separators), then the body. First word of a line: kInternBit | id of a whole line (the second is
// unused), kNameBit | id of a name, or the bytes of a literal name; second word: the bytes of the
// literal value.
inline constexpr Field kRequestServerId{4};
inline constexpr Field kRequestMethod{5, 0, 8};
inline constexpr Field kRequestMinorVersion{5, 8, 8};
inline constexpr Field kRequestLines{5, 16, 16};
inline constexpr Field kRequestTarget{6};
inline constexpr Field kRequestTextBytes{7};
inline constexpr Field kRequestBodyBytes{8};
inline constexpr Field kRequestPrefixId{9};
inline constexpr Field kRequestArrivalMs{10};
inline constexpr Field kRequestWireBytes{11};

// Body: A piece of a request body, or bytes of an upgraded connection. Then the bytes.
inline constexpr Field kBodyBytes{4};
inline constexpr Field kBodyBlockId{5};

// BodyEnd: End of a request body, with its trailers. Then lines and text as in kRequest.
inline constexpr Field kBodyEndLines{4};
inline constexpr Field kBodyEndTextBytes{5};

// Closed: The connection is closed. The last record of its slot.
inline constexpr Field kClosedError{4};

// Credit: Bytes that have left since the last credit.
inline constexpr Field kCreditBytes{4};

// Error: The client has broken the protocol, or a limit. Then the segment as it was received, and
// the prefix.
inline constexpr Field kErrorKind{4};
inline constexpr Field kErrorBytes{5};
inline constexpr Field kErrorPrefixBytes{6};
inline constexpr Field kErrorFrom{7};

// BlockDone: A block of Engine.sendBlock was sent or dropped.
inline constexpr Field kBlockDoneBlockId{4};
inline constexpr Field kBlockDoneError{5};
inline constexpr Field kBlockDoneSentLow{6};
inline constexpr Field kBlockDoneSentHigh{7};

// Intern: Defines an id for a header line, a header name or a target. Then name and value.
inline constexpr Field kInternId{4};
inline constexpr Field kInternNameBytes{5};
inline constexpr Field kInternValueBytes{6};

// Oversize: A record that is too long for a segment, in a block of its own.
inline constexpr Field kOversizeBytes{4};
inline constexpr Field kOversizeBlockId{5};

// Message: A whole WebSocket message. It takes its bytes and kMessageCost of the receive window.
// Then the bytes.
inline constexpr Field kMessageBytes{4};
inline constexpr Field kMessageBlockId{5};

// Control: A ping or a pong. It takes as much of the window as kMessage. Then the payload.
inline constexpr Field kControlBytes{4};
inline constexpr Field kControlOpcode{5};

// CloseFrame: The client closes the WebSocket. No record but kCredit, kEof and kClosed follows.
// Then the reason.
inline constexpr Field kCloseFrameCode{4};
inline constexpr Field kCloseFrameBytes{5};

// FrameError: The client's WebSocket frames are refused. No record but kCredit, kEof and kClosed
// follows. Then zlib's message.
inline constexpr Field kFrameErrorKind{4};
inline constexpr Field kFrameErrorTextBytes{5};
inline constexpr Field kFrameErrorDetail{6};
inline constexpr Field kFrameErrorZlibCode{7};

// Hello: A handshake waits for Engine.answerHello(lane, id, …). Of no slot; kHelloTicket,
// kHelloStatus. Then the three.
inline constexpr Field kHelloId{4};
inline constexpr Field kHelloServerId{5};
inline constexpr Field kHelloServernameBytes{6};
inline constexpr Field kHelloAlpnBytes{7};
inline constexpr Field kHelloSessionIdBytes{8};

// TlsFailure: TLS has failed; kClosed follows. Then the four.
inline constexpr Field kTlsFailureError{4};
inline constexpr Field kTlsFailureTextBytes{5};
inline constexpr Field kTlsFailureLibraryBytes{6};
inline constexpr Field kTlsFailureFunctionBytes{7};
inline constexpr Field kTlsFailureReasonBytes{8};

// NewSession: A handshake waits until JavaScript has stored its session: Engine.answerHello(lane,
// id, {}). Of no slot. Then both.
inline constexpr Field kNewSessionId{4};
inline constexpr Field kNewSessionServerId{5};
inline constexpr Field kNewSessionSessionIdBytes{6};
inline constexpr Field kNewSessionSessionBytes{7};

// KeyLog: Secrets of a connection whose kOpen follows. Then the lines.
inline constexpr Field kKeyLogBytes{4};

// PeerCertificate: The answer to kAskCertificate. Then the certificates as in Secure.
inline constexpr Field kPeerCertificateError{4};
inline constexpr Field kPeerCertificateVerifyResult{5};
inline constexpr Field kPeerCertificateBytes{6};

// Silence: How long the connection has been silent; kFlagBetween, kFlagFramed, kFlagUnasked,
// kFlagUnsent.
inline constexpr Field kSilenceMs{4};
inline constexpr Field kSilenceSinceMs{5};

// Unseen: Bytes of requests that the lane has answered by itself, and of these answers.
inline constexpr Field kUnseenRead{4};
inline constexpr Field kUnseenWrittenLow{5};
inline constexpr Field kUnseenWrittenHigh{6};

// Jump: The next record stands in another reply segment.
inline constexpr Field kJumpSegment{2};

// Response: A response head, possibly with its body or a part of it. Then head and body.
inline constexpr Field kResponseHeadBytes{4};
inline constexpr Field kResponseBodyBytes{5};
inline constexpr Field kResponseIdleTimeoutMs{6};

// Data: A piece of a response body, or raw bytes. Then the bytes.
inline constexpr Field kDataBytes{4};
inline constexpr Field kDataIdleTimeoutMs{5};

// Block: The same by reference: Engine.sendBlock.
inline constexpr Field kBlockBlockId{4};

// End: The response is complete.
inline constexpr Field kEndIdleTimeoutMs{4};

// Window: JavaScript has consumed bytes of a body.
inline constexpr Field kWindowBytes{4};

// SocketOption: Sets an option of the socket.
inline constexpr Field kSocketOptionOption{4};
inline constexpr Field kSocketOptionValue{5};
inline constexpr Field kSocketOptionDelayS{6};

// WebSocket: An undecided upgrade becomes a WebSocket. Then what was read behind the request.
inline constexpr Field kWebSocketFlags{4};
inline constexpr Field kWebSocketBytesMax{5};
inline constexpr Field kWebSocketFragmentsMax{6};
inline constexpr Field kWebSocketChunksMax{7};
inline constexpr Field kWebSocketPongsMax{8};
inline constexpr Field kWebSocketThreshold{9};
inline constexpr Field kWebSocketServerBits{10, 0, 8};
inline constexpr Field kWebSocketClientBits{10, 8, 8};
inline constexpr Field kWebSocketLevel{10, 16, 8};
inline constexpr Field kWebSocketMemoryLevel{10, 24, 8};
inline constexpr Field kWebSocketStrategy{11};
inline constexpr Field kWebSocketHeadBytes{12};

// Frame: A frame to send on a WebSocket; FrameFlags. Then the payload.
inline constexpr Field kFrameBytes{4};

// Broadcast: One frame for several WebSockets; FrameFlags. Then the payload, and from the next
// multiple of 4 bytes on the slots.
inline constexpr Field kBroadcastBytes{4};
inline constexpr Field kBroadcastBlockId{4};
inline constexpr Field kBroadcastSlots{5};

// CachePolicy: How long the kernel may answer with the response whose head follows.
inline constexpr Field kCachePolicyPolicy{4};
inline constexpr Field kCachePolicySeconds{5};

}  // namespace httpsys::records
