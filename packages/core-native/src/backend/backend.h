#pragma once
// The interface of a backend towards the binding. A backend is an HTTP stack that turns connections
// into request records and reply records into bytes. The engine (Linux, macOS) has I/O threads and
// sockets of its own; the backend on HTTP.SYS (Windows) has a completion thread and the URLs of the
// kernel's server.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/block_store.h"
#include "base/limits.h"
#include "records/consumer_signal.h"
#include "records/request_queue.h"
#include "url/url_prefix_table.h"

namespace httpsys {

// Arguments are values, which could be sent to another process: each struct lists its fields for a
// Visitor. argument_codec_test encodes and decodes them.

// A descriptor. What encodes arguments passes it on beside the bytes. Its owner is as said where it
// is used.
struct Descriptor {
  Descriptor() = default;
  explicit Descriptor(int number) : number(number) {}
  operator int() const { return number; }  // NOLINT(google-explicit-constructor)

  int number = -1;
};

// Names of TLS settings (backend/tls_contexts.h).
enum class TlsContextId : uint32_t { kNone = 0 };
enum class TlsHostId : uint32_t { kNone = 0 };
enum class TicketKeysId : uint32_t { kNone = 0 };

// How much a client learns from a 503, as in HTTP.SYS's HttpServer503VerbosityProperty.
enum class Verbosity503 : uint8_t {
  kBasic,    // Nothing: the connection is reset.
  kLimited,  // The status.
  kFull,     // The status and its reason.
};

// The HTTP/2 settings of one server.
struct Http2Settings {
  bool is_plain = false;  // Plain connections may begin with HTTP/2.
  bool is_alone = false;  // Plain connections must use HTTP/2.
  uint32_t streams_max = 100;
  uint32_t window_bytes = 128 * 1024;  // The receive window of one stream.
  uint32_t frame_bytes_max = 16 * 1024;
  uint32_t header_table_bytes = 4096;
  uint32_t ping_ms = 0;         // 0 = never.
  uint32_t stall_ms = 120'000;  // 0 = no limit.

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(is_plain, is_alone, streams_max, window_bytes, frame_bytes_max, header_table_bytes,
          ping_ms, stall_ms);
  }
};

// Settings for a kernel that serves by itself (KernelConfig of types/binding.d.ts). 0 = the
// kernel's default.
struct KernelSettings {
  // Timeouts, in seconds.
  uint32_t idle_s = 0;         // Between two requests.
  uint32_t header_s = 0;       // To receive a head.
  uint32_t body_s = 0;         // Between two pieces of a body.
  uint32_t drain_s = 0;        // To receive the rest of a body whose request is answered.
  uint32_t queue_s = 0;        // In the request queue.
  uint32_t send_rate_min = 0;  // Bytes per second that a client must take.

  uint32_t bandwidth_max = 0;  // Bytes per second.
  uint32_t connections_max = 0;
  uint32_t auth_schemes = 0;  // HTTP_AUTH_ENABLE_...
  bool allows_anonymous = true;
  // The kernel buffers responses, and reports them as sent at once.
  bool buffers_responses = false;
  std::string log_directory;  // Empty = no log.
  bool log_is_ncsa = false;
  uint32_t log_rollover = 0;  // HTTP_LOGGING_ROLLOVER_TYPE
  uint32_t log_bytes_max = 0;

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(idle_s, header_s, body_s, drain_s, queue_s, send_rate_min, bandwidth_max, connections_max,
          auth_schemes, allows_anonymous, buffers_responses, log_directory, log_is_ncsa,
          log_rollover, log_bytes_max);
  }
};

// A place where a server with prefixes begins or ends to speak HTTP with TLS, or without.
struct SpokenPlace {
  uint16_t port = 0;
  bool is_https = false;
  // No IP address = all addresses of the port. Without TLS only the port is told.
  LocalAddress address;
  bool is_there = true;  // False: no prefix is there any more.

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(port, is_https, address, is_there);
  }
};

struct NumberedPrefix {
  uint32_t id = 0;   // The server's own number of the prefix.
  std::string text;  // Canonical.

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(id, text);
  }
};

// A folder whose files the lanes of a server send without JavaScript: the options of
// static_files::StaticOptions, which JavaScript has checked.
struct StaticMount {
  bool is_below_all = false;  // The folder is below each prefix of the server.
  uint32_t prefix_id = 0;     // Otherwise: the prefix at which it is.
  bool owns_prefix = false;   // No folder that is_below_all is below that prefix.
  // Decoded, from '/' on, with a final slash. With the path of the prefix, or relative to each.
  std::string path;
  std::string root;  // An absolute path.
  bool fallthrough = true;
  uint8_t dotfiles = 0;  // static_files::Dotfiles
  bool redirect = true;
  bool cache_control = true;
  uint32_t max_age_s = 0;
  bool immutable = false;
  bool etag = true;
  bool last_modified = true;
  bool accept_ranges = true;
  uint32_t precompressed = 0;  // Bits by static_files' ContentCoding.
  bool follows_links = false;
  std::vector<std::string> index;
  std::vector<std::string> extensions;
  std::vector<std::string> types;    // An extension and its type, by turns.
  std::vector<std::string> headers;  // Pattern, name and value, by turns.

  bool operator==(const StaticMount&) const = default;

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(is_below_all, prefix_id, owns_prefix, path, root, fallthrough, dotfiles, redirect,
          cache_control, max_age_s, immutable, etag, last_modified, accept_ranges, precompressed,
          follows_links, index, extensions, types, headers);
  }
};

// How a server uses the output cache. types/binding.d.ts says what each number means.
struct CacheSettings {
  enum Flags : uint32_t {
    kHeuristics = 1u << 0,
    kIgnoresReload = 1u << 1,
    kTellsStatus = 1u << 2,
    kTellsReason = 1u << 3,
  };

  uint32_t rules = 0;  // 0 = no cache; 1 = those of HTTP.SYS; 2 = RFC 9111.
  uint32_t default_s = 0;
  uint32_t entry_bytes_max = 1024 * 1024;
  uint32_t stale_while_revalidate_s = 0;
  uint32_t stale_if_error_s = 0;
  // How long JavaScript may work on a request that the cache makes itself.
  uint32_t refresh_ms = 60'000;
  // How long a request may wait for the answer to another one with its key.
  uint32_t coalesce_ms = 5'000;
  uint32_t flags = 0;
  // In which stored answers are compressed: bits by semantics' ContentCoding.
  uint32_t codings = 0;
  // Canonical prefixes of the server; empty = all of them.
  std::vector<std::string> prefixes;
  // Names of fields, in lower case, on which no answer depends.
  std::vector<std::string> harmless_fields;

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(rules, default_s, entry_bytes_max, stale_while_revalidate_s, stale_if_error_s, refresh_ms,
          coalesce_ms, flags, codings, prefixes, harmless_fields);
  }
};

// The prefixes of a server, or how they have changed since it was configured last: a server may
// have many thousands, and add them one by one.
struct ServerPrefixes {
  bool is_everything = true;  // The server has none, and serves everything on its sockets.
  bool is_whole = true;       // `changes` has all prefixes, and `places` all places.
  std::vector<NumberedPrefix> changes;  // An empty text = the id is not in use any more.
  // The places of the prefixes, also of those that the server has lost but keeps the sockets of.
  std::vector<SpokenPlace> places;

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(is_everything, is_whole, changes, places);
  }
};

// Settings of one listening server; types/binding.d.ts says what each means.
struct ServerSettings {
  size_t header_bytes_max = 16 * 1024;
  size_t header_lines_max = SIZE_MAX;
  uint64_t body_bytes_max = 0;  // 0 = no limit.
  uint32_t pipelined_requests_max = 16;
  // A connection stays open when the peer ends its direction.
  bool allow_half_open = false;
  bool wants_errors = false;
  bool hears_upgrades = false;  // 'upgrade' has a listener.
  bool hears_timeouts = false;  // 'timeout' has a listener.
  bool requires_host = true;    // JavaScript refuses requests of HTTP/1.1 without Host.
  // When the server is closed, its connections end as soon as they are idle.
  bool ends_idle = true;
  // listen() has not called back: others know of the server already, but it has no requests yet.
  bool is_opening = false;
  // How long a connection may be idle, as long as JavaScript has told nothing of that connection:
  // after answers of the engine; 0 = for ever.
  uint32_t idle_ms = 5000;
  // What answers say of these two, as those of node:http; 0 = nothing.
  uint32_t keep_alive_ms = 0;
  uint32_t connection_requests_max = 0;
  bool is_url_strict = false;           // Refuse URLs that HTTP.SYS refuses: IsStrictTarget().
  uint32_t connections_per_client = 0;  // Connections with one address; 0 = no limit.
  uint32_t connections_per_prefix = 0;  // 0 = no limit.
  uint32_t queue_limit = 0;             // Requests not begun by JavaScript; 0 = no limit.
  uint32_t queue_timeout_ms = 0;        // The time until JavaScript begins a request; 0 = no limit.
  Verbosity503 verbosity_503 = Verbosity503::kFull;
  bool names_server = true;        // Errors of the engine have the field Server.
  uint32_t send_rate_min = 0;      // Bytes per second that a client acknowledges; 0 = no limit.
  uint32_t send_rate_ms = 60'000;  // Averaged over at least this time.
  // Bytes per second of output that each prefix may send; 0 = no limit.
  uint32_t bandwidth_max = 0;
  bool no_delay = true;
  bool keep_alive = false;
  uint32_t keep_alive_delay_s = 0;
  Http2Settings http2;
  ServerPrefixes prefixes;
  std::vector<StaticMount> statics;
  bool keeps_statics = false;  // The folders are those of before, and `statics` is empty.
  // kNone = no TLS. Without prefixes TLS is spoken everywhere, otherwise where a place says so.
  TlsContextId tls{};
  uint32_t listening = 0;         // Grows with each listen() after close(): see tls::Maker.
  bool wants_tls_errors = false;  // 'tlsClientError' has a listener.
  CacheSettings cache;
  KernelSettings kernel;

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(header_bytes_max, header_lines_max, body_bytes_max, pipelined_requests_max,
          allow_half_open, wants_errors, hears_upgrades, hears_timeouts, requires_host, ends_idle,
          is_opening, idle_ms, keep_alive_ms, connection_requests_max, is_url_strict,
          connections_per_client, connections_per_prefix, queue_limit, queue_timeout_ms,
          verbosity_503, names_server, send_rate_min, send_rate_ms, bandwidth_max, no_delay,
          keep_alive, keep_alive_delay_s, http2, prefixes, statics, keeps_statics, tls, listening,
          wants_tls_errors, cache, kernel);
  }
};

// How a server shares a port with others (docs/port-sharing.md).
struct RegistrationFlags {
  bool is_plain = false;      // The server listens on a port, not on a prefix.
  bool is_ipv4 = false;       // With is_plain: bound to IPv4 only.
  bool is_exclusive = false;  // No other server may be on the port.
  // With is_plain: a program that is no member of the port accepts for the server, as the primary
  // of a cluster does for its workers. The server gets its connections by Adopt().
  bool is_fed = false;

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(is_plain, is_ipv4, is_exclusive, is_fed);
  }
};

enum class QueueMode : uint8_t { kCreate = 0, kCreateOrAttach = 1, kAttach = 2 };

struct Registration {
  uint32_t token = 0;  // Identifies the result.
  uint32_t server_id = 0;
  uint16_t port = 0;
  RegistrationFlags flags;
  QueueMode queue_mode = QueueMode::kCreate;
  std::string queue;  // Empty = not shared.
  std::vector<NumberedPrefix> prefixes;

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(token, server_id, port, flags, queue_mode, queue, prefixes);
  }
};

// Why a registration is refused, in addition to its errno. The numbers are part of the peer
// protocol.
enum class ConflictReason : uint8_t {
  kNone = 0,
  kPrefix = 1,      // The prefix is registered, and at least one of the two servers names no queue.
  kOtherQueue = 2,  // The two servers name different queues.
  kQueueMode = 3,   // The queue exists, but queueMode is 'create'.
  kExclusiveThere = 4,   // A registered server wants the port for itself.
  kExclusiveWanted = 5,  // The new server wants the port for itself, and is not alone.
  kScheme = 6,           // TLS and plain connections would meet on one socket.
  kPlain = 7,            // Both servers listen on the whole port.
  kMembers = 8,          // limits::kMembersMax.
  kEntries = 9,          // limits::kEntriesMax.
  // A ClientHello cannot tell the two prefixes apart, and their servers ask for certificates by
  // different rules.
  kTerms = 10,
};
inline constexpr ConflictReason kConflictReasonLast = ConflictReason::kTerms;

struct RegistrationResult {
  // 0 = an earlier registration is lost: a new coordinator does not grant it again.
  uint32_t token = 0;
  int error = 0;       // A positive errno.
  uint32_t pid = 0;    // The process in the way.
  uint32_t uid = 0;    // The other user, if the process in the way is another user's.
  std::string wanted;  // With kTerms: the prefix of this registration that is in conflict.
  std::string prefix;  // The prefix in the way.
  std::string queue;   // The queue of that prefix; empty = none.
  ConflictReason reason = ConflictReason::kNone;
  uint16_t peer_oldest = 0;  // With EPROTO: the oldest and newest protocol of the coordinator.
  uint16_t peer_newest = 0;
  std::vector<Descriptor> sockets;  // Listening sockets of the port, the receiver's to close.
  // Addresses (an IP address or a wildcard) whose connections another program accepts and
  // distributes.
  std::vector<std::string> fed;

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(token, error, pid, uid, wanted, prefix, queue, reason, peer_oldest, peer_newest, sockets,
          fed);
  }
};

// The listening sockets of a port, as in RegistrationResult.
struct PortSockets {
  std::vector<Descriptor> sockets;
  std::vector<std::string> fed;

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(sockets, fed);
  }
};

// The result of Meet().
enum class Meeting : int {
  kOurs = 0,
  kMember = 1,
  kTaken = 2,
  kStrangers = 3,  // Another user has the name of the port.
};

// Another user's process that has the name of a port.
struct Stranger {
  uint32_t uid = 0;
  uint32_t pid = 0;  // 0 = not known: it does not listen.

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(uid, pid);
  }
};

// What JavaScript decides about a ClientHello, or says of new sessions.
struct HelloReply {
  bool is_refused = false;
  std::string reason;  // The text of the failure, if is_refused.
  TlsHostId host{};    // The certificate to use; kNone = the server's own.
  bool has_alpn = false;
  std::string alpn;     // The protocol; empty = none of those offered. Valid if has_alpn.
  std::string session;  // The session with the id of the kHello record; empty = none.
  std::string status;   // The OCSP response; empty = none.

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(is_refused, reason, host, has_alpn, alpn, session, status);
  }
};

enum class DrainGoal : uint8_t {
  // All replies are handled, although bytes may be unsent: connections that are to be closed are
  // closed.
  kHandled,
  kSent,
};

struct LaneMemory {
  int32_t* control = nullptr;  // records::kControlWords words.
  std::vector<std::span<uint8_t>> segments;
  // Bytes of requests in the process that JavaScript has not begun, above which requests are
  // parked.
  uint64_t queue_bytes_max = limits::kQueueBytesMax;
};

struct BackendOptions {
  std::vector<LaneMemory> lanes;  // All memory must stay until Close() has returned.
  std::vector<std::string> methods;
  std::function<void()> wake_consumer;  // Thread: any.
};

// What a backend can do. JavaScript and the tests ask for this, never for the platform.
// types/binding.d.ts describes each member.
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
  uint32_t cache_codings = 0;  // Codings that node has encoders for, as CacheSettings::codings.
  bool sends_files = false;
  bool serves_files = false;
  bool kernel_options = false;
  bool system_certificates = false;
  bool foreign_hosts = false;
  bool ipv6 = false;
};

// A backend. Statuses are 0 or a negative errno. Lane numbers are below lane_count(). Thread: the
// JavaScript thread that made it, for every method.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual size_t lane_count() const = 0;
  // The request records of a lane. The reader must call WakeLane() when Consume() returns true.
  virtual RequestQueue& requests(size_t lane) = 0;
  virtual ConsumerSignal& signal() = 0;

  // Adds memory for reply records, which must stay valid until Close() has returned. Returns its
  // id.
  virtual uint32_t AddReplySegment(size_t lane, std::span<const uint8_t> memory) = 0;
  // The blocks that are sent by reference.
  virtual LentMemory& lent(size_t lane) = 0;
  // Makes a block of a part of a file, which is read and sent where a kBlock record names it.
  // `kept_id` names a file of FileBackend; 0 = the file is that of the descriptor, which may be
  // closed when this returns. Returns the id of the block, or a negative errno.
  virtual int64_t SendFile(size_t lane, Descriptor fd, uint32_t kept_id, uint64_t start,
                           uint64_t bytes) = 0;
  // WakeLane() wakes the lane in any case; Wake() only if it sleeps.
  virtual void WakeLane(size_t lane) = 0;
  virtual void Wake(size_t lane) = 0;

  // Creates or changes a server. Returns -EINVAL if a prefix is not canonical.
  virtual int Configure(uint32_t server_id, ServerSettings settings) = 0;
  // Stops listening. The server is forgotten when its last connection has ended.
  virtual void Unlisten(uint32_t server_id) = 0;
  // Refuses requests, and closes connections, that are older than the timeouts; 0 = no limit.
  virtual void CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                                uint64_t request_timeout_ms) = 0;

  // Blocks until all published replies have reached the goal, but no longer than the timeout.
  // Returns true if they have.
  virtual bool Drain(uint64_t timeout_ms, DrainGoal goal) = 0;
  // Ends the threads and closes every connection. Idempotent.
  virtual void Close() = 0;
};

// A file that stays open in a backend.
struct KeptFile {
  uint32_t id = 0;    // 0 = there is none.
  Descriptor number;  // For people to see: the backend may give it up, and open the file again.
  uint64_t bytes = 0;

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(id, number, bytes);
  }
};

// The files that a backend has open for the responses of JavaScript. Thread: JavaScript.
class FileBackend {
 public:
  virtual ~FileBackend() = default;

  // Uses the file of an absolute path if it is open, and is still what the path names.
  virtual KeptFile Find(const std::string& path) = 0;
  // Takes over a descriptor that was opened for reading by this absolute path. If the file is not
  // one that can be kept, there is no id, and the descriptor stays the caller's.
  virtual KeptFile Keep(const std::string& path, Descriptor fd) = 0;
  // Returns a descriptor that is not given up any more, or a negative errno. ESTALE: the path names
  // another file by now, or the file has changed.
  virtual Descriptor Pin(uint32_t id) = 0;
  // Returns these bytes if they are in memory; otherwise, or if the file has fewer, nothing.
  virtual std::string ReadNow(uint32_t id, uint64_t start, uint32_t bytes) = 0;
  // JavaScript does not use the file any more. It may still be sent.
  virtual void Release(uint32_t id) = 0;
};

// An entry of the output cache, for people.
struct CacheEntry {
  std::string url;  // With the Host of the request, as received.
  uint32_t status = 0;
  uint32_t policy = 0;    // 0 = RFC 9111; otherwise records::CachePolicy.
  int64_t created_s = 0;  // Since 1970.
  uint32_t seconds = 0;   // From its creation on; 0 with a policy without an end.
  uint32_t hits = 0;      // The hits that eviction counts, up to 3.
  uint32_t head_bytes = 0;
  uint32_t body_bytes = 0;
  bool varies = false;  // One of several variants.

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(url, status, policy, created_s, seconds, hits, head_bytes, body_bytes, varies);
  }
};

// A figure of the output cache and its name, as JavaScript shows it.
struct CacheFigure {
  std::string name;
  uint64_t value = 0;

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(name, value);
  }
};

// The figures of the output cache for one server.
struct CacheStatistics {
  std::vector<CacheFigure> figures;
  std::vector<CacheFigure> refused;  // By reason, those that are not 0.

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(figures, refused);
  }
};

// The output cache of the process, as one backend uses it. Thread: JavaScript.
class CacheBackend {
 public:
  virtual ~CacheBackend() = default;

  // Bounds the memory of the process' entries. Of several backends of a process the largest bound
  // counts. `port_bytes` bounds the caches of all processes of a port together, 0 = the default;
  // the smallest one counts.
  virtual void SetBytes(uint64_t bytes, uint64_t port_bytes) = 0;
  // Forgets what is stored for a URL of the server, or for all URLs below it; for every URL if
  // `url` is empty. A `*` or `+` for the host means every host. Returns the number of entries, or
  // -EINVAL if `url` is no URL.
  virtual int64_t Flush(uint32_t server_id, const std::string& url, bool is_recursive) = 0;
  // Returns entries of the server for a URL and everything below it, or all of them if `prefix` is
  // empty, at most `limit`.
  virtual std::vector<CacheEntry> Entries(uint32_t server_id, const std::string& prefix,
                                          uint32_t limit) = 0;
  virtual CacheStatistics Statistics(uint32_t server_id) = 0;
};

// A backend that is given bound sockets, and shares ports with other processes by our own protocol.
class SocketBackend : public Backend {
 public:
  // Both belong to the derived object.
  SocketBackend(FileBackend* files, CacheBackend* cache) : files_(files), cache_(cache) {}

  // Listens on a duplicate of a bound descriptor. Returns a key above 0, or a negative errno.
  // `may_lend`: a lane may accept, because no other process has the socket and connections begin
  // with handshakes.
  virtual int Listen(uint32_t server_id, Descriptor fd, int backlog, bool may_lend) = 0;
  // Closes the duplicate before it returns. The server stays.
  virtual void StopListening(int key) = 0;
  FileBackend& files() { return *files_; }
  CacheBackend& cache() { return *cache_; }
  // Serves a duplicate of a connected descriptor.
  virtual int Adopt(uint32_t server_id, Descriptor fd) = 0;

  // -- Port sharing. No call waits for another process.

  // Describes this engine to people: the number of its thread and the name of its program.
  virtual void Introduce(uint32_t thread, std::string program) = 0;
  // Takes the meeting place of a port if it is free. Returns a Meeting, or a negative errno.
  // `stranger` is set with kStrangers.
  virtual int Meet(uint16_t port, Stranger* stranger) = 0;
  // Takes a port without a meeting place: servers of this engine share it, and nobody can join.
  // Returns 0 or a negative errno.
  virtual int TakeAlone(uint16_t port) = 0;
  // Shares a listening socket of the port, which the server accepts from, with the other members.
  // The member that took the port first has it to itself until its last socket (`is_last`) is
  // contributed. Returns 0 or a negative errno.
  virtual int Contribute(uint16_t port, uint32_t server_id, Descriptor fd, bool is_last) = 0;
  // The server stops accepting from the socket. Other servers accept from it, or it is closed if
  // there is none.
  virtual void Withdraw(uint16_t port, Descriptor fd) = 0;
  // Returns the sockets that the members of a port have now; nothing if this engine is no member.
  virtual PortSockets Sockets(uint16_t port) = 0;
  // Opens a socket that listens on every address of a port beside `narrower` ones. Returns a
  // descriptor, which is the caller's, or a negative errno.
  virtual int ListenBeside(uint16_t port, int backlog, const std::vector<Descriptor>& narrower) = 0;
  // Registers prefixes. Returns true if `result` is final; otherwise TakeResult() returns it after
  // a wake.
  virtual bool Register(const Registration& wanted, RegistrationResult* result) = 0;
  virtual bool TakeResult(RegistrationResult* result) = 0;
  // Must be called before the server is configured with this context. Returns false, and changes
  // nothing, if clients of its prefixes would then be asked for certificates by other rules than
  // those of a prefix that a ClientHello cannot tell apart; `conflict` names it.
  virtual bool ChangeTerms(uint32_t server_id, TlsContextId context,
                           RegistrationResult* conflict) = 0;
  // Takes back some of a server's prefixes, or all if `prefix_ids` is empty. Requests wait for a
  // new owner for `wait_ms`. With a token, TakeResult() says when all members know. `stays`: the
  // server listens on, even without any prefix. Returns true if others are on the port.
  virtual bool Unregister(uint16_t port, uint32_t server_id, std::vector<uint32_t> prefix_ids,
                          uint32_t wait_ms, uint32_t token, bool stays) = 0;
  // Replaces the reserved prefixes (canonical): while nobody has registered them, their requests
  // get 503.
  virtual void Reserve(uint16_t port, const std::vector<std::string>& prefixes) = 0;
  // Gives a port up on which nothing was registered.
  virtual void Leave(uint16_t port) = 0;

  // Answers the requests that wait for JavaScript with 503, because JavaScript will not begin them.
  virtual void RefuseAbandoned() = 0;
  // Returns, once, what the lane has done with the request that JavaScript is about to begin.
  virtual records::Claim TakeClaim(size_t lane) = 0;
  // Answers a kHello or kNewSession record. Does nothing if its connection has gone.
  virtual void AnswerHello(size_t lane, uint32_t id, HelloReply reply) = 0;
  // Asks the lane about an open connection (tls::Question) and waits. Returns an empty string if
  // there is no answer.
  virtual std::string AskTls(size_t lane, uint32_t slot, uint32_t question,
                             std::string argument) = 0;

 private:
  FileBackend* const files_;
  CacheBackend* const cache_;
};

struct UrlResult {
  uint32_t status = 0;       // The system's own error code.
  std::string property;      // The option that was refused; empty = the URL or queue was.
  bool is_attached = false;  // The queue and its URLs belong to another process.

  template <typename Visitor>
  void Fields(Visitor& visit) {
    visit(status, property, is_attached);
  }
};

// A backend whose listener is the operating system's: it is given URLs, and all processes share its
// ports.
class UrlBackend : public Backend {
 public:
  // Opens the request queue of a server, with its present configuration. Must be called before
  // AddUrl(). With a name, other processes may take requests from the same queue.
  virtual UrlResult OpenQueue(uint32_t server_id, const std::string& name, QueueMode mode) = 0;
  // Adds a URL (a canonical prefix). When it has returned 0, requests below the URL come to the
  // server, with its id in ServerSettings.
  virtual UrlResult AddUrl(uint32_t server_id, uint32_t prefix_id, const std::string& url) = 0;
  // Removes a URL. Requests that were taken before are still answered.
  virtual void RemoveUrl(uint32_t server_id, uint32_t prefix_id) = 0;
  // Removes the responses for a URL, or for all URLs below it, from the kernel's cache. Returns the
  // system's error code; 0 = done.
  virtual uint32_t FlushCache(uint32_t server_id, const std::string& url, bool is_recursive) = 0;
};

}  // namespace httpsys
