#include "sharing/own_registrations.h"

#include <utility>

namespace httpsys::sharing {

peer::Register* OwnRegistrations::FindOfPrefix(uint32_t server_id, uint32_t prefix_id) {
  const auto server = servers_.find(server_id);
  if (server == servers_.end()) return nullptr;
  const auto number = server->second.by_prefix.find(prefix_id);
  return number == server->second.by_prefix.end() ? nullptr
                                                  : &server->second.list.at(number->second);
}

void OwnRegistrations::Add(peer::Register registered) {
  const auto [found, is_new] = servers_.try_emplace(registered.server_id);
  Server& server = found->second;
  if (!is_new && server.list.empty()) --idle_count_;
  for (const peer::PrefixItem& item : registered.prefixes) ForgetPrefix(&server, item.id);
  const uint64_t number = ++last_number_;
  for (const peer::PrefixItem& item : registered.prefixes) server.by_prefix[item.id] = number;
  server.list.emplace(number, std::move(registered));
}

void OwnRegistrations::ForgetPrefix(Server* server, uint32_t prefix_id) {
  const auto found = server->by_prefix.find(prefix_id);
  if (found == server->by_prefix.end()) return;
  const auto registered = server->list.find(found->second);
  server->by_prefix.erase(found);
  auto& prefixes = registered->second.prefixes;
  std::erase_if(prefixes, [=](const peer::PrefixItem& item) { return item.id == prefix_id; });
  if (prefixes.empty()) server->list.erase(registered);
}

void OwnRegistrations::Forget(const peer::Unregister& gone, bool stays) {
  const auto [found, is_new] = servers_.try_emplace(gone.server_id);
  Server& server = found->second;
  if (!is_new && server.list.empty()) --idle_count_;
  if (gone.is_all != 0) {
    server = {};
  } else {
    for (const uint32_t prefix_id : gone.prefix_ids) ForgetPrefix(&server, prefix_id);
  }
  if (!server.list.empty()) return;
  if (stays) {
    ++idle_count_;
  } else {
    servers_.erase(found);
  }
}

}  // namespace httpsys::sharing
