#include "engine/engine.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "engine/create_engine.h"

namespace httpsys::engine {
namespace {

// A non-blocking, close-on-exec duplicate, or a negative errno.
int Duplicate(int fd) {
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (copy == -1) return -errno;
  const int flags = fcntl(copy, F_GETFL);
  if (flags == -1 || fcntl(copy, F_SETFL, flags | O_NONBLOCK) == -1) {
    const int error = errno;
    close(copy);
    return -error;
  }
  return copy;
}

}  // namespace

Engine::Engine(BackendOptions options)
    : methods_(std::move(options.methods)),
      signal_(std::move(options.wake_consumer)),
      acceptor_([this](uint32_t server_id, int fd) { NextLane().Adopt(server_id, fd); }) {
  for (size_t i = 0; i < options.lanes.size(); ++i) {
    lanes_.push_back(std::make_unique<Lane>(i, options.lanes[i], &methods_, &signal_));
  }
}

Engine::~Engine() { Close(); }

int Engine::Start() {
  for (const auto& lane : lanes_) {
    if (const int failed = lane->Start(); failed != 0) return failed;
  }
  return acceptor_.Start();
}

Lane& Engine::NextLane() {
  // Ties go round, so that equal lanes get equal shares.
  const size_t first = next_lane_.fetch_add(1, std::memory_order_relaxed);
  Lane* best = lanes_[first % lanes_.size()].get();
  for (size_t i = 1; i < lanes_.size(); ++i) {
    Lane* lane = lanes_[(first + i) % lanes_.size()].get();
    if (lane->load() < best->load()) best = lane;
  }
  return *best;
}

uint32_t Engine::AddReplySegment(size_t lane, std::span<const uint8_t> memory) {
  return lanes_[lane]->replies().AddSegment(memory);
}

void Engine::WakeLane(size_t lane) {
  if (!is_closed_) lanes_[lane]->Wake();
}

void Engine::Wake(size_t lane) {
  if (!is_closed_) lanes_[lane]->WakeIfSleeping();
}

int Engine::Configure(uint32_t server_id, ServerSettings settings) {
  std::shared_ptr<const ServerConfig> config = ServerConfig::Create(std::move(settings));
  if (config == nullptr) return -EINVAL;
  if (is_closed_) return -EBADF;
  for (const auto& lane : lanes_) lane->SetConfig(server_id, config);
  return 0;
}

int Engine::Listen(uint32_t server_id, int fd, int backlog) {
  if (is_closed_) return -EBADF;
  if (listen(fd, backlog) != 0) return -errno;
  const int copy = Duplicate(fd);
  return copy < 0 ? copy : acceptor_.Add(server_id, copy);
}

void Engine::StopListening(int key) {
  if (!is_closed_) acceptor_.RemoveOne(key);
}

void Engine::Unlisten(uint32_t server_id) {
  if (is_closed_) return;
  acceptor_.Remove(server_id);
  for (const auto& lane : lanes_) lane->Unlisten(server_id);
}

int Engine::Adopt(uint32_t server_id, int fd) {
  if (is_closed_) return -EBADF;
  const int copy = Duplicate(fd);
  if (copy < 0) return copy;
  NextLane().Adopt(server_id, copy);
  return 0;
}

void Engine::CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                              uint64_t request_timeout_ms) {
  if (is_closed_) return;
  for (const auto& lane : lanes_) {
    lane->CheckConnections(server_id, headers_timeout_ms, request_timeout_ms);
  }
}

bool Engine::Drain(uint64_t timeout_ms, DrainGoal goal) {
  if (is_closed_) return true;
  const auto barrier = std::make_shared<DrainBarrier>(lanes_.size(), goal);
  for (const auto& lane : lanes_) lane->Drain(barrier);
  return barrier->Wait(timeout_ms);
}

// 1. No new connections, 2. each lane closes what it has. The lanes' objects stay for late calls.
void Engine::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  acceptor_.Stop();
  for (const auto& lane : lanes_) lane->Stop();
}

}  // namespace httpsys::engine

namespace httpsys {

std::unique_ptr<Backend> CreateEngine(BackendOptions options, int* status) {
  auto created = std::make_unique<engine::Engine>(std::move(options));
  *status = created->Start();
  if (*status == 0) return created;
  created->Close();
  return nullptr;
}

}  // namespace httpsys
