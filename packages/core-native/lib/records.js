'use strict'

// The numbers of src/common/records.h for JavaScript; docs/records.md is the prose.
// test/records.test.js compares them with what the addon was compiled with.

module.exports = {
  kFormatVersion: 1,
  kHeaderBytes: 16,
  kAlignBytes: 8,

  // I/O thread -> JavaScript.
  RequestType: {
    kPad: 0,
    kOpen: 1,
    kRequest: 2,
    kBody: 3,
    kBodyBlock: 4,
    kBodyEnd: 5,
    kEof: 6,
    kClosed: 7,
    kCredit: 8,
    kError: 9,
    kBlockDone: 10,
    kIntern: 11,
    kOversize: 12,
    kMessage: 13,
    kMessageBlock: 14,
    kControl: 15,
    kCloseFrame: 16,
    kFrameError: 17
  },
  kOpenFixedBytes: 32,
  kRequestFixedBytes: 48,
  kInternBit: 0x80000000,
  kNameBit: 0x40000000,
  kInternNameOnly: 0xffffffff,
  kMessageBinary: 1 << 0,
  kMessageCost: 32,
  kFrameErrorTextAt: 32,

  kFlagHasBody: 1 << 0,
  kFlagComplete: 1 << 1,
  kFlagKeepAlive: 1 << 2,
  kFlagUpgrade: 1 << 3,
  kFlagExpectContinue: 1 << 4,
  kFlagExpectOther: 1 << 5,
  kFlagHasHost: 1 << 6,
  kFlagChunked: 1 << 7,
  kFlagLent: 1 << 8,
  kFlagShared: 1 << 9,

  ErrorKind: {
    kMalformed: 1,
    kHeaderOverflow: 2,
    kChunkExtensions: 3,
    kTimeout: 4,
    kBodyTooLarge: 5,
    kIncomplete: 6,
    kDataAfterClose: 7
  },

  // JavaScript -> I/O thread.
  ReplyType: {
    kJump: 0,
    kResponse: 1,
    kData: 2,
    kBlock: 3,
    kTrailers: 4,
    kEnd: 5,
    kWindow: 6,
    kUpgradeAccept: 7,
    kUpgradeDecline: 8,
    kShutdown: 9,
    kDestroy: 10,
    kReset: 11,
    kRelease: 12,
    kSocketOption: 13,
    kIdleTimeout: 14,
    kWebSocket: 15,
    kFrame: 16,
    kFrameBlock: 17,
    kBroadcast: 18,
    kBroadcastBlock: 19
  },
  kResponseFixedBytes: 32,
  kPayloadAt: 24,
  kBlockBytes: 64 * 1024,
  kInternTextAt: 32,
  kReplyEnd: 1 << 0,
  kReplyClose: 1 << 1,
  kReplyChunked: 1 << 2,
  kReplyInterim: 1 << 3,
  kReplyRaw: 1 << 4,
  kReplyIfIdle: 1 << 5,
  kReplyIfUnserved: 1 << 6,
  kReplyMayMove: 1 << 7,
  kReplyUndecided: 1 << 8,
  kWebSocketFixedBytes: 56,
  kSocketAutoPong: 1 << 0,
  kSocketSkipUtf8: 1 << 1,
  kSocketDeflate: 1 << 2,
  kSocketServerAlone: 1 << 3,
  kSocketClientAlone: 1 << 4,
  kFrameOpcode: 0xf,
  kFrameFin: 1 << 4,
  kFrameCompress: 1 << 5,

  // Words of a lane's control block.
  kReplyPublished: 0,
  kSegmentsDone: 16,
  kLaneSleeping: 32,
  kDispatchResume: 48,
  kControlWords: 64
}
