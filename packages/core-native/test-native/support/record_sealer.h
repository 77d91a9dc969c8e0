#pragma once
// TLS records that no client of OpenSSL's would send.

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace httpsys::tls {

// Seals records of any type with the keys of a client whose handshake has ended: OpenSSL's own
// clients do not send a second wish to renegotiate. TLS 1.2 with AES128-GCM-SHA256 only.
class RecordSealer {
 public:
  explicit RecordSealer(SSL* client) {
    unsigned char master[SSL_MAX_MASTER_KEY_LENGTH];
    unsigned char seed[2 * SSL3_RANDOM_SIZE];
    const size_t size = SSL_SESSION_get_master_key(SSL_get_session(client), master, sizeof master);
    SSL_get_server_random(client, seed, SSL3_RANDOM_SIZE);
    SSL_get_client_random(client, seed + SSL3_RANDOM_SIZE, SSL3_RANDOM_SIZE);
    char digest[] = "SHA256";
    char label[] = "key expansion";
    const OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, master, size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, label, sizeof label - 1),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, seed, sizeof seed),
        OSSL_PARAM_construct_end()};
    EVP_KDF* kdf = EVP_KDF_fetch(nullptr, "TLS1-PRF", nullptr);
    EVP_KDF_CTX* context = EVP_KDF_CTX_new(kdf);
    // The client's key, the server's, and the constant half of the client's nonce.
    EVP_KDF_derive(context, keys_, sizeof keys_, parameters);
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
  }

  std::string Seal(unsigned char type, std::string_view text) {
    constexpr size_t kTagBytes = 16;
    const std::string number = BigEndian(number_++, 8);
    const std::string nonce(reinterpret_cast<const char*>(keys_ + 32), 4);
    const std::string head = std::string(1, static_cast<char>(type)) + "\3\3";
    const std::string known = number + head + BigEndian(text.size(), 2);
    std::string sealed(text.size() + kTagBytes, '\0');
    auto* to = reinterpret_cast<unsigned char*>(sealed.data());
    EVP_CIPHER_CTX* cipher = EVP_CIPHER_CTX_new();
    int size = 0;
    EVP_EncryptInit_ex(cipher, EVP_aes_128_gcm(), nullptr, keys_, Bytes(nonce + number).data());
    EVP_EncryptUpdate(cipher, nullptr, &size, Bytes(known).data(), static_cast<int>(known.size()));
    EVP_EncryptUpdate(cipher, to, &size, Bytes(text).data(), static_cast<int>(text.size()));
    EVP_EncryptFinal_ex(cipher, to + size, &size);
    EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, kTagBytes, to + text.size());
    EVP_CIPHER_CTX_free(cipher);
    return head + BigEndian(number.size() + sealed.size(), 2) + number + sealed;
  }

 private:
  using ByteString = std::basic_string<unsigned char>;

  static ByteString Bytes(std::string_view text) { return {text.begin(), text.end()}; }
  static std::string BigEndian(uint64_t value, size_t bytes) {
    std::string text(bytes, '\0');
    for (; bytes-- != 0; value >>= 8) text[bytes] = static_cast<char>(value & 0xff);
    return text;
  }

  unsigned char keys_[40] = {};
  uint64_t number_ = 1;  // The first record was the end of the handshake.
};

}  // namespace httpsys::tls
