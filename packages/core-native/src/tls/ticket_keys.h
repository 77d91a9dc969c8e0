#pragma once
// The keys of session tickets, in memory only. All lanes that serve a port share one set, so that a
// session can be resumed on any of them; the processes of a shared port tell each other their keys.

#include <openssl/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace httpsys::tls {

inline constexpr size_t kTicketNameBytes = 16;
// The keys in Node's format: name, key of the HMAC, key of AES-128-CBC.
inline constexpr size_t kTicketKeysBytes = 48;
// A key in the format of the peer protocol: the name, and two keys of 32 bytes.
inline constexpr size_t kToldKeyBytes = 80;

// Thread: any.
class TicketKeys {
 public:
  struct Told {
    std::string bytes;
    uint64_t age_ms = 0;
  };

  // Makes random keys, which are replaced regularly (limits::kTicketKeyMs). Returns nullptr without
  // randomness.
  static std::shared_ptr<TicketKeys> Create();
  // Returns the keys of a port of this process, made on first use.
  static std::shared_ptr<TicketKeys> OfPort(uint16_t port);
  // Makes keys that are never replaced. Returns nullptr unless there are kTicketKeysBytes.
  static std::shared_ptr<TicketKeys> Fixed(std::string_view bytes);

  // The clock of the calls below.
  static uint64_t NowMs();
  // Returns the keys that others on the port need to open tickets made here, the newest first.
  // Replaces keys that are due.
  std::vector<Told> Tell(uint64_t now_ms);
  // Seals with the first of these keys from now on. The keys that exist can still open tickets.
  void Learn(uint64_t now_ms, const std::vector<Told>& told);

  // Serve the callback of SSL_CTX_set_tlsext_ticket_key_evp_cb(). They return below 0 for a
  // failure; 0 if the key is not ours (a full handshake follows); 1 for success; 2 for success if
  // the client should get a new ticket.
  int Seal(uint64_t now_ms, uint8_t* name, uint8_t* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac);
  int Open(uint64_t now_ms, const uint8_t* name, const uint8_t* iv, EVP_CIPHER_CTX* cipher,
           EVP_MAC_CTX* mac);

 private:
  struct Key {
    std::array<uint8_t, kTicketNameBytes> name;
    std::array<uint8_t, 32> mac_key;
    std::array<uint8_t, 32> cipher_key;
    size_t mac_key_bytes = 0;
    size_t cipher_key_bytes = 0;
    uint64_t made_ms = 0;
  };

  static bool MakeKey(uint64_t now_ms, Key* key);
  static bool Begin(const Key& key, const uint8_t* iv, bool seals, EVP_CIPHER_CTX* cipher,
                    EVP_MAC_CTX* mac);
  static uint64_t AgeOf(const Key& key, uint64_t now_ms);
  void Rotate(uint64_t now_ms);
  void Trim(uint64_t now_ms);

  std::mutex mutex_;
  bool is_fixed_ = false;
  bool is_learned_ = false;  // Another process decides when keys are replaced. Guarded by mutex_.
  std::vector<Key> keys_;    // The newest first. Guarded by mutex_.
};

}  // namespace httpsys::tls
