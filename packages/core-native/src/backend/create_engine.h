#pragma once
// The engine: the backend of systems without an HTTP stack in their kernel.

#include <memory>
#include <string>

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
    .foreign_hosts = true,
    .ipv6 = true,
};

// Starts the threads. nullptr and a negative errno when one of them cannot be started.
std::unique_ptr<SocketBackend> CreateEngine(BackendOptions options, int* status);

// Opens the error log of the process, unless it is. 0; or once the positive errno why that is not
// possible, with the path.
int OpenErrorLog(std::string* path);

// Whether the running program has what HTTP/2 needs.
bool HasHttp2();

}  // namespace httpsys
