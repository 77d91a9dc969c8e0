#include "engine/peers/port_table.h"

#include <algorithm>
#include <utility>

namespace httpsys::engine {

const PortTable::Port* PortTable::Find(uint16_t number) const {
  for (const Port& port : ports_) {
    if (port.routes->port() == number) return &port;
  }
  return nullptr;
}

PortTable::Port* PortTable::Find(uint16_t number) {
  return const_cast<Port*>(std::as_const(*this).Find(number));
}

void PortTable::Port::SetRoutes(std::shared_ptr<const Routes> next) {
  routes = std::move(next);
  // Targets keep their ids, and so their turns.
  if (turns.size() < routes->target_limit()) turns.resize(routes->target_limit());
}

void PortTable::SetRoutes(std::shared_ptr<const Routes> routes) {
  const uint16_t number = routes->port();
  const bool is_used = routes->is_used();
  if (Port* port = Find(number)) {
    port->SetRoutes(std::move(routes));
    if (!is_used) std::erase_if(ports_, [=](const Port& p) { return p.routes->port() == number; });
  } else if (is_used) {
    Port added;
    added.statistics = statistics_->PortOf(number);
    added.SetRoutes(std::move(routes));
    ports_.push_back(std::move(added));
  }
  has_peers_ = std::any_of(ports_.begin(), ports_.end(),
                           [](const Port& port) { return port.routes->passes_on(); });
}

bool PortTable::IsShared(uint16_t number) const {
  const Port* port = Find(number);
  return port != nullptr && port->routes->is_shared();
}

LaneServer* PortTable::ServerOn(const Port* port, const LaneServer* except) const {
  if (port == nullptr) return nullptr;
  for (const uint32_t id : port->routes->local_servers()) {
    const auto found = servers_->find(id);
    if (found != servers_->end() && found->second.get() != except) return found->second.get();
  }
  return nullptr;
}

LaneServer* PortTable::ServerAt(const Port& port, const LocalAddress& local) {
  for (const uint32_t id : port.routes->local_servers()) {
    const auto found = servers_->find(id);
    if (found != servers_->end() && Fits(port, local, *found->second)) return found->second.get();
  }
  return nullptr;
}

bool PortTable::Fits(const Port& port, const LocalAddress& local, const LaneServer& server) {
  const Routes::Place* place = port.routes->FindPlace(local);
  return place == nullptr ||
         place->is_secure == (server.config->TlsOf(port.routes->port(), local) != nullptr);
}

}  // namespace httpsys::engine
