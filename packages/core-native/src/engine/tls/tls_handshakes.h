#pragma once
// Connections of a lane whose TLS is not established yet. JavaScript hears of them when it is, or
// when it has to choose a certificate or a protocol.

#include <cstdint>
#include <unordered_map>

#include "engine/connection/connection.h"
#include "engine/connection/transport.h"
#include "engine/requests/request_router.h"
#include "records/record_writer.h"

namespace httpsys::engine {

// Thread: the lane.
class TlsHandshakes {
 public:
  TlsHandshakes(RecordWriter* records, Transport* transport, RequestRouter* router)
      : records_(records), transport_(transport), output_(transport->output()), router_(router) {}

  // In phase kHandshake. True when that is over and there may be something to read.
  bool OnReadable(Connection* connection);
  void OnTimeout(Connection* connection);
  void OnDetached(Connection* connection);
  // Of a kHello or kNewSession. True as with OnReadable(); `connection` is then the one it was
  // about.
  bool OnAnswer(uint32_t id, tls::HelloAnswer answer, Connection** connection);

 private:
  uint32_t Suspend(Connection* connection);
  bool Route(Connection* connection);
  bool Continue(Connection* connection);
  bool Establish(Connection* connection);
  void Fail(Connection* connection);

  RecordWriter* records_;
  Transport* transport_;
  OutputPass* output_;
  RequestRouter* router_;
  uint32_t next_id_ = 1;
  std::unordered_map<uint32_t, Connection*> asking_;
};

}  // namespace httpsys::engine
