#include "engine/peers/port_statistics.h"

namespace httpsys::engine {

PortStatistics::Port* PortStatistics::PortOf(uint16_t number) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Port>& port = ports_[number];
  if (port == nullptr) port = std::make_unique<Port>();
  return port.get();
}

PortStatistics::Server* PortStatistics::ServerOf(uint32_t id) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Server>& server = servers_[id];
  if (server == nullptr) server = std::make_unique<Server>();
  return server.get();
}

PortStatistics::Counter* PortStatistics::RequestsOf(const void* lane, uint32_t server_id,
                                                    uint32_t prefix_id) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Counter>& counter = requests_[{server_id, prefix_id, lane}];
  if (counter == nullptr) counter = std::make_unique<Counter>(0);
  return counter.get();
}

sharing::PortCounters PortStatistics::Read(uint16_t number) {
  const Port* port = PortOf(number);
  const std::lock_guard lock(mutex_);
  sharing::PortCounters result;
  result.member = port->Read();
  for (const auto& [key, counter] : requests_) {
    result.prefixes[{std::get<0>(key), std::get<1>(key)}].requests += *counter;
  }
  for (const auto& [id, server] : servers_) result.servers[id] = server->Read();
  return result;
}

}  // namespace httpsys::engine
