#pragma once
// The engine: the backend of systems without an HTTP stack in their kernel.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/port_report.h"

namespace httpsys {

inline constexpr BackendCapabilities kEngineCapabilities = {
    .name = "engine",
    .lanes_max = 64,  // More lanes would only take memory from each other.
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

// Opens the error log of the process if it is not open, and sets its path. Returns 0 or, for the
// first failure only, a positive errno.
int OpenErrorLog(std::string* path);

// Enables lines about refused requests on stderr, unless the error log of the process is open.
// `page` is the documentation that the lines refer to.
void TellRefusals(const std::string& page);

// Returns the codings in which stored answers can be compressed, as
// BackendCapabilities::cache_codings: the codings for which the running program has encoders.
uint32_t CacheCodings();

// Returns true if the running program has the functions of nghttp2.
bool HasHttp2();

// Sets the directory in which members of a shared port find each other; see
// sharing::UseRuntimeDirectory().
int ChooseRuntimeDirectory(const std::string& path);
// Returns the name of a port's meeting place; see sharing::PortName().
std::string MeetingPlaceOf(uint16_t port);
// Asks for the servers and prefixes on a port; see sharing::QueryState(). Blocks for up to
// limits::kStateMs.
int AskServiceState(uint16_t port, const CacheQuestion& question, PortReport* report);

// A self-signed certificate for development; no client trusts it.
struct DevCertificate {
  std::string key;  // PEM; empty if making it failed.
  std::string certificate;
};

// Makes a certificate for these host names and addresses. Thread: any.
DevCertificate CreateDevCertificate(const std::vector<std::string>& names, int days);

}  // namespace httpsys
