#pragma once
// The messages between members of a shared port; docs/internals/port-sharing.md describes the
// protocol.
//
// Control connection (member to coordinator): kHello, then the types up to kTicketKeys; or kPing
// alone. Data connection (lane to lane): kLink, then kHandOver, kRelay and their answers; or kDoubt
// alone, from the thread that shares ports. A reader of another member's cache has a data
// connection of its own: kLink, kCacheHits, kCacheAsk and kCacheFollow one way, the other kCache
// types back.

#include <cstdint>
#include <string>
#include <vector>

#include "peer/codec.h"

namespace httpsys::peer {

// The newest and the oldest protocol version of this process. Versions 1 to 4 were never published.
inline constexpr uint16_t kProtocol = 5;
inline constexpr uint16_t kProtocolOldest = 5;

enum class FrameType : uint8_t {
  kHello = 1,
  kWelcome = 2,
  kRefusal = 3,
  kRegister = 4,
  kRegistered = 5,
  kUnregister = 6,
  kMember = 7,
  kMemberGone = 8,
  kEntry = 9,
  kEntryGone = 10,
  kSocket = 11,  // Carries a listening socket.
  kSync = 12,
  kSynced = 13,
  kStateQuery = 14,  // The payload may be a CacheQuestion of backend/port_report.h.
  kState = 15,       // The payload is a report of backend/port_report.h.
  kTicketKeys = 16,
  kPing = 17,
  kPong = 18,
  kMoving = 19,
  kCacheWish = 20,
  kCacheGrant = 21,
  kLink = 32,
  kHandOver = 33,  // Carries connections.
  kTaken = 34,
  kDeclined = 35,
  kRelay = 36,  // Carries one end of a socket pair.
  kAnswered = 37,
  kDecided = 38,
  kReturned = 39,
  kEnded = 40,
  kFree = 41,
  kDoubt = 42,
  kHaste = 43,
  kUnbegun = 44,
  kBlocked = 45,
  kBegun = 46,
  kCacheHits = 48,  // Carries the reader's table of hits.
  kCacheAsk = 49,
  kCacheIndex = 50,  // Carries the index of an arena.
  kCacheChunk = 51,  // Carries a chunk of an arena.
  kCacheGone = 52,
  kCacheScope = 53,
  kCacheFollow = 54,
  kCacheCounters = 55,  // Carries the sender's counters of invalidations.
};

struct Hello {
  uint16_t oldest = kProtocolOldest;
  uint16_t newest = kProtocol;
  uint64_t id = 0;
  uint32_t thread = 0;
  std::string program;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(oldest, newest, id, thread, program);
  }
};

struct Welcome {
  uint16_t protocol = kProtocol;
  uint64_t coordinator = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(protocol, coordinator);
  }
};

enum class RefusalReason : uint8_t { kVersion = 1, kFull = 2 };

struct Refusal {
  uint8_t reason = 0;
  uint16_t oldest = kProtocolOldest;
  uint16_t newest = kProtocol;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(reason, oldest, newest);
  }
};

enum EntryFlags : uint8_t {
  kEntryPlain = 1 << 0,      // The server listens on a port, not on a prefix.
  kEntryExclusive = 1 << 1,  // No other server may be on the port.
  kEntryIpv4 = 1 << 2,       // With kEntryPlain: bound to IPv4 only.
  // With absent_ms: the owner has died, so that requests get 503 instead of waiting.
  kEntryOffline = 1 << 3,
  kEntryFed = 1 << 4,  // With kEntryPlain: a program that is no member accepts for the server.
  // The server has an output cache, which other members may request (kCacheAsk) and answer from.
  kEntryCached = 1 << 5,
};

struct PrefixItem {
  uint32_t id = 0;  // The server's own number of the prefix.
  std::string text;
  // A digest of the rules for client certificates of the prefix; empty without TLS.
  std::string terms = {};

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id, text, terms);
    archive.Require(terms.empty() || terms.size() == kTermsBytes);
  }
};

// Whether an earlier coordinator has granted a registration.
enum Again : uint8_t {
  kFirstTime = 0,
  kAgain = 1,
  // The last coordinator has refused the registration: another member had one of its prefixes.
  kAgainAfterLoss = 2,
};

struct Register {
  uint32_t token = 0;
  uint32_t server_id = 0;
  uint8_t flags = 0;
  uint8_t queue_mode = 0;
  uint8_t again = kFirstTime;
  std::string queue;
  std::vector<PrefixItem> prefixes;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(token, server_id, flags, queue_mode, again, queue, prefixes);
  }
};

struct Registered {
  uint32_t token = 0;
  uint32_t error = 0;  // A positive errno.
  uint32_t pid = 0;    // The process with the conflicting prefix.
  std::string prefix;
  uint8_t reason = 0;  // A ConflictReason.
  std::string queue;   // The queue of the conflicting prefix.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(token, error, pid, prefix, reason, queue);
  }
};

struct Unregister {
  uint32_t server_id = 0;
  uint32_t wait_ms = 0;  // How long requests wait for a new owner.
  uint8_t is_all = 0;
  std::vector<uint32_t> prefix_ids;
  uint32_t token = 0;  // Not 0: a kRegistered frame confirms the removal when all members apply it.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(server_id, wait_ms, is_all, prefix_ids, token);
  }
};

struct Member {
  uint64_t id = 0;
  uint32_t pid = 0;
  uint32_t thread = 0;
  uint16_t protocol = 0;
  std::string program;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id, pid, thread, protocol, program);
  }
};

struct MemberGone {
  uint64_t id = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id);
  }
};

// A prefix of a server of a member.
struct Entry {
  uint64_t member = 0;
  uint32_t server_id = 0;
  uint32_t prefix_id = 0;
  uint8_t flags = 0;
  uint32_t absent_ms = 0;  // Not 0: the server has gone, and requests wait this long for a new one.
  std::string queue;
  std::string prefix;
  std::string terms = {};  // PrefixItem::terms of the prefix.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(member, server_id, prefix_id, flags, absent_ms, queue, prefix, terms);
    archive.Require(terms.empty() || terms.size() == kTermsBytes);
  }
};

struct EntryGone {
  uint64_t member = 0;
  uint32_t server_id = 0;
  uint32_t prefix_id = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(member, server_id, prefix_id);
  }
};

// Makes a member apply everything sent before. The member answers with kSynced when it does.
struct Sync {
  uint32_t serial = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(serial);
  }
};

// A key that seals tickets of TLS sessions on the port.
struct TicketKey {
  std::string bytes;
  uint64_t age_ms = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(bytes, age_ms);
  }
};

struct TicketKeys {
  std::vector<TicketKey> keys;  // The newest first.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(keys);
  }
};

// The answer to kPing, which has no payload: the coordinator is not stopped.
struct Pong {
  uint64_t coordinator = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(coordinator);
  }
};

// How much memory a member wants for the output cache of its process. Sent to each coordinator, and
// whenever the member has applied a grant.
struct CacheWish {
  uint64_t bytes = 0;  // 0 = nothing.
  // The most that all members of the port may use; 0 = the coordinator's default.
  uint64_t limit = 0;
  uint64_t held = 0;  // The most that the process may use at present.
  // CacheGrant::serial of the last grant that was applied; 0 = none of this coordinator.
  uint32_t serial = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(bytes, limit, held, serial);
  }
};

// How much memory the process of a member may use for its output cache.
struct CacheGrant {
  uint64_t bytes = 0;
  uint32_t serial = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(bytes, serial);
  }
};

// kMoving has no payload: the member leaves a stopped coordinator, but may come back.

// The first frame of a data connection.
struct Link {
  uint16_t oldest = kProtocolOldest;
  uint16_t newest = kProtocol;
  uint64_t id = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(oldest, newest, id);
  }
};

// A connection that moves. A frame has one for each of its descriptors, in their order, each
// followed by the bytes that were read of the connection and not handled.
struct HandOver {
  uint32_t sequence = 0;
  uint16_t port = 0;
  uint8_t hops = 0;  // The number of moves since the connection's last answer.
  // The idle timeout of a connection between two requests, or kIdleForever; 0 = not between two.
  uint32_t idle_ms = 0;
  uint32_t bytes = 0;  // The number of bytes that follow.
  // The member that passed the connection on because it was blocked, and wants it back; 0 = none.
  uint64_t home = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(sequence, port, hops, idle_ms, bytes, home);
  }
};
inline constexpr uint32_t kIdleForever = 0xffffffff;
// The length of a HandOver without the bytes that follow it.
inline constexpr size_t kHandOverBytes = 23;

// A relay. The client's connection stays with the sender; its requests come over the descriptor,
// and the answers go back over it.
struct Relay {
  uint32_t sequence = 0;
  uint16_t port = 0;
  uint8_t hops = 0;
  uint32_t id = 0;  // The sender's number for the relay.
  uint8_t family = 0;
  uint16_t remote_port = 0;
  uint16_t local_port = 0;
  std::string remote;
  std::string local;
  std::string local_ip;   // 16 bytes, or none.
  std::string tls;        // The client's TLS as in a kOpen record; empty = no TLS.
  std::string trust;      // ServerContext::TrustOf() of the server that made the handshake.
  uint8_t is_stream = 0;  // The relay carries one request of a stream of HTTP/2.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(sequence, port, hops, id, family, remote_port, local_port, remote, local, local_ip, tls,
            trust, is_stream);
  }
};

// Reports that an answer over a relay is complete.
struct Answered {
  uint32_t id = 0;
  uint64_t total = 0;  // The bytes sent over the relay so far, this answer included.
  uint8_t closes = 0;  // The connection ends with this answer.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id, total, closes);
  }
};

// Reports whether the owner accepts the upgrade that a relayed request asks for. The sender of the
// request waits for this message before it sends more.
struct Decided {
  uint32_t id = 0;
  uint8_t is_upgraded = 0;  // From here on both directions carry opaque bytes.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id, is_upgraded);
  }
};

// The payload of kReturned and kUnbegun. The owner returns unanswered requests that it has not
// begun: it has no server for them now (kReturned), or its JavaScript is blocked (kUnbegun).
struct Returned {
  uint32_t id = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id);
  }
};

// Reports that the owner ends its output or closes the relay for its application or the client. If
// a relay ends without this message (or an answer that closes), the owner's process has ended.
struct Ended {
  uint32_t id = 0;
  uint8_t is_whole = 0;  // All bytes of a stream's tunnel were sent.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id, is_whole);
  }
};

// Reports that the coordinator of a port does not answer the sender, or that the sender has
// succeeded it. The receiver then checks whether another member coordinates the port, and asks the
// coordinator whether it is stopped.
struct Doubt {
  uint16_t port = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(port);
  }
};

// -- The cache of another member. Types without a payload: kCacheHits: its descriptor is memory in
// which the sender counts hits (cache::HitTable), and which the receiver only reads. kCacheIndex:
// its descriptor is the index of the sender's arena, which replaces an earlier index and all
// chunks. kCacheFollow: the reader owns prefixes together with the receiver, and requests
// kCacheCounters. kCacheCounters: its descriptor is memory in which the sender counts its
// invalidations (cache::InvalidationCounters), the same for the life of its process. All memory is
// sealed (cache::SharedMemory).

// Asks the owner for the scope of a prefix, now and whenever it changes.
struct CacheAsk {
  uint32_t server_id = 0;
  uint32_t prefix_id = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(server_id, prefix_id);
  }
};

// A chunk of the arena, which replaces an earlier chunk of this number.
struct CacheChunk {
  uint32_t chunk = 0;
  uint64_t serial = 0;  // The serial that the index has for this memory.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(chunk, serial);
  }
};

// A chunk has gone from the arena: the reader must unmap it.
struct CacheGone {
  uint32_t chunk = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(chunk);
  }
};

enum CacheScopeFlags : uint8_t {
  kScopeIgnoresReload = 1 << 0,  // Directives of requests have no effect.
  kScopeTellsStatus = 1 << 1,    // Answers have a Cache-Status field.
  kScopeStrictUrl = 1 << 2,      // Targets that are not strict are refused.
};

// The facts that a reader needs about a prefix of the sender.
struct CacheScope {
  uint32_t server_id = 0;
  uint32_t prefix_id = 0;
  // KeyScope::port in the keys of the entries; 0 = readers find no entries.
  uint32_t scope = 0;
  uint8_t flags = 0;
  std::string prefix;
  // ServerContext::NegotiationDigest() of the server, whose clients are asked for no certificate.
  // Empty without TLS.
  std::string terms;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(server_id, prefix_id, scope, flags, prefix, terms);
    archive.Require(terms.empty() || terms.size() == kTermsBytes);
  }
};

// Types of messages between lanes without a payload. kFree: the sender is not blocked any more, and
// takes back the connections that it had passed on. kHaste: the next frames have waited for blocked
// JavaScript of the sender. kBlocked: the JavaScript of the sender is blocked. kBegun: it has begun
// a request since. Receivers that do not know the last three ignore them.

// The payload of kTaken (acknowledges this hand-over and all earlier ones) and of kDeclined
// (refuses this hand-over only).
struct Sequence {
  uint32_t sequence = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(sequence);
  }
};

}  // namespace httpsys::peer
