#include "engine/reply_processor.h"

#include <cerrno>

#include "base/limits.h"

namespace httpsys::engine {

using records::ReplyType;

namespace {

bool AddsOutput(ReplyType type) {
  switch (type) {
    case ReplyType::kResponse:
    case ReplyType::kData:
    case ReplyType::kBlock:
    case ReplyType::kTrailers:
    case ReplyType::kFrame:
    case ReplyType::kFrameBlock:
      return true;
    default:
      return false;
  }
}

bool IsOfWebSocket(ReplyType type) {
  return type == ReplyType::kWebSocket || type == ReplyType::kFrame ||
         type == ReplyType::kFrameBlock;
}

}  // namespace

bool ReplyProcessor::Run(std::vector<Connection*>* touched) {
  bool has_handled = false;
  ReplyRecord reply;
  for (const auto& from : *attachments_) {
    const uint32_t begun = from->replies().read_total();
    int handled = 0;
    while (handled < limits::kRepliesPerPass &&
           from->replies().read_total() - begun < limits::kReplyBytesPerPass &&
           from->replies().NextOrEnd(&reply)) {
      ++handled;
      Handle(from.get(), reply);
    }
    has_handled = has_handled || handled != 0;
  }
  if (!has_handled) return false;
  transport_->output()->FlushTouched(touched);
  captures_->EndPass();
  for (const auto& from : *attachments_) from->replies().GiveBack();
  return true;
}

void ReplyProcessor::Handle(Attachment* from, const ReplyRecord& reply) {
  switch (reply.type()) {
    case ReplyType::kRelease:
      if (!from->slots().Release(reply.slot())) {
        from->replies().End("releases a slot that is free");
      }
      return;
    case ReplyType::kBroadcast:
    case ReplyType::kBroadcastBlock:
      return websockets_->OnBroadcast(from, reply);
    default:
      break;
  }
  Connection* connection = from->slots().Find(reply.slot());
  if (connection != nullptr && AddsOutput(reply.type()) &&
      OutputPass::IsBeyondCredit(*connection)) {
    transport_->Close(connection, ENOBUFS);
    connection = nullptr;
  }
  if (connection != nullptr && reply.type() == ReplyType::kAskSilence) {
    return transport_->TellSilence(*connection, 0);
  }
  if (connection != nullptr) {
    return captures_->is_active() ? HandleCached(from, connection, reply)
                                  : HandleOpen(connection, reply);
  }
  DropLate(from, reply);
}

void ReplyProcessor::DropLate(Attachment* from, const ReplyRecord& reply) {
  if (reply.type() == ReplyType::kBlock || reply.type() == ReplyType::kFrameBlock) {
    from->DropBlock(reply.block_id(), ECANCELED);
  }
}

void ReplyProcessor::HandleCached(Attachment* from, Connection* connection,
                                  const ReplyRecord& reply) {
  ReplyRecord other;
  switch (captures_->OnReply(connection, reply, &other)) {
    case Captures::Pass::kAsIs:
      return HandleOpen(connection, reply);
    case Captures::Pass::kInstead:
      return HandleOpen(connection, other);
    case Captures::Pass::kBefore:
      HandleOpen(connection, other);
      return connection->is_open() ? HandleOpen(connection, reply) : DropLate(from, reply);
    case Captures::Pass::kDropped:
      return;
  }
}

// Replies on HTTP/2 go to the session of HTTP/2 first, which handles what is the same on every
// stream; the rest goes to the protocol of the stream's bytes.
void ReplyProcessor::HandleOpen(Connection* connection, const ReplyRecord& reply) {
  const bool is_framed = connection->http2 != nullptr || connection->stream != nullptr;
  if (is_framed && frames_->OnReply(connection, reply)) return;
  Protocol* protocol = protocols_->Of(connection->phase());
  if (protocol != nullptr && protocol->OnReply(connection, reply)) return;
  Protocol* other = text_;
  if (IsOfWebSocket(reply.type())) other = websockets_;
  if (other != protocol) (void)other->OnReply(connection, reply);
}

}  // namespace httpsys::engine
