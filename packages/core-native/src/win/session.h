#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "base/block_store.h"
#include "http1/method_table.h"
#include "records/record_writer.h"
#include "records/request_queue.h"
#include "url/url_prefix_table.h"
#include "win/exchange.h"
#include "win/incoming_request.h"
#include "win/kernel_connection.h"
#include "win/kernel_queue.h"

namespace httpsys::win {

// The requests that HTTP.SYS has delivered to this process. Converts HTTP.SYS' structures to
// records, and replies to calls. Thread: the lane.
class Session {
 public:
  Session(const http1::MethodTable* methods, RequestQueue* queue, engine::RecordWriter* records,
          LentMemory* lent, bool is_core_only)
      : queue_(queue),
        records_(records),
        lent_(lent),
        is_core_only_(is_core_only),
        incoming_(methods) {}

  void SetServer(uint32_t server_id, ServerSettings settings);
  void Unlisten(uint32_t server_id);

  // Handles a request; its memory may be reused afterwards. `server_id` is not 0 for a queue that
  // another process has made: the contexts of its requests have no meaning in this process.
  void OnRequest(const std::shared_ptr<KernelQueue>& queue, uint32_t server_id,
                 const HTTP_REQUEST& request);
  // Handles the completion of any operation but kReceive.
  void OnCompletion(Operation* operation, const CallResult& result);

  // -- Replies of JavaScript.

  KernelConnection* Find(uint32_t slot) const;
  // Returns the exchange that gets the next bytes of JavaScript, or nullptr.
  static Exchange* Current(const KernelConnection* connection);
  // Makes the next Flush() process the exchange.
  void Touch(Exchange* exchange);
  void OnWindow(KernelConnection* connection, uint32_t bytes);
  void StartIdleTimer(KernelConnection* connection, uint32_t timeout_ms);
  // Ends the connection for JavaScript, which gets a kClosed record.
  void Close(KernelConnection* connection, int error);
  // Ends the connection for JavaScript and aborts unanswered requests. Opaque bytes are still sent
  // if that is possible at once.
  void Destroy(KernelConnection* connection);
  // Like Destroy(), but drops opaque bytes.
  void Reset(KernelConnection* connection);
  // Must be called when JavaScript accepts an upgrade, or wants the bytes of an accepted one.
  void OnUpgrade(KernelConnection* connection, bool is_held);
  // Requests the client's certificate.
  void AskCertificate(KernelConnection* connection);
  void Release(uint32_t slot);

  // Sends the output of touched exchanges, and frees finished exchanges.
  void Flush();
  // Continues to receive bodies. Must be called when memory for records is free again.
  void Resume();
  // Returns the time in ms until RunTimers() must be called, at most `most`.
  uint32_t TimeoutMs(uint32_t most) const;
  void RunTimers();

  // True if everything that was written has been sent.
  bool IsSent() const;
  size_t calls() const { return calls_; }

 private:
  struct Server {
    ServerSettings settings;
    std::map<uint32_t, UrlPrefix> by_id;
    UrlPrefixTable prefixes;  // The server's prefixes, for matching.
    size_t connections = 0;
    bool is_listening = true;
  };
  using ConnectionKey = std::pair<HTTP_CONNECTION_ID, uint32_t>;

  KernelConnection* FindOrOpen(const std::shared_ptr<KernelQueue>& queue,
                               const HTTP_REQUEST& request, uint32_t server_id);
  bool RefusesUnknownUser(const ServerSettings& settings, const HTTP_REQUEST& request) const;
  void Open(KernelConnection* connection, const HTTP_REQUEST& request);
  KernelConnection* OpenStream(KernelConnection* parent);
  void TakeSlot(KernelConnection* connection);
  void Watch(KernelConnection* connection);
  void AnswerAlone(const std::shared_ptr<KernelQueue>& queue, HTTP_REQUEST_ID id,
                   std::string_view response);
  Exchange* AddExchange(const std::shared_ptr<KernelQueue>& queue, KernelConnection* connection,
                        HTTP_REQUEST_ID id);
  // Refuses a request: JavaScript answers it and destroys the connection.
  void Refuse(Exchange* exchange, records::ErrorKind kind);
  void ReceiveBody(Exchange* exchange);
  void OnBody(Exchange* exchange, const CallResult& result);
  void EndBody(Exchange* exchange);
  void Pump(Exchange* exchange);
  void OnSent(Exchange* exchange, const CallResult& result);
  void OnDone(Exchange* exchange);
  void Abort(Exchange* exchange);
  void OnGone(KernelConnection* connection, int error);
  void Drop(const std::vector<Exchange::Piece>& pieces, int error);
  void Credit(KernelConnection* connection, size_t bytes);
  void Discard(Exchange* exchange);
  void ForgetIfUnused(KernelConnection* connection);
  void StopIdleTimer(KernelConnection* connection);
  void Leave(uint32_t server_id);
  void OnCertificate(KernelConnection* connection, CallResult result);

  RequestQueue* const queue_;
  engine::RecordWriter* const records_;
  LentMemory* const lent_;
  const bool is_core_only_;

  IncomingRequest incoming_;
  std::unordered_map<uint32_t, Server> servers_;
  std::map<ConnectionKey, std::unique_ptr<KernelConnection>> connections_;
  std::unordered_map<KernelConnection*, std::unique_ptr<KernelConnection>> streams_;
  std::vector<KernelConnection*> slots_;
  std::vector<uint32_t> free_slots_;
  std::unordered_map<Exchange*, std::unique_ptr<Exchange>> exchanges_;
  std::vector<Exchange*> touched_;
  std::vector<Exchange*> discarded_;
  // Deadlines, each with the slot of its connection.
  std::set<std::pair<uint64_t, uint32_t>> timers_;
  size_t calls_ = 0;
};

}  // namespace httpsys::win
