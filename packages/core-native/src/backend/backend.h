#pragma once
// What the binding talks to: an HTTP stack that turns connections into request records and reply
// records into bytes. The engine implements it with I/O threads and sockets of its own (Linux,
// macOS), HTTP.SYS with a completion thread and the URLs of the kernel's server (Windows).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/block_store.h"
#include "records/consumer_signal.h"
#include "records/request_queue.h"
#include "url/url_prefix_table.h"

namespace httpsys::tls {
class ServerContext;
struct HelloAnswer;
}  // namespace httpsys::tls

namespace httpsys {

// How much a client learns from a 503, as HTTP.SYS's HttpServer503VerbosityProperty.
enum class Verbosity503 : uint8_t {
  kBasic,    // Nothing: the connection is reset.
  kLimited,  // The status.
  kFull,     // The status and its reason.
};

// HTTP/2 of one server.
struct Http2Settings {
  bool is_plain = false;       // Without TLS, for clients that begin with it.
  bool is_alone = false;       // No HTTP/1.1 where it is.
  bool takes_upgrade = false;  // Without TLS, for requests of HTTP/1.1 that ask for it.
  uint32_t streams_max = 100;
  uint32_t window_bytes = 128 * 1024;  // Of one stream.
  uint32_t frame_bytes_max = 16 * 1024;
  uint32_t header_table_bytes = 4096;
  uint32_t ping_ms = 0;         // 0 = never.
  uint32_t stall_ms = 120'000;  // 0 = no limit.
};

// What is asked of a kernel that serves by itself: KernelConfig of types/binding.d.ts. 0 = what it
// does by default.
struct KernelSettings {
  // Timeouts, in seconds.
  uint32_t idle_s = 0;         // Between two requests.
  uint32_t header_s = 0;       // For a head.
  uint32_t body_s = 0;         // Between two pieces of a body.
  uint32_t drain_s = 0;        // For what is left of a body when its request was answered.
  uint32_t queue_s = 0;        // In the request queue.
  uint32_t send_rate_min = 0;  // Bytes per second that a client must take.

  uint32_t bandwidth_max = 0;  // Bytes per second.
  uint32_t connections_max = 0;
  uint32_t auth_schemes = 0;  // HTTP_AUTH_ENABLE_...
  bool allows_anonymous = true;
  bool buffers_responses = false;  // In the kernel, which then says at once that they are sent.
  std::string log_directory;       // Empty = no log.
  bool log_is_ncsa = false;
  uint32_t log_rollover = 0;  // HTTP_LOGGING_ROLLOVER_TYPE
  uint32_t log_bytes_max = 0;
};

// Where a server speaks TLS.
struct TlsPlace {
  uint16_t port = 0;
  LocalAddress address;  // Not an IP address: on all of the port.
};

// Settings of one listening server; types/binding.d.ts says what each means.
struct ServerSettings {
  size_t header_bytes_max = 16 * 1024;
  size_t header_lines_max = SIZE_MAX;
  uint64_t body_bytes_max = 0;  // 0 = no limit.
  uint32_t pipelined_requests_max = 16;
  // The peer's end of its direction does not end the connection.
  bool allow_half_open = false;
  bool wants_errors = false;
  bool ends_idle = true;          // Once it is closed: connections, as soon as they are idle.
  bool is_url_strict = false;     // Only for what HTTP.SYS takes: IsStrictTarget().
  uint32_t queue_limit = 0;       // Requests not begun by JavaScript; 0 = no limit.
  uint32_t queue_timeout_ms = 0;  // Until it begins one; 0 = no limit.
  Verbosity503 verbosity_503 = Verbosity503::kFull;
  uint32_t send_rate_min = 0;      // Bytes per second that a client acknowledges; 0 = no limit.
  uint32_t send_rate_ms = 60'000;  // Averaged over at least this time.
  bool no_delay = true;
  bool keep_alive = false;
  uint32_t keep_alive_delay_s = 0;
  Http2Settings http2;
  std::vector<std::string> prefixes;  // Canonical, by id, unused ids empty; none = everything.
  std::shared_ptr<const tls::ServerContext> tls;  // nullptr = none,
  std::vector<TlsPlace> tls_places;               // and then on these; none = everywhere.
  uint32_t listening = 0;         // Grows with each listen() after close(): see tls::Maker.
  bool wants_tls_errors = false;  // 'tlsClientError' has a listener.
  KernelSettings kernel;
};

// How one engine's servers share a port with others: docs/port-sharing.md.
struct RegistrationFlags {
  bool is_plain = false;      // A port, not a prefix.
  bool is_ipv4 = false;       // With is_plain: bound to IPv4 only.
  bool is_exclusive = false;  // Nobody else on the port.
  // With is_plain: whoever is no member of the port accepts for the server, as the primary of a
  // cluster does for its workers. Adopt() takes what it is given.
  bool is_fed = false;
};

enum class QueueMode : uint8_t { kCreate = 0, kCreateOrAttach = 1, kAttach = 2 };

struct Registration {
  uint32_t token = 0;  // Names the result.
  uint32_t server_id = 0;
  uint16_t port = 0;
  RegistrationFlags flags;
  QueueMode queue_mode = QueueMode::kCreate;
  std::string queue;  // Empty = not shared.
  struct Prefix {
    uint32_t id = 0;  // As in ServerSettings.
    std::string text;
  };
  std::vector<Prefix> prefixes;
};

// Why a registration is refused, where its errno does not say it. Numbers of the peer protocol.
enum class ConflictReason : uint8_t {
  kNone = 0,
  kPrefix = 1,           // Registered by a server; at least one of the two names no queue.
  kOtherQueue = 2,       // Both name queues, which differ.
  kQueueMode = 3,        // Of the queue that is wanted, but with queueMode 'create'.
  kExclusiveThere = 4,   // Who is there wants the port alone.
  kExclusiveWanted = 5,  // Who asks does, and is not alone.
  kScheme = 6,           // A socket of the port speaks TLS, or does not.
  kPlain = 7,            // Both listen on the port as a whole.
  kMembers = 8,          // limits::kMembersMax.
  kEntries = 9,          // limits::kEntriesMax.
  kTerms = 10,           // Clients are asked for certificates by other rules, and cannot choose.
};
inline constexpr ConflictReason kConflictReasonLast = ConflictReason::kTerms;

struct RegistrationResult {
  uint32_t token = 0;  // 0: of an old one, which a new coordinator does not grant again.
  int error = 0;       // A positive errno.
  uint32_t pid = 0;    // Who is in the way.
  uint32_t uid = 0;    // Of somebody else's process.
  std::string wanted;  // With kTerms: which prefix of those that were asked for.
  std::string prefix;  // The one in the way,
  std::string queue;   // and its queue; empty = none.
  ConflictReason reason = ConflictReason::kNone;
  uint16_t peer_oldest = 0;  // With EPROTO: the protocols that the coordinator speaks.
  uint16_t peer_newest = 0;
  std::vector<int> sockets;  // Listening sockets of the port, the receiver's to close.
  // Addresses (an IP address or a wildcard) for which others accept and pass connections on.
  std::vector<std::string> fed;
};

// What a port is listened on with, as in RegistrationResult.
struct PortSockets {
  std::vector<int> sockets;
  std::vector<std::string> fed;
};

// What Meet() finds.
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
};

enum class DrainGoal : uint8_t {
  kHandled,  // Done, though not all bytes may have been sent: what was to be closed is closed.
  kSent,
};

struct LaneMemory {
  int32_t* control = nullptr;  // records::kControlWords words.
  std::vector<std::span<uint8_t>> segments;
};

struct BackendOptions {
  std::vector<LaneMemory> lanes;  // All memory must stay until Close() has returned.
  std::vector<std::string> methods;
  std::function<void()> wake_consumer;  // Thread: any.
};

// What a backend can do, for JavaScript and for the tests: neither asks for the platform.
// types/binding.d.ts says what each means.
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
  bool sends_files = false;
  bool kernel_options = false;
  bool system_certificates = false;
  bool foreign_hosts = false;
  bool ipv6 = false;
};

// Thread: the JavaScript thread that made it, for every method.
// Statuses are 0 or a negative errno. Lane numbers are below lane_count().
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual size_t lane_count() const = 0;
  // The request records of a lane. The reader calls WakeLane() when Consume() says so.
  virtual RequestQueue& requests(size_t lane) = 0;
  virtual ConsumerSignal& signal() = 0;

  // Reply memory. It must stay until Close() has returned.
  virtual uint32_t AddReplySegment(size_t lane, std::span<const uint8_t> memory) = 0;
  // Blocks sent by reference.
  virtual LentMemory& lent(size_t lane) = 0;
  // Unconditionally, as against Wake(), which looks whether the lane sleeps.
  virtual void WakeLane(size_t lane) = 0;
  virtual void Wake(size_t lane) = 0;

  // Creates or changes a server. -EINVAL when a prefix is not canonical.
  virtual int Configure(uint32_t server_id, ServerSettings settings) = 0;
  // Stops listening; the server is forgotten when its last connection ends.
  virtual void Unlisten(uint32_t server_id) = 0;
  virtual void CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                                uint64_t request_timeout_ms) = 0;

  // Blocks until everything published is that far, or for that long. True when it is.
  virtual bool Drain(uint64_t timeout_ms, DrainGoal goal) = 0;
  // Ends the threads and closes every connection. Idempotent.
  virtual void Close() = 0;
};

// One that is given bound sockets, and shares ports with other processes by a protocol of ours.
class SocketBackend : public Backend {
 public:
  // Listens on a duplicate of a bound descriptor. A key above 0, or a negative errno. `may_lend`: a
  // lane may accept, since no other process has the socket, and connections begin with handshakes.
  virtual int Listen(uint32_t server_id, int fd, int backlog, bool may_lend) = 0;
  // When it returns the duplicate is closed; the server stays.
  virtual void StopListening(int key) = 0;
  // Serves a duplicate of a connected descriptor.
  virtual int Adopt(uint32_t server_id, int fd) = 0;

  // -- Port sharing. None of these waits.

  // Who this is, for people: the number of its thread, the name of its program.
  virtual void Introduce(uint32_t thread, std::string program) = 0;
  // Takes the meeting place of a port if it is free. A Meeting, or a negative errno. `stranger` is
  // set with kStrangers.
  virtual int Meet(uint16_t port, Stranger* stranger) = 0;
  // Takes a port without a meeting place: servers of this engine share it, and nobody can join.
  // 0 or -errno.
  virtual int TakeAlone(uint16_t port) = 0;
  // Lets others have a listening socket of the port that the server accepts on. Who takes the port
  // first has it to itself until the last of its sockets is here. 0 or -errno.
  virtual int Contribute(uint16_t port, uint32_t server_id, int fd, bool is_last) = 0;
  // The server stops accepting on it: other servers do, or it is closed where nobody else has it.
  virtual void Withdraw(uint16_t port, int fd) = 0;
  // What the members of a port have now; nothing where this engine is no member.
  virtual PortSockets Sockets(uint16_t port) = 0;
  // A socket that listens on every address of a port, beside `narrower` ones that listen there: a
  // descriptor, the caller's, or -errno.
  virtual int ListenBeside(uint16_t port, int backlog, const std::vector<int>& narrower) = 0;
  // True when the result is there at once, otherwise TakeResult() has it after a wake.
  virtual bool Register(const Registration& wanted, RegistrationResult* result) = 0;
  virtual bool TakeResult(RegistrationResult* result) = 0;
  // The server is about to be configured with this context. False when clients of its prefixes
  // would then be asked for certificates by other rules than those of a prefix that no ClientHello
  // tells from them, which `conflict` names; nothing has changed then.
  virtual bool ChangeTerms(uint32_t server_id, std::shared_ptr<const tls::ServerContext> context,
                           RegistrationResult* conflict) = 0;
  // Some of a server's prefixes, or (empty) all. Requests wait that long for the next owner. With a
  // token TakeResult() says when all members know. `stays`: the server listens on, even without any
  // prefix. True when others are on the port.
  virtual bool Unregister(uint16_t port, uint32_t server_id, std::vector<uint32_t> prefix_ids,
                          uint32_t wait_ms, uint32_t token, bool stays) = 0;
  // Canonical prefixes that are kept for somebody: unregistered, they are answered with 503. In
  // place of those before.
  virtual void Reserve(uint16_t port, const std::vector<std::string>& prefixes) = 0;
  // Gives back a port that nothing was registered on.
  virtual void Leave(uint16_t port) = 0;

  // No request is begun any more: what waits for JavaScript gets 503.
  virtual void RefuseAbandoned() = 0;
  // Whether the request that JavaScript has just come to was refused meanwhile; said once.
  virtual bool TakeRefused(size_t lane) = 0;
  // What JavaScript says to a kHello. Nothing when its connection is gone.
  virtual void AnswerHello(size_t lane, uint32_t id, tls::HelloAnswer answer) = 0;
  // Asks the lane about an open connection (tls::Question) and waits. Empty = no answer.
  virtual std::string AskTls(size_t lane, uint32_t slot, uint32_t question,
                             std::string argument) = 0;
};

struct UrlResult {
  uint32_t status = 0;        // The system's own error code.
  const char* property = "";  // The option that was refused; empty = the URL or the queue itself.
  bool is_attached = false;   // The queue and its URLs are another process's.
};

// One whose listener is the operating system's: it is told URLs, and all processes share its ports.
class UrlBackend : public Backend {
 public:
  // The request queue of a server, before its URLs, as configured then. With a name other processes
  // may take its requests, too.
  virtual UrlResult OpenQueue(uint32_t server_id, const std::string& name, QueueMode mode) = 0;
  // From when it returns 0 requests below the URL (a canonical prefix) come to the server, with the
  // id that it has in ServerSettings.
  virtual UrlResult AddUrl(uint32_t server_id, uint32_t prefix_id, const std::string& url) = 0;
  // Requests that were taken before are still answered.
  virtual void RemoveUrl(uint32_t server_id, uint32_t prefix_id) = 0;
  // Removes what the kernel keeps of responses for a URL, or for all below it. The system's error
  // code, 0 = done.
  virtual uint32_t FlushCache(uint32_t server_id, const std::string& url, bool is_recursive) = 0;
  // A part of a file that the kernel reads and sends where a kBlock record names it; the descriptor
  // may be closed when this returns. The id of the block, or a negative errno.
  virtual int64_t SendFile(size_t lane, int fd, uint64_t start, uint64_t bytes) = 0;
};

}  // namespace httpsys
