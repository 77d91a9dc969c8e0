#pragma once
// What the members of a shared port say to each other; docs/port-sharing.md is the prose.
//
// Control connection, member <-> coordinator: kHello, then everything up to kState.
// Data connection, lane <-> lane: kLink, then kHandOver and its answers.

#include <cstdint>
#include <string>
#include <vector>

#include "peer/codec.h"

namespace httpsys::peer {

// Members with overlapping ranges understand each other: a version speaks its own protocol and the
// one before. What each has added, and is not told to members of an earlier one:
// 2: `terms` of kRegister and kEntry.
inline constexpr uint16_t kProtocol = 2;
inline constexpr uint16_t kProtocolOldest = 1;
inline constexpr uint16_t kProtocolTerms = 2;

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
  kSocket = 11,  // With a listening socket.
  kSync = 12,
  kSynced = 13,
  kStateQuery = 14,
  kState = 15,
  kTicketKeys = 16,
  kLink = 32,
  kHandOver = 33,  // With connections.
  kTaken = 34,
  kDeclined = 35,
  kRelay = 36,  // With one end of a socket pair.
  kAnswered = 37,
  kDecided = 38,
  kReturned = 39,
  kEnded = 40,
  kFree = 41,
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
  kEntryPlain = 1 << 0,      // Registered as a port, not as a prefix.
  kEntryExclusive = 1 << 1,  // Nobody else on this port.
  kEntryIpv4 = 1 << 2,       // With kEntryPlain: bound to IPv4 only.
  kEntryOffline = 1 << 3,    // With absent_ms: its owner has died, so that nobody waits for it.
  kEntryFed = 1 << 4,        // With kEntryPlain: somebody who is no member accepts for it.
};

struct PrefixItem {
  uint32_t id = 0;  // The server's own number of it.
  std::string text;
  // By what rules its clients are asked for certificates: a digest, or empty without TLS. On the
  // wire they stand behind all prefixes.
  std::string terms = {};

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id, text);
  }
};

struct Register {
  uint32_t token = 0;
  uint32_t server_id = 0;
  uint8_t flags = 0;
  uint8_t queue_mode = 0;
  uint8_t is_again = 0;  // After the coordinator has changed.
  std::string queue;
  std::vector<PrefixItem> prefixes;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(token, server_id, flags, queue_mode, is_again, queue, prefixes);
    // As many as there are prefixes; or none, when all are empty.
    std::vector<std::string> terms;
    bool is_any = false;
    for (const PrefixItem& item : prefixes) {
      terms.push_back(item.terms);
      is_any = is_any || !item.terms.empty();
    }
    if (!is_any) terms.clear();
    archive.Added(terms);
    if (terms.empty()) return;
    archive.Require(terms.size() == prefixes.size());
    is_any = false;
    for (size_t i = 0; i < terms.size() && i < prefixes.size(); ++i) {
      archive.Require(terms[i].empty() || terms[i].size() == kTermsBytes);
      is_any = is_any || !terms[i].empty();
      prefixes[i].terms = std::move(terms[i]);
    }
    archive.Require(is_any);
  }
};

struct Registered {
  uint32_t token = 0;
  uint32_t error = 0;  // A positive errno.
  uint32_t pid = 0;    // Who is in the way.
  std::string prefix;
  uint8_t reason = 0;  // A ConflictReason.
  std::string queue;   // Of who is in the way.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(token, error, pid, prefix, reason, queue);
  }
};

struct Unregister {
  uint32_t server_id = 0;
  uint32_t wait_ms = 0;  // How long requests wait for the next owner.
  uint8_t is_all = 0;
  std::vector<uint32_t> prefix_ids;
  uint32_t token = 0;  // Not 0: kRegistered says when it is in force everywhere.

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
  uint32_t absent_ms = 0;  // Its server has gone; requests wait this long for the next one.
  std::string queue;
  std::string prefix;
  std::string terms = {};  // As in PrefixItem; empty also when its member has told none.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(member, server_id, prefix_id, flags, absent_ms, queue, prefix);
    archive.Added(terms);
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

// What was told before it is to be in force; the answer says that it is.
struct Sync {
  uint32_t serial = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(serial);
  }
};

// With what tickets of TLS sessions are sealed on the port.
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

// One for each descriptor of the frame, in their order. Each is followed by the bytes that were
// read of its connection and not handled.
struct HandOver {
  uint32_t sequence = 0;
  uint16_t port = 0;
  uint8_t hops = 0;      // How often it was passed on since its last answer.
  uint32_t idle_ms = 0;  // 0 = not between two requests; or kIdleForever.
  uint32_t bytes = 0;    // That follow.
  uint64_t home = 0;     // Whose it is: a member that passes it on because it is blocked; or 0.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(sequence, port, hops, idle_ms, bytes, home);
  }
};
inline constexpr uint32_t kIdleForever = 0xffffffff;
// Of its fields, without the bytes that follow.
inline constexpr size_t kHandOverBytes = 23;

// A client's connection stays with the sender; its requests come over the descriptor, and their
// answers go back over it.
struct Relay {
  uint32_t sequence = 0;
  uint16_t port = 0;
  uint8_t hops = 0;
  uint32_t id = 0;  // The sender's number of it.
  uint8_t family = 0;
  uint16_t remote_port = 0;
  uint16_t local_port = 0;
  std::string remote;
  std::string local;
  std::string local_ip;   // 16 bytes, or none.
  std::string tls;        // What a kOpen record says of it; empty = plain.
  std::string trust;      // By whose rules the client was asked for a certificate: a digest.
  uint8_t is_stream = 0;  // Of an HTTP/2 connection, with one request.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(sequence, port, hops, id, family, remote_port, local_port, remote, local, local_ip, tls,
            trust, is_stream);
  }
};

// An answer over a relay is whole.
struct Answered {
  uint32_t id = 0;
  uint64_t total = 0;  // Bytes sent over it so far, this answer included.
  uint8_t closes = 0;  // The connection ends with this answer.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id, total, closes);
  }
};

// What the owner makes of a relayed request that asks for an upgrade; nothing follows it before.
struct Decided {
  uint32_t id = 0;
  uint8_t is_upgraded = 0;  // Bytes of neither HTTP nor a request from here on, both ways.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id, is_upgraded);
  }
};

// The owner has nobody any more for the requests that are unanswered, and has begun none of them.
struct Returned {
  uint32_t id = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id);
  }
};

// The owner of a relay ends its output, or closes it, because its application wants it, or its
// client: an end without this, or an answer that says so, is that of a process.
struct Ended {
  uint32_t id = 0;
  uint8_t is_whole = 0;  // What it has sent of a stream's tunnel is all.

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(id, is_whole);
  }
};

// kFree has no fields: the sender is not blocked any more, and takes back what is its own.

// kTaken: this one and all before it. kDeclined: this one only.
struct Sequence {
  uint32_t sequence = 0;

  template <typename Archive>
  void Fields(Archive& archive) {
    archive(sequence);
  }
};

}  // namespace httpsys::peer
