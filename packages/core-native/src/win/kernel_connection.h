#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>

#include "base/limits.h"
#include "win/certificate_call.h"
#include "win/exchange.h"
#include "win/kernel_queue.h"

namespace httpsys::win {

// A connection as JavaScript sees it: the requests of one TCP connection for one server. HTTP.SYS
// reports a connection with its first request, and its end only on request. A request of HTTP/2 or
// 3 has a separate KernelConnection, whose parent is that of the TCP connection. Thread: the lane.
struct KernelConnection {
  struct DisconnectCall : Operation {
    explicit DisconnectCall(KernelConnection* connection)
        : Operation(OperationKind::kDisconnect), connection(connection) {}
    KernelConnection* const connection;
  };

  std::shared_ptr<KernelQueue> queue;
  HTTP_CONNECTION_ID id = 0;
  uint32_t server_id = 0;

  KernelConnection* parent = nullptr;
  std::set<KernelConnection*> streams;  // The streams whose parent is this connection.

  // True if JavaScript knows the connection, by `slot`.
  bool is_open = false;
  uint32_t slot = 0;
  // The exchanges whose responses were not sent completely, in the order of their requests.
  std::deque<Exchange*> exchanges;
  int64_t window_bytes = limits::kReceiveWindowBytes;
  size_t credit_bytes = 0;  // The payload bytes sent since the last kCredit record.
  uint32_t idle_timeout_ms = limits::kNativeIdleMs;
  uint64_t idle_deadline_ms = 0;  // 0 = none.

  bool is_watched = false;  // True while disconnect_call is outstanding.
  DisconnectCall disconnect_call{this};
  // Set once the client's certificate was requested.
  std::unique_ptr<CertificateCall> certificate_call;
};

}  // namespace httpsys::win
