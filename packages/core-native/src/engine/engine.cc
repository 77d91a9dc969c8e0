#include "engine/engine.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <utility>

#include "backend/create_engine.h"
#include "backend/tls_contexts.h"
#include "base/descriptors.h"
#include "base/limits.h"
#include "cache/coding_policy.h"
#include "encoders/encode.h"
#include "engine/exit_stop.h"
#include "engine/statistics/error_log.h"
#include "engine/statistics/refusal_notice.h"
#include "peer/messages.h"
#include "sharing/listening_socket.h"
#include "sharing/runtime_directory.h"
#include "sharing/state_query.h"
#include "tls/dev_certificate.h"
#include "tls/ticket_keys.h"

namespace httpsys::engine {
namespace {

constexpr uint64_t kNsPerMillisecond = 1'000'000;

// Returns a non-blocking, close-on-exec duplicate, or a negative errno.
int Duplicate(int fd) {
  const int copy = DuplicateAsOwn(fd);
  if (copy == -1) return -errno;
  const int flags = fcntl(copy, F_GETFL);
  if (flags == -1 || fcntl(copy, F_SETFL, flags | O_NONBLOCK) == -1) {
    const int error = errno;
    close(copy);
    return -error;
  }
  return copy;
}

// Returns a name for the server that is unique among all processes.
std::string NameOf(uint64_t member, uint32_t server_id) {
  return std::to_string(member) + " " + std::to_string(server_id);
}

// Returns the rules by which clients of the server's prefix are asked for certificates; empty
// without TLS. `server` is the result of the prefix's NameOf().
std::string TermsOf(const tls::ServerContext* context, const std::string& server,
                    const std::string& text) {
  UrlPrefix prefix;
  const bool is_secure = ParseUrlPrefix(text, &prefix) == PrefixError::kNone && prefix.is_https;
  return context == nullptr || !is_secure ? std::string() : context->TermsDigest(prefix, server);
}

// Returns a function that counts the owners of a prefix; nullptr = the port is not in use.
Bandwidths::CountOwners OwnersOn(const std::shared_ptr<const sharing::PortRoutes>& routes) {
  if (!routes->is_used()) return nullptr;
  return [routes](const Bandwidths::Place& place) {
    return place.text.empty() ? routes->CountOwners(place.server_id)
                              : routes->CountOwners(place.prefix);
  };
}

// Stops the threads for good, because the process is exiting.
void StandStill(const std::vector<std::unique_ptr<Lane>>& lanes, sharing::SharedPorts* sharing) {
  const auto barrier = std::make_shared<DrainBarrier>(lanes.size() + 1, DrainGoal::kHandled);
  const auto stand = [barrier] {
    barrier->Arrive();
    for (;;) uv_sleep(UINT_MAX);
  };
  // The thread of `sharing` makes ticket keys, so it must stop, too. The acceptor's thread uses no
  // library.
  if (!sharing->RunOnThread(stand)) barrier->Arrive();
  for (const auto& lane : lanes) lane->commands().RunFirst(stand);
  barrier->Wait(limits::kExitStopMs);
}

}  // namespace

Engine::Engine(BackendOptions options)
    : SocketBackend(&kept_files_, &caches_),
      methods_(std::move(options.methods)),
      signal_(options.wake_consumer),
      wake_consumer_(std::move(options.wake_consumer)),
      ahead_(std::make_shared<files::ReadAhead>([this] {
        const uint64_t now_ms = uv_hrtime() / kNsPerMillisecond;
        const bool has_known = sites_.Sweep(now_ms);
        return open_files_->Sweep(now_ms) || has_known;
      })),
      open_files_(
          files::OpenFiles::Make(files::OpenFiles::SparedDescriptors(),
                                 [ahead = ahead_](std::unique_ptr<const files::OpenFile> file) {
                                   ahead->SweepLater();
                                   return ahead->Share(std::move(file));
                                 })),
      sharing_(this, [this](uint16_t port, uint64_t bytes) {
        ProcessCache::Instance().Limit(this, port, bytes);
      }) {
  for (size_t i = 0; i < options.lanes.size(); ++i) {
    Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>(
        i, &methods_, sharing_.id(), &statistics_,
        [this](uint16_t port) { sharing_.OnDoubt(port); }, ahead_.get(), &arenas_));
    attachments_.push_back(lane.Attach(options.lanes[i], &signal_));
  }
}

Engine::~Engine() { Close(); }

int Engine::Start() {
  // With several lanes, the acceptor must distribute the connections, so it lends no listener.
  Acceptor* lender = lanes_.size() == 1 ? &acceptor_ : nullptr;
  for (const auto& lane : lanes_) {
    if (const int failed = lane->Start(lender); failed != 0) return failed;
  }
  // Only lane 0 has the links to the caches of other members.
  if (!lanes_.empty()) {
    arenas_.SetAskOwner([this](uint64_t member, uint32_t server_id, uint32_t prefix_id) {
      lanes_[0]->commands().AskCache(member, server_id, prefix_id);
    });
  }
  if (const int failed = acceptor_.Start(); failed != 0) return failed;
  ExitStop::Instance().Add(this, [this] { StandStill(lanes_, &sharing_); });
  return 0;
}

uint32_t Engine::AddReplySegment(size_t lane, std::span<const uint8_t> memory) {
  return attachments_[lane]->replies().AddSegment(memory);
}

int64_t Engine::SendFile(size_t lane, Descriptor fd, uint32_t kept_id, uint64_t start,
                         uint64_t bytes) {
  if (is_closed_) return -ECANCELED;
  std::shared_ptr<const files::OpenFile> file;
  if (kept_id != 0) {
    file = kept_files_.Get(kept_id);
    if (file == nullptr) return -EBADF;
  } else {
    std::unique_ptr<files::OpenFile> copy = files::OpenFile::Duplicate(fd);
    if (copy == nullptr) return -errno;
    file = ahead_->Share(std::move(copy));
  }
  Attachment& attachment = *attachments_[lane];
  const uint32_t id = attachment.lent().Lend(nullptr, 0);
  attachment.files().Put(
      id, std::make_shared<const files::FilePart>(files::FilePart{std::move(file), start, bytes}));
  return id;
}

void Engine::WakeLane(size_t lane) {
  if (!is_closed_) lanes_[lane]->Wake();
}

void Engine::Wake(size_t lane) {
  if (!is_closed_) lanes_[lane]->WakeIfSleeping(attachments_[lane]);
}

int Engine::Configure(uint32_t server_id, ServerSettings settings) {
  if (is_closed_) return -EBADF;
  const auto last = configs_.find(server_id);
  std::shared_ptr<const CacheTerms> cache = caches_.Configure(server_id, settings);
  std::shared_ptr<const ServerConfig> config = ServerConfig::Create(
      std::move(settings), last == configs_.end() ? nullptr : last->second.get(), &sites_,
      std::move(cache));
  if (config == nullptr) return -EINVAL;
  if (config->tls() != nullptr) ExitStop::Instance().RunBeforeOpenSsl();
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    lanes_[lane]->commands().SetConfig(attachments_[lane], server_id, config, &bandwidths_);
  }
  configs_[server_id] = std::move(config);
  return 0;
}

int Engine::Listen(uint32_t server_id, Descriptor fd, int backlog, bool may_lend) {
  if (is_closed_) return -EBADF;
  if (listen(fd, backlog) != 0) return -errno;
  const int copy = Duplicate(fd);
  return copy < 0 ? copy : acceptor_.Add(server_id, copy, balance_.SinkFor(server_id), may_lend);
}

void Engine::StopListening(int key) {
  if (!is_closed_) acceptor_.RemoveOne(key);
}

void Engine::Unlisten(uint32_t server_id) {
  configs_.erase(server_id);
  caches_.Forget(server_id);
  if (is_closed_) return;
  acceptor_.Remove(server_id);
  for (const auto& lane : lanes_) lane->commands().Unlisten(server_id);
  bandwidths_.Forget(server_id);
}

int Engine::Adopt(uint32_t server_id, Descriptor fd) {
  if (is_closed_) return -EBADF;
  const int copy = Duplicate(fd);
  if (copy < 0) return copy;
  balance_.Next().commands().Adopt(server_id, {copy});
  return 0;
}

void Engine::CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                              uint64_t request_timeout_ms) {
  if (is_closed_) return;
  for (const auto& lane : lanes_) {
    lane->commands().CheckConnections(server_id, headers_timeout_ms, request_timeout_ms);
  }
}

void Engine::RefuseAbandoned() {
  if (is_closed_) return;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    lanes_[lane]->commands().RefuseAbandoned(attachments_[lane]);
  }
}

records::Claim Engine::TakeClaim(size_t lane) {
  if (is_closed_) return records::Claim::kNone;
  const records::Claim claim =
      attachments_[lane]->claimed().Take(attachments_[lane]->requests().begun());
  // Wake the lane: without a reply it would not notice that JavaScript is no longer blocked.
  if (claim == records::Claim::kMoved) Wake(lane);
  return claim;
}

void Engine::AnswerHello(size_t lane, uint32_t id, HelloReply reply) {
  if (is_closed_) return;
  tls::HelloAnswer answer;
  answer.is_refused = reply.is_refused;
  answer.reason = std::move(reply.reason);
  answer.host = FindTlsHost(reply.host);
  answer.has_alpn = reply.has_alpn;
  answer.alpn = std::move(reply.alpn);
  answer.session = std::move(reply.session);
  answer.status = std::move(reply.status);
  lanes_[lane]->commands().AnswerHello(attachments_[lane], id, std::move(answer));
}

std::string Engine::AskTls(size_t lane, uint32_t slot, uint32_t question, std::string argument) {
  if (is_closed_) return {};
  return lanes_[lane]->commands().AskTls(attachments_[lane], slot,
                                         static_cast<tls::Question>(question), std::move(argument));
}

bool Engine::Drain(uint64_t timeout_ms, DrainGoal goal) {
  if (is_closed_) return true;
  const auto barrier = std::make_shared<DrainBarrier>(lanes_.size(), goal);
  for (const auto& lane : lanes_) lane->commands().Drain(barrier);
  return barrier->Wait(timeout_ms);
}

// -- Port sharing.

void Engine::Introduce(uint32_t thread, std::string program) {
  sharing_.Introduce(thread, std::move(program));
}

int Engine::Meet(uint16_t port, Stranger* stranger) { return sharing_.Meet(port, stranger); }

int Engine::TakeAlone(uint16_t port) { return sharing_.TakeAlone(port); }

int Engine::Contribute(uint16_t port, uint32_t server_id, Descriptor fd, bool is_last) {
  return sharing_.Contribute(port, server_id, fd, is_last);
}

void Engine::Withdraw(uint16_t port, Descriptor fd) { sharing_.Withdraw(port, fd); }

PortSockets Engine::Sockets(uint16_t port) { return sharing_.Sockets(port); }

int Engine::ListenBeside(uint16_t port, int backlog, const std::vector<Descriptor>& narrower) {
  return sharing::ListenBeside(port, backlog, {narrower.begin(), narrower.end()});
}

bool Engine::ChangeTerms(uint32_t server_id, TlsContextId id, RegistrationResult* conflict) {
  const std::shared_ptr<const tls::ServerContext> context = FindTlsContext(id);
  const std::string server = NameOf(sharing_.id(), server_id);
  const auto terms_of = [&](const std::string& prefix) {
    return TermsOf(context.get(), server, prefix);
  };
  return sharing_.ChangeTerms(server_id, terms_of, conflict);
}

bool Engine::Register(const Registration& wanted, RegistrationResult* result) {
  peer::Register message;
  message.token = wanted.token;
  message.server_id = wanted.server_id;
  message.queue = wanted.queue;
  message.queue_mode = static_cast<uint8_t>(wanted.queue_mode);
  if (wanted.flags.is_plain) message.flags |= peer::kEntryPlain;
  if (wanted.flags.is_ipv4) message.flags |= peer::kEntryIpv4;
  if (wanted.flags.is_exclusive) message.flags |= peer::kEntryExclusive;
  if (wanted.flags.is_fed) message.flags |= peer::kEntryFed;
  const auto config = configs_.find(wanted.server_id);
  const tls::ServerContext* context = config == configs_.end() ? nullptr : config->second->tls();
  if (config != configs_.end() && config->second->cache() != nullptr) {
    message.flags |= peer::kEntryCached;
    const ProcessCache& cache = ProcessCache::Instance();
    sharing_.WishCache(cache.wished_bytes(), cache.port_bytes());
  }
  const std::string server = NameOf(sharing_.id(), wanted.server_id);
  for (const NumberedPrefix& prefix : wanted.prefixes) {
    message.prefixes.push_back({prefix.id, prefix.text, TermsOf(context, server, prefix.text)});
  }
  const bool fits = message.prefixes.size() <= peer::kListItemsMax &&
                    peer::Encode(message).size() <= peer::kFrameBytesMax;
  if (!fits) {
    *result = {};
    result->token = wanted.token;
    result->error = ENOSPC;
    return true;
  }
  return sharing_.Register(wanted.port, std::move(message), result);
}

bool Engine::TakeResult(RegistrationResult* result) { return sharing_.TakeResult(result); }

bool Engine::Unregister(uint16_t port, uint32_t server_id, std::vector<uint32_t> prefix_ids,
                        uint32_t wait_ms, uint32_t token, bool stays) {
  const bool is_all = prefix_ids.empty();
  while (prefix_ids.size() > peer::kListItemsMax) {
    const auto first = prefix_ids.end() - peer::kListItemsMax;
    sharing_.Unregister(port, {server_id, wait_ms, 0, {first, prefix_ids.end()}, 0}, stays);
    prefix_ids.erase(first, prefix_ids.end());
  }
  return sharing_.Unregister(port, {server_id, wait_ms, is_all, std::move(prefix_ids), token},
                             stays);
}

void Engine::Leave(uint16_t port) { sharing_.Leave(port); }

void Engine::Reserve(uint16_t port, const std::vector<std::string>& prefixes) {
  sharing_.Reserve(port, prefixes);
}

void Engine::SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes,
                       std::function<void()> applied) {
  bandwidths_.SetOwners(routes->port(), OwnersOn(routes));
  acceptor_.SetShared(routes->port(), routes->passes_on());
  if (routes->has_peers()) ProcessCache::Instance().co_owners().ExpectOthers();
  if (!lanes_.empty()) lanes_[0]->commands().SetCacheRoutes(routes);
  acceptor_.LookAfter(routes->port(), routes->departures());
  const auto left = std::make_shared<std::atomic<size_t>>(lanes_.size());
  for (const auto& lane : lanes_) {
    lane->commands().SetRoutes(routes, [left, applied] {
      if (left->fetch_sub(1) == 1 && applied) applied();
    });
  }
}

int Engine::Watch(int fd, std::function<void(int fd)> sink) {
  return acceptor_.Add(0, fd, [sink = std::move(sink)](const std::vector<int>& fds) {
    for (const int each : fds) sink(each);
  });
}

void Engine::Unwatch(int key) { acceptor_.RemoveOne(key); }

void Engine::AcceptFor(uint32_t server_id, int fd) {
  acceptor_.Add(server_id, fd, balance_.SinkFor(server_id));
}

void Engine::OnLink(int fd) { balance_.Next().commands().AcceptLink(fd); }

void Engine::WakeConsumer() { wake_consumer_(); }

sharing::PortCounters Engine::Count(uint16_t port) { return statistics_.Read(port); }

std::optional<CacheReport> Engine::AskCache(uint32_t server_id, const CacheQuestion& question) {
  if (!caches_.HasCache(server_id)) return {};
  CacheReport report;
  if (question.wants == CacheQuestion::kEntries) {
    report.entries = caches_.Entries(server_id, question.url, question.limit);
  } else if (question.wants == CacheQuestion::kFlush ||
             question.wants == CacheQuestion::kFlushBelow) {
    const int64_t flushed =
        caches_.Flush(server_id, question.url, question.wants == CacheQuestion::kFlushBelow);
    report.flushed = flushed > 0 ? static_cast<uint64_t>(flushed) : 0;
  }
  return report;
}

peer::TicketKeys Engine::TellTicketKeys(uint16_t port) {
  peer::TicketKeys told;
  const auto keys = tls::TicketKeys::OfPort(port);
  if (keys == nullptr) return told;
  for (tls::TicketKeys::Told& key : keys->Tell(tls::TicketKeys::NowMs())) {
    told.keys.push_back({std::move(key.bytes), key.age_ms});
  }
  return told;
}

void Engine::LearnTicketKeys(uint16_t port, const peer::TicketKeys& told) {
  std::vector<tls::TicketKeys::Told> keys;
  keys.reserve(told.keys.size());
  for (const peer::TicketKey& key : told.keys) keys.push_back({key.bytes, key.age_ms});
  if (const auto own = tls::TicketKeys::OfPort(port)) own->Learn(tls::TicketKeys::NowMs(), keys);
}

// Closes in this order: 1. the engine leaves the shared ports, 2. no new connections are accepted,
// 3. each lane closes its connections. The Lane objects stay for late calls.
void Engine::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  ExitStop::Instance().Remove(this);
  sharing_.Close();
  acceptor_.Stop();
  ahead_->Close();
  caches_.Close();
  arenas_.SetAskOwner(nullptr);
  ProcessCache::Instance().ForgetLimits(this);
  for (const auto& lane : lanes_) lane->Stop();
}

}  // namespace httpsys::engine

namespace httpsys {

int OpenErrorLog(std::string* path) {
  engine::ErrorLog& log = engine::ErrorLog::Instance();
  *path = log.path();
  return log.TakeFailure();
}

void TellRefusals(const std::string& page) {
  // The error log says more than the notice, so start no notice.
  if (engine::ErrorLog::Instance().is_on()) return;
  engine::RefusalNotice::Instance().Start(STDERR_FILENO, page);
}

uint32_t CacheCodings() { return cache::CodingBits(encoders::AvailableCodings()); }

bool HasHttp2() { return engine::Http2Session::IsAvailable(); }

int ChooseRuntimeDirectory(const std::string& path) { return sharing::UseRuntimeDirectory(path); }

std::string MeetingPlaceOf(uint16_t port) { return sharing::PortName(port); }

int AskServiceState(uint16_t port, const CacheQuestion& question, PortReport* report) {
  return sharing::QueryState(port, limits::kStateMs, report, peer::Encode(question));
}

DevCertificate CreateDevCertificate(const std::vector<std::string>& names, int days) {
  tls::KeyPair pair = tls::MakeDevCertificate(names, days);
  return {std::move(pair.key), std::move(pair.certificate)};
}

std::unique_ptr<SocketBackend> CreateEngine(BackendOptions options, int* status) {
  auto created = std::make_unique<engine::Engine>(std::move(options));
  *status = created->Start();
  if (*status == 0) return created;
  created->Close();
  return nullptr;
}

}  // namespace httpsys
