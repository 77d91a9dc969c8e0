#pragma once
// The keys of session tickets, in memory only. All lanes that serve a port share one set, so that a
// session can be resumed on any of them. The processes of a shared port send each other their keys.

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
// Size of keys in Node's format: name, HMAC key, AES-128-CBC key.
inline constexpr size_t kTicketKeysBytes = 48;
// Size of a key in the protocol between processes: the name, and two keys of 32 bytes.
inline constexpr size_t kToldKeyBytes = 80;

// Thread: any.
class TicketKeys {
 public:
  struct Told {
    std::string bytes;
    uint64_t age_ms = 0;
  };

  // Makes random keys, replaced after limits::kTicketKeyMs. nullptr = no random numbers.
  static std::shared_ptr<TicketKeys> Create();
  // Returns the keys of a port of this process, made on first use.
  static std::shared_ptr<TicketKeys> OfPort(uint16_t port);
  // Makes keys that are never replaced. Returns nullptr if `bytes` is not kTicketKeysBytes long.
  static std::shared_ptr<TicketKeys> Fixed(std::string_view bytes);

  static uint64_t NowMs();
  // Returns the keys that other processes of the port need to decrypt tickets made here, the newest
  // first. Replaces expired keys first.
  std::vector<Told> Tell(uint64_t now_ms);
  // Adopts the keys of another process: the first one encrypts tickets from now on. The existing
  // keys can still decrypt tickets.
  void Learn(uint64_t now_ms, const std::vector<Told>& told);

  // Implement the callback of SSL_CTX_set_tlsext_ticket_key_evp_cb(). They return a negative number
  // for a failure; 0 if the key is unknown (a full handshake follows); 1 for success; 2 for success
  // if the client should get a new ticket.
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
  // True if another process decides when keys are replaced. Guarded by mutex_.
  bool is_learned_ = false;
  std::vector<Key> keys_;  // The newest first. Guarded by mutex_.
};

}  // namespace httpsys::tls
