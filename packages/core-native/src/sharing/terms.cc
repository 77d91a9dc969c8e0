// By what rules clients of a prefix are asked for certificates, when that changes: docs/tls.md.

#include <utility>

#include "sharing/sharing.h"

namespace httpsys::sharing {

// What a server has registered on a port, or is about to.
void Sharing::ForRegistrations(Port* port, uint32_t server_id,
                               const std::function<void(peer::Register*)>& use) {
  const auto own = port->own.find(server_id);
  if (own != port->own.end()) {
    for (peer::Register& registered : own->second) use(&registered);
  }
  for (peer::Register& wanted : port->queued) {
    if (wanted.server_id == server_id) use(&wanted);
  }
  for (auto& [token, wanted] : port->asked) {
    if (wanted.server_id == server_id) use(&wanted);
  }
}

// False: nothing has changed.
bool Sharing::SetTerms(peer::Register* registered, const TermsOf& terms_of) {
  bool is_changed = false;
  for (peer::PrefixItem& item : registered->prefixes) {
    std::string terms = terms_of(item.text);
    is_changed = is_changed || terms != item.terms;
    item.terms = std::move(terms);
  }
  return is_changed;
}

bool Sharing::ChangeTerms(uint32_t server_id, const TermsOf& terms_of,
                          RegistrationResult* conflict) {
  const std::lock_guard lock(mutex_);
  if (is_closed_) return true;
  *conflict = {};
  // First all are looked at: a conflict on one port leaves the others as they are.
  for (const auto& entry : ports_) {
    Port* port = entry.second.get();
    ForRegistrations(port, server_id, [&](peer::Register* registered) {
      peer::Register changed = *registered;
      if (conflict->error != 0 || !SetTerms(&changed, terms_of)) return;
      const auto found = port->state.CheckTerms(id_, changed);
      if (!found) return;
      conflict->error = found->error;
      conflict->pid = PidOf(*port, found->member);
      conflict->prefix = found->prefix;
      conflict->queue = found->queue;
      conflict->wanted = found->wanted;
      conflict->reason = found->reason;
    });
  }
  if (conflict->error != 0) return false;
  for (const auto& [number, port] : ports_) ApplyTerms(port.get(), server_id, terms_of);
  return true;
}

// Of what a coordinator is being asked for it hears when it has answered.
void Sharing::ApplyTerms(Port* port, uint32_t server_id, const TermsOf& terms_of) {
  bool is_changed = false;
  ForRegistrations(port, server_id, [&](peer::Register* registered) {
    if (!SetTerms(registered, terms_of)) return;
    is_changed = true;
    if (port->asked.contains(registered->token)) port->changed_terms.insert(registered->token);
  });
  const auto own = port->own.find(server_id);
  if (!is_changed || own == port->own.end()) return;
  for (const peer::Register& registered : own->second) {
    for (const peer::Entry& entry : port->state.EntriesOf(id_, registered)) {
      port->state.AddEntry(entry, NowMs());
      if (port->role != Role::kCoordinator || port->sessions.empty()) continue;
      OnThread(port->number, [this, entry](Port* port) { TellEntry(port, entry); });
    }
  }
  if (port->role != Role::kMember) return;
  OnThread(port->number, [server_id](Port* port) {
    const auto own = port->own.find(server_id);
    if (port->role != Role::kMember || own == port->own.end()) return;
    for (const peer::Register& registered : own->second) SendAgain(*port, registered);
  });
}

}  // namespace httpsys::sharing
