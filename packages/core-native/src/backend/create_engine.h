#pragma once
// The engine: the backend of systems without an HTTP stack in their kernel.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace httpsys {

inline constexpr BackendCapabilities kEngineCapabilities = {
    .name = "engine",
    .lanes_max = 64,  // Beyond this, threads only take memory from each other.
    .listens_on_sockets = true,
    .keeps_header_lines = true,
    .sees_connections = true,
    .sees_refused_messages = true,
    .sees_disconnects = true,
    .aborts = true,
    .upgrades = true,
    .informational = true,
    .pipelines = true,
    .chunked_bodies = true,
    .body_pieces = true,
    .slow_readers = true,
    .native_frames = true,
    .named_queues = true,
    .caches = true,
    .cache_rules = true,
    .sends_files = true,
    .serves_files = true,
    .foreign_hosts = true,
    .ipv6 = true,
};

// Makes an engine and starts its threads. Returns nullptr, and sets *status to a negative errno, if
// a thread cannot be started.
std::unique_ptr<SocketBackend> CreateEngine(BackendOptions options, int* status);

// Opens the error log of the process if it is not open. Returns 0; or, once, the positive errno why
// it cannot be opened. Sets the path.
int OpenErrorLog(std::string* path);

// Lets the process write lines about refused requests to stderr, unless its error log is open.
// `page` says where they are explained.
void TellRefusals(const std::string& page);

// Returns the codings in which stored answers can be compressed, as
// BackendCapabilities::cache_codings: those whose encoders the running program has.
uint32_t CacheCodings();

// Returns true if the running program has the functions that HTTP/2 needs.
bool HasHttp2();

// Chooses the directory of all names under which members of a shared port find each other, as
// sharing::UseRuntimeDirectory().
int ChooseRuntimeDirectory(const std::string& path);
// The name of the meeting place of a port, as sharing::PortName().
std::string MeetingPlaceOf(uint16_t port);
// A question to the output caches of a port: nothing; entries, up to `limit` of each member; or
// that they forget entries.
struct CacheQuestion {
  enum class Wants : uint8_t { kNothing, kEntries, kFlush, kFlushBelow };

  Wants wants = Wants::kNothing;
  uint32_t limit = 0;
  std::string url;  // Empty = everything.
};

// Asks who listens on a port, as sharing::QueryState(). Blocks for up to limits::kStateMs.
int AskServiceState(uint16_t port, const CacheQuestion& question, std::string* text);

// A self-signed certificate for development, trusted by nobody.
struct DevCertificate {
  std::string key;  // PEM; empty if it could not be made.
  std::string certificate;
};

// Makes a certificate for these host names and addresses. Thread: any.
DevCertificate CreateDevCertificate(const std::vector<std::string>& names, int days);

}  // namespace httpsys
