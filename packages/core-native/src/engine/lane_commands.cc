#include "engine/lane_commands.h"

#include <unistd.h>

#include <chrono>
#include <future>
#include <utility>

#include "base/limits.h"
#include "engine/connection/connection.h"

namespace httpsys::engine {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;

}  // namespace

LaneCommands::LaneCommands(CommandQueue* queue, const Attachments* attachments, LaneParts* parts,
                           PortStatistics* statistics, std::atomic<uint32_t>* load,
                           std::function<void()> wake)
    : queue_(queue),
      attachments_(attachments),
      parts_(parts),
      statistics_(statistics),
      load_(load),
      wake_(std::move(wake)),
      connections_(parts, load) {}

void LaneCommands::Post(std::function<void()> command, Kind kind) {
  queue_->Add(std::move(command), kind);
  wake_();
}

void LaneCommands::RunConfigs() {
  if (!queue_->has_configs()) return;
  for (const CommandQueue::Command& config : queue_->TakeConfigs()) config.run();
}

void LaneCommands::RunAll() { Run(queue_->TakeAll()); }

void LaneCommands::RunOrders() {
  if (queue_->has_orders()) Run(queue_->TakeOrders());
}

void LaneCommands::Run(const std::vector<CommandQueue::Command>& commands) {
  for (const CommandQueue::Command& command : commands) {
    // Commands of these two kinds concern every connection that was accepted before: open these
    // connections first.
    if (command.kind == Kind::kOther || command.kind == Kind::kUnlisten) {
      connections_.OpenEarly();
      OpenAccepted(false);
    }
    command.run();
  }
  OpenAccepted(true);
}

// Opens accepted connections after running the newest settings: a client may have sent its request
// after the settings changed.
void LaneCommands::OpenAccepted(bool may_wait) {
  if (!connections_.has_accepted()) return;
  RunConfigs();
  connections_.Open(may_wait);
}

bool LaneCommands::OpenEarly() {
  if (!connections_.has_early()) return false;
  connections_.OpenEarly();
  return true;
}

void LaneCommands::RunFirst(std::function<void()> command) {
  queue_->AddFirst(std::move(command));
  wake_();
}

void LaneCommands::Stop(std::function<void()> close) {
  Post([this, close = std::move(close)] {
    Close();
    close();
  });
}

void LaneCommands::Close() {
  is_stopping_ = true;
  connections_.Close();
  for (const auto& barrier : drains_) barrier->Arrive();
  drains_.clear();
}

// -- Servers.

void LaneCommands::SetConfig(Attachment* attachment, uint32_t server_id,
                             std::shared_ptr<const ServerConfig> config, Bandwidths* bandwidths) {
  Post(
      [this, attachment, server_id, config = std::move(config), bandwidths] {
        SweepServers();
        std::unique_ptr<LaneServer>& server = parts_->servers[server_id];
        if (server == nullptr) {
          server = std::make_unique<LaneServer>();
          server->attachment = attachment;
          PortStatistics::Server* statistics = statistics_->ServerOf(server_id);
          server->queued = &statistics->queued;
          server->refused = &statistics->refused;
          server->counts = &statistics->connections;
        }
        if (server->attachment != attachment) return;
        statistics_->ServerOf(server_id)->queue_limit = config->settings().queue_limit;
        server->id = server_id;
        server->is_unlistened = false;
        server->config = config;
        server->bandwidths = bandwidths;
        // A prefix id may now belong to another prefix.
        server->buckets.clear();
        parts_->gifts->OnServer(server_id);
        parts_->arena_links->OnServer();
      },
      Kind::kConfig);
}

void LaneCommands::Unlisten(uint32_t server_id) {
  Post(
      [this, server_id] {
        const auto found = parts_->servers.find(server_id);
        if (found != parts_->servers.end()) {
          found->second->is_unlistened = true;
          parts_->gifts->OnServer(server_id);
          parts_->publisher->MakeDue();
          EndOrMove(found->second.get());
        }
        SweepServers();
      },
      Kind::kUnlisten);
}

// Ends the server's idle connections or moves them to another member: connections without a
// request, which JavaScript does not know and cannot close, and connections that became idle after
// JavaScript checked.
void LaneCommands::EndOrMove(LaneServer* server) {
  parts_->transport->ForEach([&](Connection* connection) {
    if (!connection->is_open() || connection->server() != server || connection->stream != nullptr) {
      return;
    }
    Transport* transport = parts_->transport.get();
    if (connection->http2 != nullptr) {
      // The streams of this connection may belong to other servers, which need the connection; the
      // closed server waits for the connection's end.
      if (connection->http2->streams != 0) transport->Announce(connection, records::kFlagShared);
      return parts_->http2->Shutdown(connection);
    }
    if (connection->slot.is_announced()) return parts_->exchanges->EndIdle(connection);
    if (connection->phase() != InputPhase::kHandshake) return parts_->router->Leave(connection);
    // A connection whose bytes are untouched can go to another member.
    if (!connection->sharing.is_hello_routed() && parts_->router->MoveAway(connection)) return;
    transport->Announce(connection, records::kFlagPending);
  });
}

void LaneCommands::SweepServers() {
  std::erase_if(parts_->servers, [](const auto& entry) {
    return entry.second->is_unlistened && entry.second->connections == 0;
  });
}

void LaneCommands::CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                                    uint64_t request_timeout_ms) {
  Post([this, server_id, headers_timeout_ms, request_timeout_ms] {
    const uint64_t now_ns = uv_hrtime();
    parts_->transport->ForEach([&](Connection* connection) {
      if (!connection->is_open() || connection->server()->id != server_id) return;
      if (connection->IsHeldUp() && connection->message.start_ns() != 0) {
        // The rest of the message may have come in time and wait in the lane: restart the message's
        // time.
        return connection->message.Begin(now_ns);
      }
      const uint64_t headers_ns = headers_timeout_ms * kNsPerMs;
      const uint64_t request_ns = request_timeout_ms * kNsPerMs;
      if (connection->http2 != nullptr || connection->stream != nullptr) {
        parts_->http2->CheckTimeouts(connection, now_ns, headers_ns, request_ns);
      } else {
        parts_->http1->CheckTimeouts(connection, now_ns, headers_ns, request_ns);
      }
    });
  });
}

void LaneCommands::RefuseAbandoned(Attachment* attachment) {
  Post([this, attachment] {
    if (!is_stopping_) parts_->expiry->RefuseAbandoned(attachment);
  });
}

// -- Connections.

void LaneCommands::Adopt(uint32_t server_id, const std::vector<int>& fds) {
  AdoptLater(server_id, fds);
  wake_();
}

void LaneCommands::AdoptLater(uint32_t server_id, const std::vector<int>& fds) {
  load_->fetch_add(static_cast<uint32_t>(fds.size()), std::memory_order_relaxed);
  queue_->Add([this, server_id, fds] { connections_.Add(server_id, fds); }, Kind::kAdopt);
}

void LaneCommands::AnswerHello(const Attachment* attachment, uint32_t id, tls::HelloAnswer answer) {
  Post([this, attachment, id, answer = std::move(answer)] {
    Connection* connection = nullptr;
    if (is_stopping_ || !parts_->handshakes->OnAnswer(attachment, id, answer, &connection)) return;
    parts_->input->OnReadable(connection);
    parts_->transport->watch()->CheckPending(connection);
  });
}

std::string LaneCommands::AskTls(Attachment* attachment, uint32_t slot, tls::Question question,
                                 std::string argument) {
  auto answer = std::make_shared<std::promise<std::string>>();
  std::future<std::string> result = answer->get_future();
  Post([this, attachment, slot, question, argument = std::move(argument), answer] {
    const Connection* connection = is_stopping_ ? nullptr : attachment->slots().Find(slot);
    const bool has_tls = connection != nullptr && connection->tls != nullptr;
    answer->set_value(has_tls ? connection->tls->Ask(question, argument) : std::string());
  });
  return result.wait_for(std::chrono::milliseconds(limits::kTlsAskMs)) == std::future_status::ready
             ? result.get()
             : std::string();
}

// -- Other members.

void LaneCommands::SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes,
                             std::function<void()> done) {
  Post(
      [this, routes = std::move(routes), done = std::move(done)] {
        if (!is_stopping_) parts_->router->SetRoutes(routes);
        if (done) done();
      },
      Kind::kConfig);
}

void LaneCommands::AcceptLink(int fd) {
  Post(
      [this, fd] {
        if (is_stopping_) {
          close(fd);
        } else {
          parts_->router->links().Accept(fd);
        }
      },
      Kind::kUnordered);
}

void LaneCommands::AskCache(uint64_t member, uint32_t server_id, uint32_t prefix_id) {
  Post(
      [this, member, server_id, prefix_id] {
        if (!is_stopping_) parts_->arena_links->Ask(member, server_id, prefix_id);
      },
      Kind::kUnordered);
}

void LaneCommands::SetCacheRoutes(std::shared_ptr<const sharing::PortRoutes> routes) {
  Post(
      [this, routes = std::move(routes)] {
        if (!is_stopping_) parts_->arena_links->OnRoutes(routes);
      },
      Kind::kConfig);
}

// -- Draining.

void LaneCommands::Drain(std::shared_ptr<DrainBarrier> barrier) {
  Post([this, barrier = std::move(barrier)] {
    if (is_stopping_) {
      barrier->Arrive();
    } else {
      drains_.push_back(barrier);
    }
  });
}

void LaneCommands::AnswerDrains() {
  if (drains_.empty() || attachments_->HasReplies()) return;
  const bool is_sent =
      parts_->output->pending_outputs() == 0 && !parts_->router->links().HasUnacknowledged();
  std::erase_if(drains_, [=](const std::shared_ptr<DrainBarrier>& barrier) {
    if (!is_sent && barrier->goal() == DrainGoal::kSent) return false;
    barrier->Arrive();
    return true;
  });
}

}  // namespace httpsys::engine
