#include "sharing/state_query.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <cerrno>

#include "base/descriptors.h"
#include "base/limits.h"
#include "peer/frame_reader.h"
#include "sharing/meeting_place.h"

namespace httpsys::sharing {
namespace {

constexpr int kRetryMs = 5;

// Waits until there is something to read. Returns 0 or a negative errno, perhaps -ETIMEDOUT.
int WaitReadable(int fd, uint64_t deadline_ms) {
  const uint64_t now_ms = uv_hrtime() / 1'000'000;
  if (now_ms >= deadline_ms) return -ETIMEDOUT;
  pollfd watched{fd, POLLIN, 0};
  const int ready = poll(&watched, 1, static_cast<int>(deadline_ms - now_ms));
  if (ready < 0 && errno != EINTR) return -errno;
  return ready == 0 ? -ETIMEDOUT : 0;
}

int ReadState(int fd, uint64_t deadline_ms, PortReport* report) {
  peer::FrameReader reader;
  for (;;) {
    if (const int failed = WaitReadable(fd, deadline_ms); failed != 0) return failed;
    char buffer[16 * 1024];
    const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    if (got == 0) return -ECONNRESET;
    if (got < 0 && errno != EAGAIN && errno != EINTR) return -errno;
    if (got < 0) continue;
    reader.Append({buffer, static_cast<size_t>(got)});
    peer::Frame frame;
    for (;;) {
      const peer::FrameReader::Result result = reader.Next(&frame);
      if (result == peer::FrameReader::Result::kBad) return -EPROTO;
      if (result == peer::FrameReader::Result::kNeedMore) break;
      if (frame.type != peer::FrameType::kState) continue;
      return peer::Decode(frame.payload, report) ? 0 : -EPROTO;
    }
  }
}

}  // namespace

int QueryState(uint16_t port, uint64_t timeout_ms, PortReport* report, std::string_view query) {
  const uint64_t deadline_ms = uv_hrtime() / 1'000'000 + timeout_ms;
  uint32_t rank = 0;
  int fd = ConnectToCoordinator(port, &rank);
  // The coordinator may have ended a moment ago: wait until the members have elected another one.
  const uint64_t election_ms = uv_hrtime() / 1'000'000 + limits::kElectionMs;
  while ((fd == -ECONNREFUSED || fd == -ENOENT) && uv_hrtime() / 1'000'000 < election_ms) {
    poll(nullptr, 0, kRetryMs);
    fd = ConnectToCoordinator(port, &rank);
  }
  if (fd < 0) return fd;
  Credentials credentials;
  int status = ReadCredentials(fd, &credentials) && credentials.uid == geteuid() ? 0 : -EACCES;
  if (status == 0) {
    const std::string frame =
        peer::FrameHeader(peer::FrameType::kStateQuery, query.size(), 0).append(query);
    // The few kilobytes fit into the empty send buffer of a new connection.
    const auto bytes = static_cast<ssize_t>(frame.size());
    if (send(fd, frame.data(), frame.size(), kSendFlags) != bytes) status = -EPIPE;
  }
  if (status == 0) status = ReadState(fd, deadline_ms, report);
  if (status == 0 && report->port != port) status = -EPROTO;
  close(fd);
  return status;
}

}  // namespace httpsys::sharing
