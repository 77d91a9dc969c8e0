#pragma once

#include <cstdint>
#include <string_view>

#include "base/block_store.h"
#include "records/record_writer.h"
#include "records/replies.h"
#include "records/reply_reader.h"
#include "win/sent_file.h"
#include "win/session.h"

namespace httpsys::win {

// Converts the reply records of the lane to calls of Session. Thread: the lane.
class ReplyHandler {
 public:
  ReplyHandler(ReplyReader* replies, LentMemory* lent, SentFiles* files,
               engine::RecordWriter* records, Session* session)
      : replies_(replies), lent_(lent), files_(files), records_(records), session_(session) {}

  // Handles at most kRepliesPerPass records and sends output. Returns false if there were none.
  bool Run();

 private:
  void Handle(const ReplyRecord& reply);
  void HandleOpen(KernelConnection* connection, const ReplyRecord& reply);
  void OnResponse(KernelConnection* connection, const ReplyRecord& reply);
  void OnData(KernelConnection* connection, const ReplyRecord& reply);
  void OnTrailers(KernelConnection* connection, const ReplyRecord& reply);
  void OnBlock(KernelConnection* connection, const ReplyRecord& reply);
  void OnDestroy(KernelConnection* connection, uint32_t flags);
  void OnCachePolicy(KernelConnection* connection, const ReplyRecord& reply);
  static void OnRefuseBody(KernelConnection* connection);
  void OnShutdown(KernelConnection* connection);
  void DropBlock(uint32_t id);
  void WriteBody(Exchange* exchange, std::string_view bytes, uint32_t flags);
  void End(KernelConnection* connection, uint32_t flags, uint32_t idle_timeout_ms);

  ReplyReader* replies_;
  LentMemory* lent_;
  SentFiles* files_;
  engine::RecordWriter* records_;
  Session* session_;
};

}  // namespace httpsys::win
