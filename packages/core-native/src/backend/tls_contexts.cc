#include "backend/tls_contexts.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/process.h"
#include "tls/server_context.h"
#include "tls/ticket_keys.h"

namespace httpsys {
namespace {

// Objects of one kind, by their ids. Thread: any.
template <typename Id, typename Object>
class Table {
 public:
  Id Add(std::shared_ptr<Object> object) {
    if (object == nullptr) return Id::kNone;
    const std::lock_guard lock(mutex_);
    const auto id = static_cast<Id>(++last_);
    objects_.emplace(id, std::move(object));
    return id;
  }
  void Remove(Id id) {
    const std::lock_guard lock(mutex_);
    objects_.erase(id);
  }
  std::shared_ptr<Object> Find(Id id) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(id);
    return found == objects_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  uint32_t last_ = 0;
  std::unordered_map<Id, std::shared_ptr<Object>> objects_;
};

using Keys = Table<TicketKeysId, tls::TicketKeys>;
using Hosts = Table<TlsHostId, const tls::HostContext>;
using Contexts = Table<TlsContextId, const tls::ServerContext>;

}  // namespace

TicketKeysId MakeTicketKeys(std::string_view bytes) {
  return OfProcess<Keys>().Add(tls::TicketKeys::Fixed(bytes));
}

TlsHostId MakeTlsHost(SSL_CTX* from, bool logs_keys) {
  return OfProcess<Hosts>().Add(tls::HostContext::Copy(from, logs_keys));
}

TlsContextId MakeTlsContext(SSL_CTX* from, const TlsSettings& settings) {
  tls::ContextSettings made;
  static_cast<tls::ContextOptions&>(made) = settings.options;
  made.context = from;
  for (const TlsSettings::Host& host : settings.hosts) {
    made.hosts.push_back({host.pattern, FindTlsHost(host.host)});
  }
  made.ticket_keys = OfProcess<Keys>().Find(settings.ticket_keys);
  return OfProcess<Contexts>().Add(tls::ServerContext::Create(std::move(made)));
}

void Forget(TicketKeysId id) { OfProcess<Keys>().Remove(id); }

void Forget(TlsHostId id) { OfProcess<Hosts>().Remove(id); }

void Forget(TlsContextId id) { OfProcess<Contexts>().Remove(id); }

std::shared_ptr<const tls::HostContext> FindTlsHost(TlsHostId id) {
  return OfProcess<Hosts>().Find(id);
}

std::shared_ptr<const tls::ServerContext> FindTlsContext(TlsContextId id) {
  return OfProcess<Contexts>().Find(id);
}

}  // namespace httpsys
