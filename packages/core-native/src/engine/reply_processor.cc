#include "engine/reply_processor.h"

#include <cerrno>

#include "base/limits.h"

namespace httpsys::engine {

using records::ReplyType;

namespace {

bool IsOfWebSocket(ReplyType type) {
  return type == ReplyType::kWebSocket || type == ReplyType::kFrame ||
         type == ReplyType::kFrameBlock;
}

}  // namespace

bool ReplyProcessor::Run(std::vector<Connection*>* touched) {
  int handled = 0;
  ReplyRecord reply;
  while (handled < limits::kRepliesPerPass && replies_->NextOrEnd(&reply)) {
    ++handled;
    Handle(reply);
  }
  if (handled == 0) return false;
  transport_->output()->FlushTouched(touched);
  replies_->GiveBack();
  return true;
}

void ReplyProcessor::Handle(const ReplyRecord& reply) {
  switch (reply.type()) {
    case ReplyType::kRelease:
      return transport_->slots()->Release(reply.slot());
    case ReplyType::kBroadcast:
    case ReplyType::kBroadcastBlock:
      return websockets_->OnBroadcast(reply);
    default:
      break;
  }
  Connection* connection = transport_->slots()->Find(reply.slot());
  if (connection != nullptr) return HandleOpen(connection, reply);
  if (reply.type() == ReplyType::kBlock || reply.type() == ReplyType::kFrameBlock) {
    lent_->Return(reply.block_id());
    records_->BlockDone(reply.block_id(), ECANCELED);
  }
}

// A stream of HTTP/2 has what is the same on every stream from its session, and everything else
// from the protocol of its bytes.
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
