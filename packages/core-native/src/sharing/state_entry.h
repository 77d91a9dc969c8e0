#pragma once
// One registered prefix of a port.

#include <cstdint>
#include <string>

#include "peer/messages.h"
#include "url/url_prefix.h"

namespace httpsys::sharing {

struct StateEntry {
  peer::Entry entry;
  UrlPrefix parsed;
  std::string key;  // Equal for prefixes that a request cannot tell apart.
  // Equal for prefixes that a ClientHello cannot tell apart; empty without TLS.
  std::string hello_key;
  uint64_t absent_until_ms = 0;  // Time until which the prefix waits for a server; 0 = it has one.
  uint64_t order = 0;            // Rises from entry to entry, in order of arrival.

  bool is_absent() const { return absent_until_ms != 0; }
  // True if the entry is absent and its owner has died, or its successor has not come in time.
  bool is_offline() const { return is_absent() && (entry.flags & peer::kEntryOffline) != 0; }
  bool IsOf(uint64_t member, uint32_t server_id) const {
    return entry.member == member && entry.server_id == server_id;
  }
};

// Returns true if a prefix with these flags is for IPv4 connections only: it is bound to an IPv4
// address, or registered for the IPv4 wildcard.
bool IsIpv4(const UrlPrefix& prefix, uint8_t flags);

// Parses a prefix and sets entry's `parsed` and keys. Returns false if it is none of this port.
bool ParseEntry(uint16_t port, const std::string& prefix, StateEntry* entry);

// Returns the key without the scheme: equal for prefixes that are one entry of a UrlPrefixTable.
inline std::string TableKeyOf(const StateEntry& entry) { return entry.key.substr(1); }

}  // namespace httpsys::sharing
