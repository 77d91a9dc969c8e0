#pragma once
// The interface of a backend towards the binding. A backend is an HTTP stack that turns connections
// into request records and reply records into bytes. The engine (Linux, macOS) has I/O threads and
// sockets of its own; the backend on HTTP.SYS (Windows) has a completion thread and the URLs of the
// kernel's server.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/block_store.h"
#include "base/fields.h"
#include "base/limits.h"
#include "records/consumer_signal.h"
#include "records/request_queue.h"
#include "url/url_prefix_table.h"

namespace httpsys {

// Arguments are plain values that could be sent to another process: each struct lists its fields
// for a Visitor. argument_codec_test encodes and decodes them.

// A descriptor as an argument. An encoder of arguments must pass it separately from the bytes. Each
// use says who owns it.
struct Descriptor {
  Descriptor() = default;
  explicit Descriptor(int number) : number(number) {}
  operator int() const { return number; }  // NOLINT(google-explicit-constructor)

  int number = -1;
};

// Ids of TLS settings (backend/tls_contexts.h).
enum class TlsContextId : uint32_t { kNone = 0 };
enum class TlsHostId : uint32_t { kNone = 0 };
enum class TicketKeysId : uint32_t { kNone = 0 };

// How much information a client gets with a 503, as in HTTP.SYS's HttpServer503VerbosityProperty.
enum class Http503Verbosity : uint8_t {
  kBasic,    // The client gets nothing: its connection is reset.
  kLimited,  // The client gets the status only.
  kFull,     // The client gets the status and its reason.
};

// The HTTP/2 settings of one server.
struct Http2Settings {
  bool is_plain = false;  // Plain connections may begin with HTTP/2.
  bool is_alone = false;  // Plain connections must begin with HTTP/2.
  uint32_t max_concurrent_streams = 100;
  uint32_t initial_window_size = 128 * 1024;  // The receive window of one stream.
  uint32_t max_frame_size = 16 * 1024;
  uint32_t header_table_size = 4096;
  uint32_t ping_interval = 0;        // ms; 0 = never.
  uint32_t stall_timeout = 120'000;  // ms; 0 = no limit.

  HTTPSYS_FIELDS(is_plain, is_alone, max_concurrent_streams, initial_window_size, max_frame_size,
                 header_table_size, ping_interval, stall_timeout);
};

// Settings for a kernel that serves HTTP by itself (KernelConfig of types/binding.d.ts). 0 = the
// kernel's default.
struct KernelSettings {
  uint32_t keep_alive_timeout = 0;  // Most seconds between two requests.
  uint32_t headers_timeout = 0;     // Most seconds to receive a head.
  uint32_t request_timeout = 0;     // Most seconds between two pieces of a body.
  uint32_t drain_entity_body = 0;   // Most seconds to receive the rest of a body after the answer.
  uint32_t request_queue = 0;       // Most seconds in the request queue.
  uint32_t min_send_rate = 0;       // Least bytes per second that a client must accept.

  uint32_t max_bandwidth = 0;  // Bytes per second.
  uint32_t max_connections = 0;
  uint32_t auth_schemes = 0;  // HTTP_AUTH_ENABLE_...
  bool allow_anonymous = true;
  // True if the kernel buffers responses and reports them as sent at once.
  bool buffer_responses = false;
  std::string log_directory;  // Empty = no log.
  bool log_is_ncsa = false;
  uint32_t log_rollover = 0;  // HTTP_LOGGING_ROLLOVER_TYPE
  uint32_t log_bytes_max = 0;

  HTTPSYS_FIELDS(keep_alive_timeout, headers_timeout, request_timeout, drain_entity_body,
                 request_queue, min_send_rate, max_bandwidth, max_connections, auth_schemes,
                 allow_anonymous, buffer_responses, log_directory, log_is_ncsa, log_rollover,
                 log_bytes_max);
};

// An address and port at which a server with prefixes begins or ends to serve HTTP, with or without
// TLS.
struct SpokenPlace {
  uint16_t port = 0;
  bool is_https = false;
  // No IP address = all addresses of the port. Without TLS only the port matters.
  LocalAddress address;
  bool is_there = true;  // False: the server has no prefix at this place any more.

  HTTPSYS_FIELDS(port, is_https, address, is_there);
};

struct NumberedPrefix {
  uint32_t id = 0;   // The server's number for the prefix.
  std::string text;  // The canonical form of the prefix.

  HTTPSYS_FIELDS(id, text);
};

// A folder whose files the lanes of a server send without JavaScript: the options of
// static_files::StaticOptions, which JavaScript has checked.
struct StaticMount {
  bool is_below_all = false;  // True if the folder is below each prefix of the server.
  uint32_t prefix_id = 0;     // The prefix that has the folder, unless is_below_all.
  bool owns_prefix = false;   // True if no folder with is_below_all applies to that prefix.
  // The URL path of the folder, decoded, with initial and final slash: the complete path or, with
  // is_below_all, relative to each prefix.
  std::string path;
  std::string root;  // The absolute path of the folder in the file system.
  bool fallthrough = true;
  uint8_t dotfiles = 0;  // static_files::Dotfiles
  bool redirect = true;
  bool cache_control = true;
  uint32_t max_age = 0;  // Seconds.
  bool immutable = false;
  bool etag = true;
  bool last_modified = true;
  bool accept_ranges = true;
  uint32_t precompressed = 0;  // One bit per static_files' ContentCoding.
  bool symlinks = false;
  std::vector<std::string> index;
  std::vector<std::string> extensions;
  std::vector<std::string> types;    // Alternately an extension and its type.
  std::vector<std::string> headers;  // Alternately pattern, name and value.

  bool operator==(const StaticMount&) const = default;

  HTTPSYS_FIELDS(is_below_all, prefix_id, owns_prefix, path, root, fallthrough, dotfiles, redirect,
                 cache_control, max_age, immutable, etag, last_modified, accept_ranges,
                 precompressed, symlinks, index, extensions, types, headers);
};

// A server's settings for the output cache. types/binding.d.ts says what each number means.
struct CacheSettings {
  uint32_t rules = 0;  // 0 = no cache; 1 = the rules of HTTP.SYS; 2 = RFC 9111.
  uint32_t max_entry_bytes = 1024 * 1024;
  uint32_t duration = 0;  // Seconds, as stale_while_revalidate and stale_if_error.
  uint32_t stale_while_revalidate = 0;
  uint32_t stale_if_error = 0;
  // Longest time (ms) that JavaScript may work on a request that the cache itself has made.
  uint32_t refresh_timeout = 60'000;
  // Longest time (ms) that a request may wait for the answer to an earlier request with the same
  // key.
  uint32_t coalesce_timeout = 5'000;
  bool heuristics = false;     // Last-Modified gives a lifetime to responses that name none.
  bool ignore_reload = false;  // Requests cannot demand a new response.
  bool status = false;         // Answers have the field Cache-Status.
  bool says_why = false;       // Cache-Status says why a response was not stored.
  // The codings in which stored answers are compressed: one bit per semantics' ContentCoding.
  uint32_t compress = 0;
  // Canonical prefixes whose answers are cached; empty = all prefixes of the server.
  std::vector<std::string> prefixes;
  // Names, in lower case, of request fields that do not influence any answer.
  std::vector<std::string> harmless_fields;

  HTTPSYS_FIELDS(rules, duration, max_entry_bytes, stale_while_revalidate, stale_if_error,
                 refresh_timeout, coalesce_timeout, heuristics, ignore_reload, status, says_why,
                 compress, prefixes, harmless_fields);
};

// The prefixes of a server, or their changes since the last configuration: a server may have many
// thousands, added one by one.
struct ServerPrefixes {
  // True if the server has no prefixes and serves every request on its sockets.
  bool is_everything = true;
  bool is_whole = true;  // True if `changes` has all prefixes, and `places` all places.
  std::vector<NumberedPrefix> changes;  // An empty text = the id is no longer in use.
  // The places of the prefixes, including lost prefixes whose sockets the server keeps.
  std::vector<SpokenPlace> places;

  HTTPSYS_FIELDS(is_everything, is_whole, changes, places);
};

// Settings of one listening server; types/binding.d.ts says what each means. A setting that is an
// option of the API has the option's name.
struct ServerSettings {
  size_t max_header_size = 16 * 1024;
  size_t max_header_lines = SIZE_MAX;
  uint64_t max_request_body_size = 0;  // 0 = no limit.
  uint32_t pipelined_requests_max = 16;
  // True if a connection stays open when the client ends its direction.
  bool allow_half_open = false;
  bool wants_errors = false;
  bool hears_upgrades = false;  // True if 'upgrade' has a listener.
  bool hears_timeouts = false;  // True if 'timeout' has a listener.
  bool requires_host = true;    // True if JavaScript refuses HTTP/1.1 requests without Host.
  // True if, once the server is closed, its connections end as soon as they are idle.
  bool ends_idle = true;
  // True until listen() calls back: other members already know the server, but it gets no requests
  // yet.
  bool is_opening = false;
  // Idle timeout of a connection on which only the engine has answered, until JavaScript sets
  // another one; 0 = none.
  uint32_t idle_ms = 5000;
  // The field Keep-Alive in answers of the engine (timeout, number of requests), as in node:http; 0
  // = omitted.
  uint32_t keep_alive_ms = 0;
  uint32_t max_requests_per_socket = 0;
  // True if URLs that HTTP.SYS refuses are refused: IsStrictTarget().
  bool strict_url = false;
  uint32_t max_url_bytes = 0;                // 0 = no limit.
  uint32_t max_connections_per_address = 0;  // Maximum per client address; 0 = no limit.
  uint32_t max_connections_per_prefix = 0;   // Maximum per prefix; 0 = no limit.
  // Maximum number of requests that JavaScript has not begun; 0 = no limit.
  uint32_t queue_limit = 0;
  // Longest time (ms) until JavaScript begins a request; 0 = no limit.
  uint32_t queue_timeout = 0;
  Http503Verbosity http_503_verbosity = Http503Verbosity::kFull;
  bool server_header = true;  // True if error responses of the engine have the field Server.
  // Least bytes per second that a client must acknowledge; 0 = no limit.
  uint32_t min_send_rate = 0;
  uint32_t send_rate_ms = 60'000;  // min_send_rate is averaged over at least this time.
  // Maximum bytes per second of output for each prefix; 0 = no limit.
  uint32_t max_bandwidth = 0;
  bool no_delay = true;
  bool keep_alive = false;
  uint32_t keep_alive_initial_delay = 0;  // Seconds.
  Http2Settings http2;
  ServerPrefixes prefixes;
  std::vector<StaticMount> statics;
  bool keeps_statics = false;  // True if the folders are unchanged; `statics` is then empty.
  // kNone = no TLS. A server without prefixes uses TLS on all its sockets; a server with prefixes
  // uses TLS only at the places that say so.
  TlsContextId tls{};
  uint32_t listening = 0;         // Grows with each listen() after close(); see tls::Maker.
  bool wants_tls_errors = false;  // True if 'tlsClientError' has a listener.
  CacheSettings cache;
  KernelSettings kernel;

  HTTPSYS_FIELDS(max_header_size, max_header_lines, max_request_body_size, pipelined_requests_max,
                 allow_half_open, wants_errors, hears_upgrades, hears_timeouts, requires_host,
                 ends_idle, is_opening, idle_ms, keep_alive_ms, max_requests_per_socket, strict_url,
                 max_url_bytes, max_connections_per_address, max_connections_per_prefix,
                 queue_limit, queue_timeout, http_503_verbosity, server_header, min_send_rate,
                 send_rate_ms, max_bandwidth, no_delay, keep_alive, keep_alive_initial_delay, http2,
                 prefixes, statics, keeps_statics, tls, listening, wants_tls_errors, cache, kernel);
};

// Flags for sharing a port with other servers (docs/port-sharing.md).
struct RegistrationFlags {
  bool is_plain = false;      // The server listens on a whole port, not on a prefix.
  bool is_ipv4 = false;       // With is_plain: the socket is bound to IPv4 only.
  bool is_exclusive = false;  // No other server may use the port.
  // With is_plain: a program that is no member of the port accepts connections and passes them to
  // the server by Adopt(), as the primary of a cluster does for its workers.
  bool is_fed = false;

  HTTPSYS_FIELDS(is_plain, is_ipv4, is_exclusive, is_fed);
};

enum class QueueMode : uint8_t { kCreate = 0, kCreateOrAttach = 1, kAttach = 2 };

struct Registration {
  uint32_t token = 0;  // Identifies the result of this registration.
  uint32_t server_id = 0;
  uint16_t port = 0;
  RegistrationFlags flags;
  QueueMode queue_mode = QueueMode::kCreate;
  std::string queue;  // The name of the queue; empty = not shared.
  std::vector<NumberedPrefix> prefixes;

  HTTPSYS_FIELDS(token, server_id, port, flags, queue_mode, queue, prefixes);
};

// Why a registration was refused, in addition to its errno. The numbers are part of the protocol
// between processes.
enum class ConflictReason : uint8_t {
  kNone = 0,
  kPrefix = 1,      // The prefix is registered, and at least one of the two servers names no queue.
  kOtherQueue = 2,  // The two servers name different queues.
  kQueueMode = 3,   // The queue exists, but queueMode is 'create'.
  kExclusiveThere = 4,   // A registered server has the port exclusively.
  kExclusiveWanted = 5,  // The new server wants the port exclusively, but others use it.
  kScheme = 6,           // TLS and plain connections would meet on one socket.
  kPlain = 7,            // Both servers listen on the whole port.
  kMembers = 8,          // The port has limits::kMembersMax members.
  kEntries = 9,          // The port has limits::kEntriesMax prefixes.
  // A ClientHello cannot tell the two prefixes apart, and their servers ask for certificates by
  // different rules.
  kTerms = 10,
};
inline constexpr ConflictReason kConflictReasonLast = ConflictReason::kTerms;

struct RegistrationResult {
  // 0 = an earlier registration is lost, because a new coordinator does not grant it again.
  uint32_t token = 0;
  int error = 0;       // A positive errno.
  uint32_t pid = 0;    // The process that owns the conflicting registration.
  uint32_t uid = 0;    // The owner of that process, if it is another user.
  std::string wanted;  // With kTerms: the conflicting prefix of this registration.
  std::string prefix;  // The conflicting prefix of the other registration.
  std::string queue;   // The queue of `prefix`; empty = none.
  ConflictReason reason = ConflictReason::kNone;
  // With EPROTO: the oldest and newest protocol version of the coordinator.
  uint16_t peer_oldest = 0;
  uint16_t peer_newest = 0;
  std::vector<Descriptor> sockets;  // Listening sockets of the port. The receiver must close them.
  // Addresses (an IP address or a wildcard) for which another program accepts and distributes
  // connections.
  std::vector<std::string> fed;

  HTTPSYS_FIELDS(token, error, pid, uid, wanted, prefix, queue, reason, peer_oldest, peer_newest,
                 sockets, fed);
};

// The listening sockets of a port, as in RegistrationResult.
struct PortSockets {
  std::vector<Descriptor> sockets;
  std::vector<std::string> fed;

  HTTPSYS_FIELDS(sockets, fed);
};

// The result of Meet().
enum class Meeting : int {
  kOurs = 0,
  kMember = 1,
  kTaken = 2,
  kStrangers = 3,  // Another user's process has the name of the port.
};

// Another user's process that has the name of a port.
struct Stranger {
  uint32_t uid = 0;
  uint32_t pid = 0;  // 0 = unknown, because the process does not listen.

  HTTPSYS_FIELDS(uid, pid);
};

// JavaScript's decision about a ClientHello, or its confirmation of new sessions.
struct HelloReply {
  bool is_refused = false;
  std::string reason;  // The text of the failure, if is_refused.
  TlsHostId host{};    // The host whose certificate is used; kNone = the server's own certificate.
  bool has_alpn = false;
  std::string alpn;     // The chosen protocol; empty = none of the offered ones. Valid if has_alpn.
  std::string session;  // The stored session with the id of the kHello record; empty = none.
  std::string status;   // The OCSP response; empty = none.

  HTTPSYS_FIELDS(is_refused, reason, host, has_alpn, alpn, session, status);
};

enum class DrainGoal : uint8_t {
  // All replies are handled, and connections that should be closed are closed; bytes may be unsent.
  kHandled,
  kSent,
};

struct LaneMemory {
  int32_t* control = nullptr;  // The control block, of records::kControlWords words.
  std::vector<std::span<uint8_t>> segments;
  // Maximum bytes of requests of the process that JavaScript has not begun; further requests are
  // parked.
  uint64_t queue_bytes_max = limits::kQueueBytesMax;
};

struct BackendOptions {
  std::vector<LaneMemory> lanes;  // All memory must stay valid until Close() has returned.
  std::vector<std::string> methods;
  std::function<void()> wake_consumer;  // Thread: any.
};

// The capabilities of a backend. JavaScript and the tests check these members, never the platform.
// types/binding.d.ts describes each one.
struct BackendCapabilities {
  const char* name = "";
  uint32_t lanes_max = 0;
  bool listens_on_sockets = false;
  bool keeps_header_lines = false;
  bool sees_connections = false;
  bool sees_refused_messages = false;
  bool sees_disconnects = false;
  bool aborts = false;
  bool upgrades = false;
  bool informational = false;
  bool pipelines = false;
  bool chunked_bodies = false;
  bool body_pieces = false;
  bool slow_readers = false;
  bool native_frames = false;
  bool named_queues = false;
  bool caches = false;
  bool cache_rules = false;
  uint32_t cache_codings = 0;  // Codings for which node has encoders, as CacheSettings::compress.
  bool sends_files = false;
  bool serves_files = false;
  bool kernel_options = false;
  bool system_certificates = false;
  bool foreign_hosts = false;
  bool ipv6 = false;
};

// A backend. Statuses are 0 or a negative errno. Lane numbers are below lane_count(). Thread: the
// JavaScript thread that made the backend, for every method.
class Backend {
 public:
  Backend& operator=(Backend&&) = delete;
  virtual ~Backend() = default;

  virtual size_t lane_count() const = 0;
  // The queue of request records of a lane. The reader must call WakeLane() when Consume() returns
  // true.
  virtual RequestQueue& requests(size_t lane) = 0;
  virtual ConsumerSignal& signal() = 0;

  // Adds memory for reply records, which must stay valid until Close() has returned. Returns its
  // id.
  virtual uint32_t AddReplySegment(size_t lane, std::span<const uint8_t> memory) = 0;
  // Blocks of JavaScript's memory from which the lane sends.
  virtual LentMemory& lent(size_t lane) = 0;
  // Makes a block from a part of a file. The lane reads and sends it where a kBlock record names
  // the block. `kept_id` names a file of FileBackend; 0 = the file of the descriptor, which may be
  // closed after the call. Returns the id of the block, or a negative errno.
  virtual int64_t SendFile(size_t lane, Descriptor fd, uint32_t kept_id, uint64_t start,
                           uint64_t bytes) = 0;
  // WakeLane() always wakes the lane; Wake() only if it sleeps.
  virtual void WakeLane(size_t lane) = 0;
  virtual void Wake(size_t lane) = 0;

  // Creates or changes a server. Returns -EINVAL if a prefix is not canonical.
  virtual int Configure(uint32_t server_id, ServerSettings settings) = 0;
  // Stops listening. The server is removed when its last connection has ended.
  virtual void Unlisten(uint32_t server_id) = 0;
  // Refuses requests, and closes connections, that are older than the timeouts; 0 = no limit.
  virtual void CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                                uint64_t request_timeout_ms) = 0;

  // Blocks until all published replies have reached the goal, but no longer than the timeout.
  // Returns true if they have reached it.
  virtual bool Drain(uint64_t timeout_ms, DrainGoal goal) = 0;
  // Ends the threads and closes every connection. Idempotent.
  virtual void Close() = 0;
};

// A file that a backend keeps open.
struct KeptFile {
  uint32_t id = 0;  // 0 = no file.
  // For messages to people only: the backend may close the file, and open it again.
  Descriptor number;
  uint64_t bytes = 0;

  HTTPSYS_FIELDS(id, number, bytes);
};

// The files that a backend keeps open for responses of JavaScript. Thread: JavaScript.
class FileBackend {
 public:
  virtual ~FileBackend() = default;

  // Finds the open file of an absolute path, if the path still names that file.
  virtual KeptFile Find(const std::string& path) = 0;
  // Takes over a descriptor that was opened for reading by this absolute path. If the file cannot
  // be kept, the returned id is 0, and the descriptor remains the caller's.
  virtual KeptFile Keep(const std::string& path, Descriptor fd) = 0;
  // Returns a descriptor that stays open until Release(), or a negative errno. ESTALE: the path now
  // names another file, or the file has changed.
  virtual Descriptor Pin(uint32_t id) = 0;
  // Returns these bytes if they are in memory; empty if they are not, or if the file is shorter.
  virtual std::string ReadNow(uint32_t id, uint64_t start, uint32_t bytes) = 0;
  // Must be called when JavaScript does not use the file any more; it may still be sent.
  virtual void Release(uint32_t id) = 0;
};

// An entry of the output cache, as shown to people.
struct CacheEntry {
  static constexpr std::array kNames{"url",  "status",    "policy",    "created", "seconds",
                                     "hits", "headBytes", "bodyBytes", "varies"};
  static constexpr size_t kItemsMax = 0xffff;  // Limit of a list in a frame of peer/codec.h.

  std::string url;  // The URL, with the request's Host as received.
  uint32_t status = 0;
  uint32_t policy = 0;     // 0 = RFC 9111; otherwise records::CachePolicy.
  uint64_t created_s = 0;  // Time of its creation, in seconds since 1970.
  uint32_t seconds = 0;    // Lifetime from its creation on; 0 with a policy without an end.
  uint32_t hits = 0;       // The hits that eviction counts, up to 3.
  uint32_t head_bytes = 0;
  uint32_t body_bytes = 0;
  bool varies = false;  // True if the entry is one of several variants.

  HTTPSYS_FIELDS(url, status, policy, created_s, seconds, hits, head_bytes, body_bytes, varies);
};

// A number about the output cache, with its name in JavaScript.
struct CacheFigure {
  std::string name;
  uint64_t value = 0;

  HTTPSYS_FIELDS(name, value);
};

// The numbers of the output cache for one server.
struct CacheStatistics {
  std::vector<CacheFigure> figures;
  // Responses that were not stored, by reason; zeros are omitted.
  std::vector<CacheFigure> refused;

  HTTPSYS_FIELDS(figures, refused);
};

// The output cache of the process, as seen by one backend. Thread: JavaScript.
class CacheBackend {
 public:
  virtual ~CacheBackend() = default;

  // Limits the memory of the process' entries; if several backends of a process set a limit, the
  // largest applies. `port_bytes` limits the caches of all processes of a port together: 0 = the
  // default; the smallest limit applies.
  virtual void SetBytes(uint64_t bytes, uint64_t port_bytes) = 0;
  // Removes the entries for a URL of the server, or for all URLs below it; all entries if `url` is
  // empty. A `*` or `+` as host means every host. Returns the number of entries, or -EINVAL if
  // `url` is no URL.
  virtual int64_t Flush(uint32_t server_id, const std::string& url, bool is_recursive) = 0;
  // Returns at most `limit` entries of the server for a URL and everything below it; for all URLs
  // if `prefix` is empty.
  virtual std::vector<CacheEntry> Entries(uint32_t server_id, const std::string& prefix,
                                          uint32_t limit) = 0;
  virtual CacheStatistics Statistics(uint32_t server_id) = 0;
};

// A backend that serves given sockets, and shares ports with other processes by our own protocol.
class SocketBackend : public Backend {
 public:
  // `files` and `cache` point to members of the derived object.
  SocketBackend(FileBackend* files, CacheBackend* cache) : files_(files), cache_(cache) {}

  // Listens on a duplicate of a bound descriptor. Returns a key above 0, or a negative errno.
  // `may_lend` allows a lane to accept, because no other process has the socket and connections
  // begin with handshakes.
  virtual int Listen(uint32_t server_id, Descriptor fd, int backlog, bool may_lend) = 0;
  // Closes the duplicate before it returns. The server continues to exist.
  virtual void StopListening(int key) = 0;
  FileBackend& files() { return *files_; }
  CacheBackend& cache() { return *cache_; }
  // Serves a duplicate of a connected descriptor.
  virtual int Adopt(uint32_t server_id, Descriptor fd) = 0;

  // -- Port sharing. No call waits for another process.

  // Sets the number of this engine's thread and the name of its program, for messages to people.
  virtual void Introduce(uint32_t thread, std::string program) = 0;
  // Takes the meeting place of a port if it is free. Returns a Meeting, or a negative errno.
  // `stranger` is set if the result is kStrangers.
  virtual int Meet(uint16_t port, Stranger* stranger) = 0;
  // Takes a port without a meeting place: the servers of this engine share it, and no other engine
  // can join. Returns 0 or a negative errno.
  virtual int TakeAlone(uint16_t port) = 0;
  // Shares a listening socket of the port, from which the server accepts, with the other members.
  // The first member of the port has it alone until it has contributed its last socket (`is_last`).
  // Returns 0 or a negative errno.
  virtual int Contribute(uint16_t port, uint32_t server_id, Descriptor fd, bool is_last) = 0;
  // Makes the server stop accepting from the socket. Other servers continue to accept from it; if
  // there are none, the socket is closed.
  virtual void Withdraw(uint16_t port, Descriptor fd) = 0;
  // Returns the current sockets of the port's members; nothing if this engine is no member.
  virtual PortSockets Sockets(uint16_t port) = 0;
  // Opens a socket that listens on every address of a port except those of the sockets `narrower`.
  // Returns a descriptor, which the caller must close, or a negative errno.
  virtual int ListenBeside(uint16_t port, int backlog, const std::vector<Descriptor>& narrower) = 0;
  // Registers prefixes. Returns true if `result` is final; otherwise TakeResult() returns the
  // result after a wake.
  virtual bool Register(const Registration& wanted, RegistrationResult* result) = 0;
  virtual bool TakeResult(RegistrationResult* result) = 0;
  // Changes the rules for client certificates of a server; must be called before it is configured
  // with this context. Returns false, and changes nothing, if the server of another prefix, which a
  // ClientHello cannot tell apart from one of this server, has other rules; `conflict` then names
  // that prefix.
  virtual bool ChangeTerms(uint32_t server_id, TlsContextId context,
                           RegistrationResult* conflict) = 0;
  // Removes some of a server's prefixes, or all if `prefix_ids` is empty. Requests wait for a new
  // owner for `wait_ms`. With a token, TakeResult() reports when all members know of the removal.
  // With `stays`, the server continues to listen, even without any prefix. Returns true if other
  // members are on the port.
  virtual bool Unregister(uint16_t port, uint32_t server_id, std::vector<uint32_t> prefix_ids,
                          uint32_t wait_ms, uint32_t token, bool stays) = 0;
  // Replaces the reserved prefixes (canonical). Requests for a reserved prefix that no server has
  // registered get 503.
  virtual void Reserve(uint16_t port, const std::vector<std::string>& prefixes) = 0;
  // Leaves a port on which nothing was registered.
  virtual void Leave(uint16_t port) = 0;

  // Answers waiting requests with 503, because JavaScript will not begin them.
  virtual void RefuseAbandoned() = 0;
  // Returns whether, and how, the lane has claimed the request that JavaScript is about to begin; a
  // second call returns kNone.
  virtual records::Claim TakeClaim(size_t lane) = 0;
  // Answers a kHello or kNewSession record. Does nothing if its connection has ended.
  virtual void AnswerHello(size_t lane, uint32_t id, HelloReply reply) = 0;
  // Asks the lane about an open connection (tls::Question) and waits. Returns an empty string if
  // the lane does not answer.
  virtual std::string AskTls(size_t lane, uint32_t slot, uint32_t question,
                             std::string argument) = 0;

 private:
  FileBackend* const files_;
  CacheBackend* const cache_;
};

struct UrlResult {
  uint32_t status = 0;       // The system's error code.
  std::string property;      // The option that was refused; empty = the URL or queue was refused.
  bool is_attached = false;  // The queue and its URLs belong to another process.

  HTTPSYS_FIELDS(status, property, is_attached);
};

// A backend that is given URLs: the operating system listens, and all processes share its ports.
class UrlBackend : public Backend {
 public:
  // Opens the request queue of a server, with the server's present configuration. Must be called
  // before AddUrl(). With a name, other processes may receive requests from the same queue.
  virtual UrlResult OpenQueue(uint32_t server_id, const std::string& name, QueueMode mode) = 0;
  // Adds a URL (a canonical prefix). After it has returned 0, the server receives the requests
  // below the URL, with `prefix_id` from its ServerSettings.
  virtual UrlResult AddUrl(uint32_t server_id, uint32_t prefix_id, const std::string& url) = 0;
  // Removes a URL. Requests that were received before are still answered.
  virtual void RemoveUrl(uint32_t server_id, uint32_t prefix_id) = 0;
  // Removes the responses for a URL, or for all URLs below it, from the kernel's cache. Returns the
  // system's error code; 0 = done.
  virtual uint32_t FlushCache(uint32_t server_id, const std::string& url, bool is_recursive) = 0;
};

}  // namespace httpsys
