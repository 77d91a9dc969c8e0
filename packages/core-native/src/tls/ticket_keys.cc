#include "tls/ticket_keys.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

#include "base/limits.h"
#include "base/process.h"

namespace httpsys::tls {
namespace {

constexpr int kIvBytes = 16;

struct KeysOfPorts {
  std::mutex mutex;
  std::map<uint16_t, std::shared_ptr<TicketKeys>> keys;
};

}  // namespace

std::shared_ptr<TicketKeys> TicketKeys::Create() {
  auto keys = std::make_shared<TicketKeys>();
  Key first;
  if (!MakeKey(0, &first)) return nullptr;
  keys->keys_.push_back(first);
  return keys;
}

std::shared_ptr<TicketKeys> TicketKeys::OfPort(uint16_t port) {
  auto& ports = OfProcess<KeysOfPorts>();
  const std::lock_guard lock(ports.mutex);
  std::shared_ptr<TicketKeys>& keys = ports.keys[port];
  if (keys == nullptr) keys = Create();
  return keys;
}

std::shared_ptr<TicketKeys> TicketKeys::Fixed(std::string_view bytes) {
  if (bytes.size() != kTicketKeysBytes) return nullptr;
  auto keys = std::make_shared<TicketKeys>();
  keys->is_fixed_ = true;
  Key key;
  key.mac_key_bytes = key.cipher_key_bytes = 16;
  std::memcpy(key.name.data(), bytes.data(), kTicketNameBytes);
  std::memcpy(key.mac_key.data(), bytes.data() + 16, 16);
  std::memcpy(key.cipher_key.data(), bytes.data() + 32, 16);
  keys->keys_.push_back(key);
  return keys;
}

uint64_t TicketKeys::NowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

bool TicketKeys::MakeKey(uint64_t now_ms, Key* key) {
  key->made_ms = now_ms;
  key->mac_key_bytes = key->mac_key.size();
  key->cipher_key_bytes = key->cipher_key.size();
  return RAND_bytes(key->name.data(), static_cast<int>(key->name.size())) == 1 &&
         RAND_bytes(key->mac_key.data(), static_cast<int>(key->mac_key.size())) == 1 &&
         RAND_bytes(key->cipher_key.data(), static_cast<int>(key->cipher_key.size())) == 1;
}

// Makes a new key if the current one is too old. If that fails, the next call tries again.
void TicketKeys::Rotate(uint64_t now_ms) {
  if (keys_.front().made_ms == 0) keys_.front().made_ms = now_ms;
  // Keys from another member are replaced later: that member gets time to send new ones first.
  const uint64_t due_ms = limits::kTicketKeyMs + (is_learned_ ? 2 * limits::kTicketTellMs : 0);
  if (AgeOf(keys_.front(), now_ms) >= due_ms) {
    Key next;
    if (!MakeKey(now_ms, &next)) return;
    keys_.insert(keys_.begin(), next);
  }
  Trim(now_ms);
}

uint64_t TicketKeys::AgeOf(const Key& key, uint64_t now_ms) {
  return now_ms - std::min(now_ms, key.made_ms);
}

// Drops old keys, but not the first one.
void TicketKeys::Trim(uint64_t now_ms) {
  keys_.erase(std::remove_if(keys_.begin() + 1, keys_.end(),
                             [=](const Key& key) {
                               return AgeOf(key, now_ms) >=
                                      limits::kTicketKeyMs * limits::kTicketKeysKept;
                             }),
              keys_.end());
  // Twice the limit: a process that joins a port keeps its own earlier keys, too.
  if (keys_.size() > 2 * limits::kTicketKeysKept) keys_.resize(2 * limits::kTicketKeysKept);
}

std::vector<TicketKeys::Told> TicketKeys::Tell(uint64_t now_ms) {
  const std::lock_guard lock(mutex_);
  if (is_fixed_) return {};
  Rotate(now_ms);
  std::vector<Told> told;
  for (const Key& key : keys_) {
    if (told.size() == limits::kTicketKeysKept) break;
    std::string bytes(kToldKeyBytes, '\0');
    std::memcpy(bytes.data(), key.name.data(), key.name.size());
    std::memcpy(bytes.data() + 16, key.mac_key.data(), key.mac_key.size());
    std::memcpy(bytes.data() + 48, key.cipher_key.data(), key.cipher_key.size());
    told.push_back({std::move(bytes), AgeOf(key, now_ms)});
  }
  return told;
}

void TicketKeys::Learn(uint64_t now_ms, const std::vector<Told>& told) {
  const std::lock_guard lock(mutex_);
  if (is_fixed_) return;
  std::vector<Key> keys;
  for (const Told& one : told) {
    const bool is_sound = one.bytes.size() == kToldKeyBytes &&
                          one.age_ms < limits::kTicketKeyMs * limits::kTicketKeysKept;
    if (!is_sound || keys.size() == limits::kTicketKeysKept) continue;
    Key key;
    std::memcpy(key.name.data(), one.bytes.data(), key.name.size());
    std::memcpy(key.mac_key.data(), one.bytes.data() + 16, key.mac_key.size());
    std::memcpy(key.cipher_key.data(), one.bytes.data() + 48, key.cipher_key.size());
    key.mac_key_bytes = key.mac_key.size();
    key.cipher_key_bytes = key.cipher_key.size();
    key.made_ms = std::max<uint64_t>(now_ms - std::min(now_ms, one.age_ms), 1);
    keys.push_back(key);
  }
  if (keys.empty()) return;
  if (keys_.front().made_ms == 0) keys_.front().made_ms = now_ms;
  for (const Key& old : keys_) {
    const bool is_known =
        std::any_of(keys.begin(), keys.end(), [&](const Key& key) { return key.name == old.name; });
    if (!is_known) keys.push_back(old);
  }
  keys_ = std::move(keys);
  is_learned_ = true;
  Trim(now_ms);
}

bool TicketKeys::Begin(const Key& key, const uint8_t* iv, bool seals, EVP_CIPHER_CTX* cipher,
                       EVP_MAC_CTX* mac) {
  char digest[] = "SHA256";
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_octet_string(
          OSSL_MAC_PARAM_KEY, const_cast<uint8_t*>(key.mac_key.data()), key.mac_key_bytes),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end(),
  };
  const EVP_CIPHER* kind = key.cipher_key_bytes == 16 ? EVP_aes_128_cbc() : EVP_aes_256_cbc();
  const uint8_t* bytes = key.cipher_key.data();
  return EVP_MAC_CTX_set_params(mac, params) == 1 &&
         EVP_CipherInit_ex(cipher, kind, nullptr, bytes, iv, seals ? 1 : 0) == 1;
}

int TicketKeys::Seal(uint64_t now_ms, uint8_t* name, uint8_t* iv, EVP_CIPHER_CTX* cipher,
                     EVP_MAC_CTX* mac) {
  Key key;
  {
    const std::lock_guard lock(mutex_);
    if (!is_fixed_) Rotate(now_ms);
    key = keys_.front();
  }
  if (RAND_bytes(iv, kIvBytes) != 1 || !Begin(key, iv, true, cipher, mac)) return -1;
  std::memcpy(name, key.name.data(), kTicketNameBytes);
  return 1;
}

int TicketKeys::Open(uint64_t now_ms, const uint8_t* name, const uint8_t* iv,
                     EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac) {
  Key key;
  bool is_newest;
  {
    const std::lock_guard lock(mutex_);
    if (!is_fixed_) Rotate(now_ms);
    const auto found = std::find_if(keys_.begin(), keys_.end(), [=](const Key& each) {
      return std::memcmp(each.name.data(), name, kTicketNameBytes) == 0;
    });
    if (found == keys_.end()) return 0;
    key = *found;
    is_newest = found == keys_.begin();
  }
  if (!Begin(key, iv, false, cipher, mac)) return -1;
  return is_newest ? 1 : 2;
}

}  // namespace httpsys::tls
