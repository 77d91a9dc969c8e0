#include "napi/constants.h"

#include <cstdint>

#include "base/limits.h"
#include "records/layout.h"
#include "records/records.h"

namespace httpsys {
namespace {

struct Constant {
  const char* name;
  uint32_t value;
};

template <typename Number>
constexpr uint32_t Value(Number number) {
  return static_cast<uint32_t>(number);
}

// Constants in the order of records.h.
constexpr Constant kConstants[] = {
    {"kFormatVersion", Value(records::kFormatVersion)},
    {"kHeaderBytes", Value(records::kHeaderBytes)},
    {"kAlignBytes", Value(records::kAlignBytes)},
    {"kPad", Value(records::RequestType::kPad)},
    {"kOpen", Value(records::RequestType::kOpen)},
    {"kRequest", Value(records::RequestType::kRequest)},
    {"kBody", Value(records::RequestType::kBody)},
    {"kBodyBlock", Value(records::RequestType::kBodyBlock)},
    {"kBodyEnd", Value(records::RequestType::kBodyEnd)},
    {"kEof", Value(records::RequestType::kEof)},
    {"kClosed", Value(records::RequestType::kClosed)},
    {"kCredit", Value(records::RequestType::kCredit)},
    {"kError", Value(records::RequestType::kError)},
    {"kBlockDone", Value(records::RequestType::kBlockDone)},
    {"kIntern", Value(records::RequestType::kIntern)},
    {"kOversize", Value(records::RequestType::kOversize)},
    {"kMessage", Value(records::RequestType::kMessage)},
    {"kMessageBlock", Value(records::RequestType::kMessageBlock)},
    {"kControl", Value(records::RequestType::kControl)},
    {"kCloseFrame", Value(records::RequestType::kCloseFrame)},
    {"kFrameError", Value(records::RequestType::kFrameError)},
    {"kHello", Value(records::RequestType::kHello)},
    {"kTlsFailure", Value(records::RequestType::kTlsFailure)},
    {"kNewSession", Value(records::RequestType::kNewSession)},
    {"kKeyLog", Value(records::RequestType::kKeyLog)},
    {"kPeerCertificate", Value(records::RequestType::kPeerCertificate)},
    {"kSilence", Value(records::RequestType::kSilence)},
    {"kOpenFixedBytes", Value(records::kOpenFixedBytes)},
    {"kOpenSecureBytes", Value(records::kOpenSecureBytes)},
    {"kRequestFixedBytes", Value(records::kRequestFixedBytes)},
    {"kInternBit", Value(records::kInternBit)},
    {"kNameBit", Value(records::kNameBit)},
    {"kFlagHasBody", Value(records::kFlagHasBody)},
    {"kFlagComplete", Value(records::kFlagComplete)},
    {"kFlagKeepAlive", Value(records::kFlagKeepAlive)},
    {"kFlagUpgrade", Value(records::kFlagUpgrade)},
    {"kFlagExpectContinue", Value(records::kFlagExpectContinue)},
    {"kFlagExpectOther", Value(records::kFlagExpectOther)},
    {"kFlagHasHost", Value(records::kFlagHasHost)},
    {"kFlagChunked", Value(records::kFlagChunked)},
    {"kFlagLent", Value(records::kFlagLent)},
    {"kFlagUndecided", Value(records::kFlagUndecided)},
    {"kFlagClaimable", Value(records::kFlagClaimable)},
    {"kFlagTaken", Value(records::kFlagTaken)},
    {"kFlagBetween", Value(records::kFlagBetween)},
    {"kFlagFramed", Value(records::kFlagFramed)},
    {"kFlagUnasked", Value(records::kFlagUnasked)},
    {"kFlagShared", Value(records::kFlagShared)},
    {"kFlagStream", Value(records::kFlagStream)},
    {"kFlagSecure", Value(records::kFlagSecure)},
    {"kFlagFailed", Value(records::kFlagFailed)},
    {"kFlagPending", Value(records::kFlagPending)},
    {"kFlagRelayedStream", Value(records::kFlagRelayedStream)},
    {"kInternNameOnly", Value(records::kInternNameOnly)},
    {"kSilenceUnknown", Value(records::kSilenceUnknown)},
    {"kIdleNotCounted", Value(records::kIdleNotCounted)},
    {"kMessageBinary", Value(records::kMessageBinary)},
    {"kMessageCost", Value(records::kMessageCost)},
    {"kFrameErrorTextAt", Value(records::kFrameErrorTextAt)},
    {"kErrorTextAt", Value(records::kErrorTextAt)},
    {"kHelloTicket", Value(records::kHelloTicket)},
    {"kHelloStatus", Value(records::kHelloStatus)},
    {"kHelloTextAt", Value(records::kHelloTextAt)},
    {"kNewSessionTextAt", Value(records::kNewSessionTextAt)},
    {"kTlsFailureTextAt", Value(records::kTlsFailureTextAt)},
    {"kPeerCertificateAt", Value(records::kPeerCertificateAt)},
    {"kMalformed", Value(records::ErrorKind::kMalformed)},
    {"kHeaderOverflow", Value(records::ErrorKind::kHeaderOverflow)},
    {"kChunkExtensions", Value(records::ErrorKind::kChunkExtensions)},
    {"kTimeout", Value(records::ErrorKind::kTimeout)},
    {"kBodyTooLarge", Value(records::ErrorKind::kBodyTooLarge)},
    {"kIncomplete", Value(records::ErrorKind::kIncomplete)},
    {"kDataAfterClose", Value(records::ErrorKind::kDataAfterClose)},
    {"kNone", Value(records::Claim::kNone)},
    {"kRefused", Value(records::Claim::kRefused)},
    {"kMoved", Value(records::Claim::kMoved)},
    {"kJump", Value(records::ReplyType::kJump)},
    {"kResponse", Value(records::ReplyType::kResponse)},
    {"kData", Value(records::ReplyType::kData)},
    {"kBlock", Value(records::ReplyType::kBlock)},
    {"kTrailers", Value(records::ReplyType::kTrailers)},
    {"kEnd", Value(records::ReplyType::kEnd)},
    {"kWindow", Value(records::ReplyType::kWindow)},
    {"kUpgradeAccept", Value(records::ReplyType::kUpgradeAccept)},
    {"kUpgradeDecline", Value(records::ReplyType::kUpgradeDecline)},
    {"kShutdown", Value(records::ReplyType::kShutdown)},
    {"kDestroy", Value(records::ReplyType::kDestroy)},
    {"kReset", Value(records::ReplyType::kReset)},
    {"kRelease", Value(records::ReplyType::kRelease)},
    {"kSocketOption", Value(records::ReplyType::kSocketOption)},
    {"kIdleTimeout", Value(records::ReplyType::kIdleTimeout)},
    {"kWebSocket", Value(records::ReplyType::kWebSocket)},
    {"kFrame", Value(records::ReplyType::kFrame)},
    {"kFrameBlock", Value(records::ReplyType::kFrameBlock)},
    {"kBroadcast", Value(records::ReplyType::kBroadcast)},
    {"kBroadcastBlock", Value(records::ReplyType::kBroadcastBlock)},
    {"kCachePolicy", Value(records::ReplyType::kCachePolicy)},
    {"kAskCertificate", Value(records::ReplyType::kAskCertificate)},
    {"kRefuseBody", Value(records::ReplyType::kRefuseBody)},
    {"kAskSilence", Value(records::ReplyType::kAskSilence)},
    {"kCacheNothing", Value(records::kCacheNothing)},
    {"kCacheUserInvalidates", Value(records::kCacheUserInvalidates)},
    {"kCacheTimeToLive", Value(records::kCacheTimeToLive)},
    {"kReplyEnd", Value(records::kReplyEnd)},
    {"kReplyClose", Value(records::kReplyClose)},
    {"kReplyChunked", Value(records::kReplyChunked)},
    {"kReplyInterim", Value(records::kReplyInterim)},
    {"kReplyRaw", Value(records::kReplyRaw)},
    {"kReplyIfIdle", Value(records::kReplyIfIdle)},
    {"kReplyFile", Value(records::kReplyFile)},
    {"kReplyIfUnserved", Value(records::kReplyIfUnserved)},
    {"kReplyMayMove", Value(records::kReplyMayMove)},
    {"kReplyUndecided", Value(records::kReplyUndecided)},
    {"kReplyLogged", Value(records::kReplyLogged)},
    {"kReplyUnanswered", Value(records::kReplyUnanswered)},
    {"kWebSocketFixedBytes", Value(records::kWebSocketFixedBytes)},
    {"kSocketAutoPong", Value(records::kSocketAutoPong)},
    {"kSocketSkipUtf8", Value(records::kSocketSkipUtf8)},
    {"kSocketDeflate", Value(records::kSocketDeflate)},
    {"kSocketServerAlone", Value(records::kSocketServerAlone)},
    {"kSocketClientAlone", Value(records::kSocketClientAlone)},
    {"kFrameOpcode", Value(records::kFrameOpcode)},
    {"kFrameFin", Value(records::kFrameFin)},
    {"kFrameCompress", Value(records::kFrameCompress)},
    {"kResponseFixedBytes", Value(records::kResponseFixedBytes)},
    {"kPayloadAt", Value(records::kPayloadAt)},
    {"kBlockBytes", Value(limits::kBlockBytes)},
    {"kReceiveBlocksMax", Value(limits::kReceiveBlocksMax)},
    {"kInternTextAt", Value(records::kInternTextAt)},
    {"kReplyPublished", Value(records::kReplyPublished)},
    {"kSegmentsDone", Value(records::kSegmentsDone)},
    {"kLaneSleeping", Value(records::kLaneSleeping)},
    {"kRequestsClaimed", Value(records::kRequestsClaimed)},
    {"kDispatchResume", Value(records::kDispatchResume)},
    {"kTurnOpen", Value(records::kTurnOpen)},
    {"kControlWords", Value(records::kControlWords)},
};

struct NamedField {
  const char* name;
  records::Field field;
};

#define HTTPSYS_NAMED_FIELD(record, name, ...) {"k" #record #name, records::k##record##name},
constexpr NamedField kFields[] = {HTTPSYS_RECORD_FIELDS(HTTPSYS_NAMED_FIELD)};
#undef HTTPSYS_NAMED_FIELD

}  // namespace

Napi::Object RecordConstants(Napi::Env env) {
  Napi::Object result = Napi::Object::New(env);
  for (const Constant& constant : kConstants) {
    result.Set(constant.name, Napi::Number::New(env, constant.value));
  }
  return result;
}

Napi::Object RecordFields(Napi::Env env) {
  Napi::Object result = Napi::Object::New(env);
  for (const auto& [name, field] : kFields) {
    Napi::Array parts = Napi::Array::New(env, 3);
    const uint32_t numbers[] = {field.word, field.shift, field.bits};
    for (uint32_t i = 0; i < 3; ++i) parts.Set(i, Napi::Number::New(env, numbers[i]));
    result.Set(name, parts);
  }
  return result;
}

}  // namespace httpsys
