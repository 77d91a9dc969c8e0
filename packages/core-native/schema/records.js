'use strict'

// The records that I/O threads and the JavaScript thread exchange: every number, once. `npm run generate` writes src/records/records.h,
// lib/records/records.js and the tables of docs/internals/records.md from this file; `npm run lint` fails when one of them is stale.
//
// A record is a multiple of 8 bytes long and begins with four words of 32 bits in host byte order, the fields of `Record` below. A field is
// [word, sentence], or [word, lowest bit, bits, sentence] if it shares its word with others. `then` says what follows the words.

const kBit = (/** @type {number} */ n) => 2 ** n

/** @typedef {[word: number, says: string] | [word: number, shift: number, bits: number, says: string]} Field */
/** @typedef {Record<string, Field>} Fields */
/** @typedef {{ type: number, says: string, fields?: Fields, then?: string }} RecordType */
/** @typedef {Record<string, [value: number, says: string]>} Numbers */

/** Fields of several records, or of a part of one. @type {Record<string, { says: string, fields: Fields }>} */
const parts = {
  Record: {
    says: 'Every record.',
    fields: {
      Bytes: [0, 'size of the record, these words and padding included'],
      Type: [1, 0, 8, 'RequestType or ReplyType; readers skip types that they do not know'],
      Flags: [1, 8, 24, 'RequestFlags or ReplyFlags'],
      Slot: [2, 'the connection: a small integer per lane'],
      Extra: [3, '0, unless a flag says otherwise']
    }
  },
  Secure: {
    says: 'What kFlagSecure adds to kOpen, from the next multiple of 8 bytes on; texts and certificates follow without separators.',
    fields: {
      Protocol: [0, 0, 16, 'version of TLS; 0x0304 is TLS 1.3'],
      IsReused: [0, 16, 1, 'the connection resumes a session'],
      HasAsked: [0, 17, 1, 'the client was asked for a certificate'],
      VerifyResult: [1, 'result of its verification (X509_V_…); 0 is valid'],
      ServernameBytes: [2, 'of the server name'],
      AlpnBytes: [3, 'of the ALPN protocol'],
      CipherBytes: [4, "of the cipher's name"],
      CipherStandardBytes: [5, "of the cipher's standard name"],
      CipherVersionBytes: [6, 'of the version of TLS that the cipher came with'],
      CertificatesBytes: [7, "of the client's certificates: each DER after its length in 4 bytes"]
    }
  }
}

/** Records of an I/O thread for JavaScript. @type {Record<string, RecordType>} */
const requests = {
  kPad: { type: 0, says: 'Fills the end of a segment; the next record begins the next segment.' },
  kOpen: {
    type: 1,
    says: 'A connection was accepted.',
    fields: {
      ServerId: [4, 'the server'],
      RemotePort: [5, 0, 16, 'port of the client'],
      Family: [5, 16, 16, '4, 6, or 0 for a Unix domain socket'],
      LocalPort: [6, 'port of the server'],
      RemoteBytes: [7, 0, 16, "of the client's address"],
      LocalBytes: [7, 16, 16, "of the server's address"]
    },
    then: 'both addresses as text without a separator; with kFlagSecure, Secure'
  },
  kRequest: {
    type: 2,
    says: 'A whole request head, possibly with its body or a part of it.',
    fields: {
      ServerId: [4, 'the server'],
      Method: [5, 0, 8, 'the method (http1/methods.h)'],
      MinorVersion: [5, 8, 8, 'minor version of HTTP'],
      Lines: [5, 16, 16, 'number of header lines'],
      Target: [6, 'kInternBit | id, or the bytes of a literal target'],
      TextBytes: [7, 'of the text'],
      BodyBytes: [8, 'of the body in this record'],
      PrefixId: [9, 'the URL prefix'],
      ArrivalMs: [10, 'time of arrival, of uv_hrtime in ms, modulo 2^32'],
      WireBytes: [11, 'of the head as it was received']
    },
    then: 'two words per header line, then the text (a literal target, and the literal parts of lines in their order, without separators), ' +
      'then the body. First word of a line: kInternBit | id of a whole line (the second is unused), kNameBit | id of a name, or the bytes of a ' +
      'literal name; second word: the bytes of the literal value'
  },
  kBody: {
    type: 3,
    says: 'A piece of a request body, or bytes of an upgraded connection.',
    fields: { Bytes: [4, 'of the piece'], BlockId: [5, 'of kBodyBlock'] },
    then: 'the bytes'
  },
  kBodyBlock: { type: 4, says: 'The same in a block of its own: Engine.copyBlock(lane, id), or with kFlagLent one that JavaScript lent. Fields of kBody.' },
  kBodyEnd: {
    type: 5,
    says: 'End of a request body, with its trailers.',
    fields: { Lines: [4, 'number of trailer lines'], TextBytes: [5, 'of the text'] },
    then: 'lines and text as in kRequest'
  },
  kEof: { type: 6, says: 'The client has ended its direction.' },
  kClosed: { type: 7, says: 'The connection is closed. The last record of its slot.', fields: { Error: [4, 'errno, positive; 0 if it ended well'] } },
  kCredit: { type: 8, says: 'Bytes that have left since the last credit.', fields: { Bytes: [4, 'that have left'] } },
  kError: {
    type: 9,
    says: 'The client has broken the protocol, or a limit.',
    fields: {
      Kind: [4, 'ErrorKind'],
      Bytes: [5, 'of the segment in which the fault is'],
      PrefixBytes: [6, 'of the prefix, after which a parser finds the fault'],
      From: [7, 'offset in the segment from which the parser has to read']
    },
    then: 'the segment as it was received, and the prefix'
  },
  kBlockDone: {
    type: 10,
    says: 'A block of Engine.sendBlock was sent or dropped.',
    fields: {
      BlockId: [4, 'the block'],
      Error: [5, 'errno; 0 if it was sent'],
      SentLow: [6, 'bytes of a file that left before its error, or before the end of the connection'],
      SentHigh: [7, 'upper 32 bits of that']
    }
  },
  kIntern: {
    type: 11,
    says: 'Defines an id for a header line, a header name or a target.',
    fields: {
      Id: [4, 'the id'],
      NameBytes: [5, 'of the name; 0 for a target'],
      ValueBytes: [6, 'of the value; kInternNameOnly for a name alone']
    },
    then: 'name and value'
  },
  kOversize: { type: 12, says: 'A record that is too long for a segment, in a block of its own.', fields: { Bytes: [4, 'of the record'], BlockId: [5, 'the block'] } },
  kMessage: {
    type: 13,
    says: 'A whole WebSocket message. It takes its bytes and kMessageCost of the receive window.',
    fields: { Bytes: [4, 'of the message'], BlockId: [5, 'of kMessageBlock'] },
    then: 'the bytes'
  },
  kMessageBlock: { type: 14, says: 'The same in a block of its own: Engine.takeBlock(lane, id). Fields of kMessage.' },
  kControl: {
    type: 15,
    says: 'A ping or a pong. It takes as much of the window as kMessage.',
    fields: { Bytes: [4, 'of the payload'], Opcode: [5, '9 or 10'] },
    then: 'the payload'
  },
  kCloseFrame: {
    type: 16,
    says: 'The client closes the WebSocket. No record but kCredit, kEof and kClosed follows.',
    fields: { Code: [4, 'status code; 1005 is none'], Bytes: [5, 'of the reason'] },
    then: 'the reason'
  },
  kFrameError: {
    type: 17,
    says: "The client's WebSocket frames are refused. No record but kCredit, kEof and kClosed follows.",
    fields: {
      Kind: [4, 'websocket::ReadError'],
      TextBytes: [5, "of zlib's message"],
      Detail: [6, 'a number that belongs to the error'],
      ZlibCode: [7, "zlib's error, negative"]
    },
    then: "zlib's message"
  },
  kHello: {
    type: 18,
    says: 'A handshake waits for Engine.answerHello(lane, id, …). Of no slot; kHelloTicket, kHelloStatus.',
    fields: {
      Id: [4, 'of the handshake'],
      ServerId: [5, 'the server'],
      ServernameBytes: [6, 'of the server name'],
      AlpnBytes: [7, 'of the ALPN list as it was received'],
      SessionIdBytes: [8, 'of the session id']
    },
    then: 'the three'
  },
  kTlsFailure: {
    type: 19,
    says: 'TLS has failed; kClosed follows.',
    fields: {
      Error: [4, 'errno'],
      TextBytes: [5, "of OpenSSL's whole message"],
      LibraryBytes: [6, 'of its library'],
      FunctionBytes: [7, 'of its function'],
      ReasonBytes: [8, 'of its reason']
    },
    then: 'the four'
  },
  kNewSession: {
    type: 20,
    says: 'A handshake waits until JavaScript has stored its session: Engine.answerHello(lane, id, {}). Of no slot.',
    fields: {
      Id: [4, 'of the handshake'],
      ServerId: [5, 'the server'],
      SessionIdBytes: [6, 'of the session id'],
      SessionBytes: [7, 'of the session']
    },
    then: 'both'
  },
  kKeyLog: { type: 21, says: 'Secrets of a connection whose kOpen follows.', fields: { Bytes: [4, 'of the lines'] }, then: 'the lines' },
  kPeerCertificate: {
    type: 22,
    says: 'The answer to kAskCertificate.',
    fields: {
      Error: [4, 'error of the system; 0 if the client has shown a certificate or has none'],
      VerifyResult: [5, 'as in Secure'],
      Bytes: [6, 'of the certificates']
    },
    then: 'the certificates as in Secure'
  },
  kSilence: {
    type: 23,
    says: 'How long the connection has been silent; kFlagBetween, kFlagFramed, kFlagUnasked, kFlagUnsent.',
    fields: {
      Ms: [4, 'ms since bytes were read or written; kSilenceUnknown if the backend does not know'],
      SinceMs: [5, 'the time of that: it differs from the last one if bytes have come or left']
    }
  },
  kUnseen: {
    type: 24,
    says: 'Bytes of requests that the lane has answered by itself, and of these answers.',
    fields: { Read: [4, 'that were read'], WrittenLow: [5, 'that were written'], WrittenHigh: [6, 'upper 32 bits of that'] }
  }
}

/** Records of JavaScript for an I/O thread. @type {Record<string, RecordType>} */
const replies = {
  kJump: { type: 0, says: 'The next record stands in another reply segment.', fields: { Segment: [2, 'id of the segment, in place of the slot'] } },
  kResponse: {
    type: 1,
    says: 'A response head, possibly with its body or a part of it.',
    fields: {
      HeadBytes: [4, 'of the head, from the status line to the blank line'],
      BodyBytes: [5, 'of the body in this record'],
      IdleTimeoutMs: [6, 'with kReplyEnd: ms that the connection may be idle; 0 is no limit, kIdleNotCounted: JavaScript counts']
    },
    then: 'head and body'
  },
  kData: {
    type: 2,
    says: 'A piece of a response body, or raw bytes.',
    fields: { Bytes: [4, 'of the piece'], IdleTimeoutMs: [5, 'as in kResponse'] },
    then: 'the bytes'
  },
  kBlock: { type: 3, says: 'The same by reference: Engine.sendBlock.', fields: { BlockId: [4, 'the block, of memory or of a file'] } },
  kTrailers: { type: 4, says: 'Ends a chunked body, and with it the response. Fields of kData; the bytes are lines, each with CRLF.' },
  kEnd: { type: 5, says: 'The response is complete.', fields: { IdleTimeoutMs: [4, 'as in kResponse'] } },
  kWindow: { type: 6, says: 'JavaScript has consumed bytes of a body.', fields: { Bytes: [4, 'that were consumed'] } },
  kUpgradeAccept: { type: 7, says: 'The connection carries opaque bytes from here on.' },
  kUpgradeDecline: { type: 8, says: 'The message is an ordinary request.' },
  kShutdown: { type: 9, says: 'FIN when everything is sent; closed when the client has ended, too.' },
  kDestroy: { type: 10, says: 'Sends what the kernel takes at once, and closes.' },
  kReset: { type: 11, says: 'RST.' },
  kRelease: { type: 12, says: 'JavaScript has forgotten the slot. The last record of a slot.' },
  kSocketOption: {
    type: 13,
    says: 'Sets an option of the socket.',
    fields: { Option: [4, '1 TCP_NODELAY, 2 SO_KEEPALIVE'], Value: [5, '0 or 1'], DelayS: [6, 'initial delay of SO_KEEPALIVE in s'] }
  },
  kIdleTimeout: { type: 14, says: 'Word 4: ms that a connection without a request may be idle; 0 is no limit.' },
  kWebSocket: {
    type: 15,
    says: 'An undecided upgrade becomes a WebSocket.',
    fields: {
      Flags: [4, 'SocketFlags'],
      BytesMax: [5, 'longest message in bytes; 0 is no limit'],
      FragmentsMax: [6, 'most fragments of a message; 0 is no limit'],
      ChunksMax: [7, 'most reads in which a frame may arrive; 0 is no limit'],
      PongsMax: [8, 'most unsent pongs; 0 is no limit'],
      Threshold: [9, 'bytes below which a message that stands alone is not compressed'],
      ServerBits: [10, 0, 8, 'window bits of the server'],
      ClientBits: [10, 8, 8, 'window bits of the client'],
      Level: [10, 16, 8, "zlib's level, signed"],
      MemoryLevel: [10, 24, 8, "zlib's memory level"],
      Strategy: [11, "zlib's strategy"],
      HeadBytes: [12, 'of what was read behind the request']
    },
    then: 'what was read behind the request'
  },
  kFrame: { type: 16, says: 'A frame to send on a WebSocket; FrameFlags.', fields: { Bytes: [4, 'of the payload'] }, then: 'the payload' },
  kFrameBlock: { type: 17, says: 'The same by reference. Fields of kBlock.' },
  kBroadcast: {
    type: 18,
    says: 'One frame for several WebSockets; FrameFlags.',
    fields: { Bytes: [4, 'of the payload'], BlockId: [4, 'of kBroadcastBlock'], Slots: [5, 'number of slots'] },
    then: 'the payload, and from the next multiple of 4 bytes on the slots'
  },
  kBroadcastBlock: { type: 19, says: 'The same by reference. Fields of kBroadcast.', then: 'the slots' },
  kCachePolicy: {
    type: 20,
    says: 'How long the kernel may answer with the response whose head follows.',
    fields: { Policy: [4, 'CachePolicy'], Seconds: [5, 'of kCacheTimeToLive'] }
  },
  kAskCertificate: { type: 21, says: 'The client has to show a certificate; kPeerCertificate follows.' },
  kRefuseBody: { type: 22, says: 'JavaScript refuses a body that is longer than its request may have.' },
  kAskSilence: { type: 23, says: 'A timer of JavaScript has expired; kSilence follows.' }
}

/** Bits of a word, and of the flags of a record. @type {Record<string, { says: string, values: Numbers }>} */
const flags = {
  RequestFlags: {
    says: 'Flags of records for JavaScript.',
    values: {
      kFlagHasBody: [kBit(0), 'kRequest: Content-Length above 0, or chunked. kBody records and kBodyEnd follow.'],
      kFlagComplete: [kBit(1), 'kRequest: the message ends within this record; no kBodyEnd follows.'],
      kFlagKeepAlive: [kBit(2), 'kRequest: the result of llhttp_should_keep_alive().'],
      kFlagUpgrade: [kBit(3), 'kRequest: Upgrade or CONNECT. The lane waits for a decision; the body is what was read behind the head.'],
      kFlagExpectContinue: [kBit(4), 'kRequest: Expect: 100-continue.'],
      kFlagExpectOther: [kBit(5), 'kRequest: another Expect.'],
      kFlagHasHost: [kBit(6), 'kRequest: it has a Host field.'],
      kFlagChunked: [kBit(7), 'kRequest: the body is chunked.'],
      kFlagLent: [kBit(8), 'kBodyBlock: the id is that of a block of Engine.lendBlock.'],
      kFlagShared: [kBit(9), 'kOpen: on a shared port, with its first request. The server has it even if it does not listen yet, or no longer: no other can.'],
      kFlagStream: [kBit(10), "kRequest: of a stream of HTTP/2, which this record opens. Word 3 is the slot of the stream's connection."],
      kFlagSecure: [kBit(11), 'kOpen: TLS.'],
      kFlagFailed: [kBit(12), 'kOpen: the handshake has failed; kTlsFailure and kClosed follow.'],
      kFlagPending: [kBit(13), 'kOpen: the server was closed during the handshake. When that is done, kOpen of another slot follows, then kClosed of this one.'],
      kFlagRelayedStream: [kBit(14), 'kRequest: of a stream of HTTP/2 whose connection another process has. Apart from the version it is a connection of its own.'],
      kFlagUndecided: [kBit(15), 'kEof: of an undecided upgrade. Its bytes follow when JavaScript has decided, and then kEof without this flag.'],
      kFlagClaimable: [kBit(16), 'kRequest: the lane has no barrier for a claim; JavaScript has to store kDispatchResume by Atomics before it reads kRequestsClaimed.'],
      kFlagTaken: [kBit(17), 'kCredit: the socket has taken everything that it was given.'],
      kFlagBetween: [kBit(18), 'kSilence: the connection has had an answer, and no request is unanswered.'],
      kFlagFramed: [kBit(19), 'kSilence: the connection carries streams, which have timers of their own.'],
      kFlagUnasked: [kBit(20), "kSilence: JavaScript has not asked. The server's idle time is over, and the listeners of its 'timeout' decide."],
      kFlagUnsent: [kBit(21), 'kSilence: the connection or stream has output that has not left.']
    }
  },
  MessageFlags: { says: 'Flags of kMessage.', values: { kMessageBinary: [kBit(0), 'A binary message.'] } },
  HelloFlags: {
    says: 'Flags of kHello.',
    values: {
      kHelloTicket: [kBit(0), 'The client has a session in a ticket.'],
      kHelloStatus: [kBit(1), 'The client wants an OCSP response.']
    }
  },
  ReplyFlags: {
    says: 'Flags of records for an I/O thread.',
    values: {
      kReplyEnd: [kBit(0), 'The response is complete with this record.'],
      kReplyClose: [kBit(1), 'With kReplyEnd: close the connection after it (res._last).'],
      kReplyChunked: [kBit(2), 'The backend frames the body of this record as one chunk, and with kReplyEnd writes the last chunk.'],
      kReplyInterim: [kBit(3), 'A 1xx head.'],
      kReplyRaw: [kBit(4), 'Bytes as the application framed them.'],
      kReplyIfIdle: [kBit(5), 'kDestroy: only if no request is being received or answered.'],
      kReplyIfUnserved: [kBit(6), 'kDestroy with kReplyIfIdle: also before the first request has begun.'],
      kReplyMayMove: [kBit(7), 'kDestroy: another member of a shared port may have the connection instead.'],
      kReplyUndecided: [kBit(8), 'kUpgradeAccept: what the bytes are is not decided. The lane keeps them until kUpgradeAccept without this flag, or kWebSocket.'],
      kReplyLogged: [kBit(9), 'kRefuseBody: the refusal is counted, and is in the error log.'],
      kReplyUnanswered: [kBit(10), 'kRefuseBody with kReplyLogged: the client learns of the refusal from the end of the connection alone.'],
      kReplyFile: [kBit(11), 'kResponse: a kBlock follows that is a part of a file.']
    }
  },
  SocketFlags: {
    says: 'Settings of a WebSocket.',
    values: {
      kSocketAutoPong: [kBit(0), 'The lane answers pings.'],
      kSocketSkipUtf8: [kBit(1), 'Text is not validated.'],
      kSocketDeflate: [kBit(2), 'permessage-deflate was negotiated.'],
      kSocketServerAlone: [kBit(3), 'With server_no_context_takeover.'],
      kSocketClientAlone: [kBit(4), 'With client_no_context_takeover.']
    }
  },
  FrameFlags: {
    says: 'Flags of kFrame and kBroadcast.',
    values: {
      kFrameOpcode: [0xf, 'Mask of the opcode of RFC 6455; 0 continues a message.'],
      kFrameFin: [kBit(4), 'The last frame of its message.'],
      kFrameCompress: [kBit(5), 'Compress if that was negotiated; on the first frame of a message.']
    }
  },
  CachePolicy: {
    says: 'How long the kernel may keep a response.',
    values: {
      kCacheNothing: [0, 'Not at all.'],
      kCacheUserInvalidates: [1, 'Until it is flushed.'],
      kCacheTimeToLive: [2, 'For a number of seconds.']
    }
  },
  ControlWord: {
    says: "Words of a lane's control block, an Int32Array over a SharedArrayBuffer; words that different threads write are in different cache lines.",
    values: {
      kReplyPublished: [0, 'Bytes of reply records published so far, modulo 2^32. Written by JavaScript.'],
      kSegmentsDone: [16, 'Reply segments that the lane has left by a kJump, modulo 2^32.'],
      kLaneSleeping: [32, '1 while the lane waits in its poll; JavaScript then calls Engine.wake(lane).'],
      kRequestsClaimed: [33, 'Requests that the lane has claimed and JavaScript has not come to: Engine.takeClaim(lane) says whether the present one is among them.'],
      kDispatchResume: [48, 'Where dispatch() goes on after a throw. Written and read on the JavaScript thread.'],
      kBatchOpen: [49, '1 while dispatch() runs: the lane may let replies gather. The caller clears the word before it reads kLaneSleeping.'],
      kTurnOpen: [50, "1 from the first reply outside dispatch() to the end of the event loop's turn: the lane looks for replies by itself, and is woken for further ones at the end."],
      kControlWords: [64, 'Number of words.']
    }
  }
}

/** @type {Record<string, { says: string, values: Numbers }>} */
const enums = {
  ErrorKind: {
    says: 'The defect of a message.',
    values: {
      kMalformed: [1, '400'],
      kHeaderOverflow: [2, '431'],
      kChunkExtensions: [3, '413'],
      kTimeout: [4, '408; headersTimeout or requestTimeout'],
      kBodyTooLarge: [5, '413; maxRequestBodySize'],
      kIncomplete: [6, 'the client ended inside a message: HPE_INVALID_EOF_STATE'],
      kDataAfterClose: [7, 'bytes behind a request with Connection: close: HPE_CLOSED_CONNECTION']
    }
  },
  Claim: {
    says: 'The fate of a request that waited for JavaScript: Engine.takeClaim(lane).',
    values: {
      kNone: [0, 'The lane has not claimed it: JavaScript begins it.'],
      kRefused: [1, 'The lane has answered it, and its connection ends.'],
      kMoved: [2, 'Another owner of the queue gets it.']
    }
  }
}

/** @type {Numbers} */
const constants = {
  kFormatVersion: [1, 'Changes with every change that an old reader would misread.'],
  kHeaderBytes: [16, 'Of the first four words.'],
  kAlignBytes: [8, 'The size of a record is a multiple of this.'],
  kPayloadAt: [24, 'Where the bytes of kBody, kBodyEnd, kData, kTrailers and of WebSocket records begin.'],
  kOpenFixedBytes: [32, 'Of the words of kOpen.'],
  kOpenSecureBytes: [32, 'Of the words of Secure.'],
  kRequestFixedBytes: [48, 'Of the words of kRequest.'],
  kResponseFixedBytes: [28, 'Of the words of kResponse.'],
  kWebSocketFixedBytes: [56, 'Of the words of kWebSocket.'],
  kErrorTextAt: [32, 'Where the bytes of kError begin.'],
  kInternTextAt: [32, 'Where the text of kIntern begins.'],
  kFrameErrorTextAt: [32, 'Where the text of kFrameError begins.'],
  kHelloTextAt: [40, 'Where the texts of kHello begin.'],
  kNewSessionTextAt: [32, 'Where the bytes of kNewSession begin.'],
  kTlsFailureTextAt: [40, 'Where the texts of kTlsFailure begin.'],
  kPeerCertificateAt: [32, 'Where the certificates of kPeerCertificate begin.'],
  kBlockBytes: [64 * 1024, 'Of a block that JavaScript lends.'],
  kReceiveBlocksMax: [128, 'Most blocks that JavaScript lends to a lane.'],
  kInternBit: [kBit(31), 'A word with this bit is the id of a whole line or target.'],
  kNameBit: [kBit(30), 'A word with this bit is the id of a name.'],
  kInternNameOnly: [0xffffffff, 'kIntern: a name without a value.'],
  kSilenceUnknown: [0xffffffff, 'kSilence: the backend does not know.'],
  kIdleNotCounted: [0xffffffff, 'JavaScript counts the idle time.'],
  kMessageCost: [32, 'Bytes of the window that a message takes besides its own, so that a client that sends many empty ones is paused, too.']
}

module.exports = { constants, parts, requests, replies, flags, enums }
