// Commands that other threads give a lane: settings, accepted connections, routes and questions.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <string>
#include <utility>

#include "base/limits.h"
#include "base/patience.h"
#include "engine/lane.h"

namespace httpsys::engine {
namespace {

constexpr uint64_t kNsPerMs = 1'000'000;

}  // namespace

void Lane::Enqueue(std::function<void()> command, CommandKind kind) {
  const std::lock_guard lock(mutex_);
  commands_.push_back({std::move(command), kind});
  if (kind == CommandKind::kConfig) has_config_.store(true, std::memory_order_release);
  if (kind == CommandKind::kConfig || kind == CommandKind::kUnlisten) {
    has_orders_.store(true, std::memory_order_release);
  }
}

void Lane::Post(std::function<void()> command, CommandKind kind) {
  Enqueue(std::move(command), kind);
  Wake();
}

// Runs settings and routes, in their order among the commands. A poll may find a request before the
// wake of the settings that precede it. Other commands do not run here, because they could change
// the connection that is about to be read.
void Lane::RunConfigs() {
  std::vector<Command> configs;
  {
    const std::lock_guard lock(mutex_);
    has_config_.store(false, std::memory_order_relaxed);
    const auto other = std::find_if(commands_.begin(), commands_.end(), [](const Command& command) {
      return command.kind != CommandKind::kConfig;
    });
    configs.assign(std::make_move_iterator(commands_.begin()), std::make_move_iterator(other));
    commands_.erase(commands_.begin(), other);
  }
  for (const Command& config : configs) config.run();
}

void Lane::RunCommands() {
  WakeUp();
  std::vector<Command> commands;
  {
    const std::lock_guard lock(mutex_);
    commands.swap(commands_);
    has_config_.store(false, std::memory_order_relaxed);
    has_orders_.store(false, std::memory_order_relaxed);
  }
  Run(commands);
}

// Runs the commands that must precede later replies. For example, if a server was closed and
// listens again, a connection whose answer it ends after that stays with it. The remaining commands
// wait for the wake that came with them.
void Lane::RunOrders() {
  std::vector<Command> orders;
  {
    const std::lock_guard lock(mutex_);
    has_orders_.store(false, std::memory_order_relaxed);
    const auto other = std::find_if(commands_.begin(), commands_.end(), [](const Command& command) {
      return command.kind == CommandKind::kOther;
    });
    orders.assign(std::make_move_iterator(commands_.begin()), std::make_move_iterator(other));
    commands_.erase(commands_.begin(), other);
  }
  Run(orders);
}

void Lane::Run(const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    // These two kinds of commands concern every connection that was accepted before them.
    if (command.kind == CommandKind::kOther || command.kind == CommandKind::kUnlisten) {
      OpenEarly();
      TakeAccepted(false);
    }
    command.run();
  }
  TakeAccepted(true);
}

// Takes accepted connections after running the newest settings: a client may have sent its request
// after the settings changed.
void Lane::TakeAccepted(bool may_wait) {
  if (accepted_.empty()) return;
  if (has_config_.load(std::memory_order_acquire)) RunConfigs();
  for (const Accepted& accepted : accepted_) {
    if (!Take(accepted, may_wait)) early_.push_back(accepted);
  }
  accepted_.clear();
}

void Lane::OpenEarly() {
  for (const Accepted& accepted : early_) Take(accepted, false);
  early_.clear();
}

// Takes the connections whose clients had sent nothing when they were accepted. Most of them have
// sent by now. Watching one for that costs more than the rest of its way to another member.
void Lane::TakeEarly() {
  if (early_.empty()) return;
  OpenEarly();
  FlushAndResume();
  router_->links().Flush();
  PublishRequests();
}

bool Lane::Take(const Accepted& accepted, bool may_wait) {
  const auto found = servers_.find(accepted.server_id);
  const bool is_welcome = found != servers_.end() && !is_stopping_;
  LaneServer* server = is_welcome ? found->second.get() : nullptr;
  std::string_view bytes;
  PortMoves::FirstLook look = PortMoves::FirstLook::kStays;
  if (is_welcome && router_->has_peers()) {
    look = router_->moves().PassOn(accepted.fd, &server, &bytes);
  }
  if (look == PortMoves::FirstLook::kTooEarly && may_wait) return false;
  const bool is_passed_on = look == PortMoves::FirstLook::kPassedOn;
  if (!is_welcome || is_passed_on) {
    if (!is_passed_on) close(accepted.fd);
    load_.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  Connection* connection = transport_->Open(accepted.fd, server);
  if (connection == nullptr) return true;
  if (connection->tls == nullptr && !router_->IsShared(connection->local_port)) {
    transport_->Announce(connection, 0);
  } else if (!bytes.empty()) {
    input_->Receive(connection, bytes);
  }
  transport_->Watch(connection);
  return true;
}

void Lane::SetConfig(uint32_t server_id, std::shared_ptr<const ServerConfig> config) {
  Post(
      [this, server_id, config = std::move(config)] {
        SweepServers();
        std::unique_ptr<LaneServer>& server = servers_[server_id];
        if (server == nullptr) {
          server = std::make_unique<LaneServer>();
          PortStatistics::Server* statistics = statistics_->ServerOf(server_id);
          server->queued = &statistics->queued;
          server->refused = &statistics->refused;
        }
        statistics_->ServerOf(server_id)->queue_limit = config->settings().queue_limit;
        server->id = server_id;
        server->is_unlistened = false;
        server->config = config;
      },
      CommandKind::kConfig);
}

void Lane::Unlisten(uint32_t server_id) {
  Post(
      [this, server_id] {
        const auto found = servers_.find(server_id);
        if (found != servers_.end()) {
          found->second->is_unlistened = true;
          is_late_due_ = true;
          EndOrMove(found->second.get());
        }
        SweepServers();
      },
      CommandKind::kUnlisten);
}

// Ends the server's idle connections, or moves them to another member: those without a request,
// which JavaScript has not heard of and cannot close, and those that have become idle since
// JavaScript looked.
void Lane::EndOrMove(LaneServer* server) {
  transport_->ForEach([&](Connection* connection) {
    if (!connection->is_open() || connection->server() != server || connection->stream != nullptr) {
      return;
    }
    if (connection->http2 != nullptr) {
      // The streams belong to other servers, which need the connection. The closed server waits for
      // it.
      if (connection->http2->streams != 0) transport_->Announce(connection, records::kFlagShared);
      return http2_->Shutdown(connection);
    }
    if (connection->slot.is_announced()) return exchanges_->EndIdle(connection);
    if (connection->phase() != InputPhase::kHandshake) return router_->Leave(connection);
    // A connection whose bytes are untouched can go to another member.
    if (!connection->sharing.is_hello_routed() && router_->MoveAway(connection)) return;
    transport_->Announce(connection, records::kFlagPending);
  });
}

void Lane::SweepServers() {
  std::erase_if(servers_, [](const auto& entry) {
    return entry.second->is_unlistened && entry.second->connections == 0;
  });
}

void Lane::Adopt(uint32_t server_id, const std::vector<int>& fds) {
  EnqueueAccepted(server_id, fds);
  Wake();
}

void Lane::EnqueueAccepted(uint32_t server_id, const std::vector<int>& fds) {
  load_.fetch_add(static_cast<uint32_t>(fds.size()), std::memory_order_relaxed);
  Enqueue(
      [this, server_id, fds] {
        for (const int fd : fds) accepted_.push_back({server_id, fd});
      },
      CommandKind::kAdopt);
}

void Lane::SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes,
                     std::function<void()> done) {
  Post(
      [this, routes = std::move(routes), done = std::move(done)] {
        if (!is_stopping_) {
          router_->SetRoutes(routes);
          // If the port has other members, their lanes share the CPUs with this one, and its work.
          SetPatient(router_->has_peers());
        }
        if (done) done();
      },
      CommandKind::kConfig);
}

void Lane::AnswerHello(uint32_t id, tls::HelloAnswer answer) {
  Post([this, id, answer = std::move(answer)] {
    Connection* connection = nullptr;
    if (is_stopping_ || !handshakes_->OnAnswer(id, answer, &connection)) return;
    input_->OnReadable(connection);
    transport_->watch()->CheckPending(connection);
  });
}

std::string Lane::AskTls(uint32_t slot, tls::Question question, std::string argument) {
  auto answer = std::make_shared<std::promise<std::string>>();
  std::future<std::string> result = answer->get_future();
  Post([this, slot, question, argument = std::move(argument), answer] {
    const Connection* connection = is_stopping_ ? nullptr : transport_->slots()->Find(slot);
    const bool has_tls = connection != nullptr && connection->tls != nullptr;
    answer->set_value(has_tls ? connection->tls->Ask(question, argument) : std::string());
  });
  return result.wait_for(std::chrono::milliseconds(limits::kTlsAskMs)) == std::future_status::ready
             ? result.get()
             : std::string();
}

void Lane::AcceptLink(int fd) {
  Post([this, fd] {
    if (is_stopping_) {
      close(fd);
    } else {
      router_->links().Accept(fd);
    }
  });
}

void Lane::CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                            uint64_t request_timeout_ms) {
  Post([this, server_id, headers_timeout_ms, request_timeout_ms] {
    const uint64_t now_ns = uv_hrtime();
    transport_->ForEach([&](Connection* connection) {
      if (!connection->is_open() || connection->server()->id != server_id) return;
      const uint64_t headers_ns = headers_timeout_ms * kNsPerMs;
      const uint64_t request_ns = request_timeout_ms * kNsPerMs;
      if (connection->http2 != nullptr || connection->stream != nullptr) {
        http2_->CheckTimeouts(connection, now_ns, headers_ns, request_ns);
      } else {
        http1_->CheckTimeouts(connection, now_ns, headers_ns, request_ns);
      }
    });
  });
}

void Lane::Drain(std::shared_ptr<DrainBarrier> barrier) {
  Post([this, barrier = std::move(barrier)] {
    if (is_stopping_) {
      barrier->Arrive();
    } else {
      drains_.push_back(barrier);
    }
  });
}

void Lane::RefuseAbandoned() {
  Post([this] {
    if (!is_stopping_) gate_->RefuseAbandoned();
  });
}

void Lane::AnswerDrains() {
  if (replies_.HasMore()) return;
  const bool is_sent = output_->pending_outputs() == 0 && !router_->links().HasUnacknowledged();
  std::erase_if(drains_, [=](const std::shared_ptr<DrainBarrier>& barrier) {
    if (!is_sent && barrier->goal() == DrainGoal::kSent) return false;
    barrier->Arrive();
    return true;
  });
}

}  // namespace httpsys::engine
