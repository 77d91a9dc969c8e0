#pragma once
// The keys of session tickets, in memory only. All lanes that serve a port share one set, so that a
// session that began on one of them goes on on any; the processes of a shared port tell each other.

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
// As Node hands them out: name, key of the HMAC, key of AES-128-CBC.
inline constexpr size_t kTicketKeysBytes = 48;
// As members of a port tell each other: the name, and two keys of 32 bytes.
inline constexpr size_t kToldKeyBytes = 80;

// Thread: any.
class TicketKeys {
 public:
  struct Told {
    std::string bytes;
    uint64_t age_ms = 0;
  };

  // Random ones that are replaced by themselves (limits::kTicketKeyMs). nullptr without randomness.
  static std::shared_ptr<TicketKeys> Create();
  // Those of a port of this process, made when first asked for.
  static std::shared_ptr<TicketKeys> OfPort(uint16_t port);
  // These, for ever. nullptr unless there are kTicketKeysBytes.
  static std::shared_ptr<TicketKeys> Fixed(std::string_view bytes);

  // The clock of the calls below.
  static uint64_t NowMs();
  // What others on the port need to open what is sealed here, the newest first. Replaces what is
  // due.
  std::vector<Told> Tell(uint64_t now_ms);
  // Seals with the first of these from now on. Those that there are go on to open.
  void Learn(uint64_t now_ms, const std::vector<Told>& told);

  // What SSL_CTX_set_tlsext_ticket_key_evp_cb() asks for: below 0 = failure, 0 = not ours (a full
  // handshake follows), 1 = done, 2 = done, and the client should have a new ticket.
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
  bool is_learned_ = false;  // Guarded by mutex_: somebody else tells when they are replaced.
  std::vector<Key> keys_;    // Guarded by mutex_; the newest first.
};

}  // namespace httpsys::tls
