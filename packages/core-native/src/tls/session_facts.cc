#include "tls/session_facts.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>

#include "base/limits.h"

namespace httpsys::tls {
namespace {

std::string_view Text(const char* text) { return text == nullptr ? std::string_view() : text; }

template <typename Object>
std::string DerOf(const Object* object, int (*encode)(const Object*, unsigned char**)) {
  unsigned char* encoded = nullptr;
  const int size = encode(object, &encoded);
  std::string result(reinterpret_cast<char*>(encoded), size > 0 ? static_cast<size_t>(size) : 0);
  OPENSSL_free(encoded);
  return result;
}

std::string FinishedOf(const SSL* ssl, size_t (*read)(const SSL*, void*, size_t)) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  const size_t size = read(ssl, bytes, sizeof bytes);
  return {reinterpret_cast<char*>(bytes), std::min(size, sizeof bytes)};
}

// The argument is three words of four bytes (length of the result, whether there is a context,
// length of the label), then the label and the context.
std::string KeyingMaterial(SSL* ssl, std::string_view argument) {
  uint32_t words[3];
  if (argument.size() < sizeof words) return {};
  std::memcpy(words, argument.data(), sizeof words);
  argument.remove_prefix(sizeof words);
  if (words[0] > limits::kTlsKeyingBytesMax || words[2] > argument.size()) return {};
  const std::string_view context = argument.substr(words[2]);
  std::string result(words[0], '\0');
  const int done = SSL_export_keying_material(
      ssl, reinterpret_cast<unsigned char*>(result.data()), result.size(), argument.data(),
      words[2], reinterpret_cast<const unsigned char*>(context.data()), context.size(),
      words[1] != 0 ? 1 : 0);
  return done == 1 ? result : std::string();
}

std::string SharedSigalgs(SSL* ssl) {
  std::string lines;
  const int algorithms =
      SSL_get_shared_sigalgs(ssl, 0, nullptr, nullptr, nullptr, nullptr, nullptr);
  for (int i = 0; i < algorithms; ++i) {
    int sign = 0;
    int hash = 0;
    SSL_get_shared_sigalgs(ssl, i, &sign, &hash, nullptr, nullptr, nullptr);
    lines += std::to_string(sign) + ' ' + std::string(Text(OBJ_nid2sn(hash))) + '\n';
  }
  return lines;
}

}  // namespace

std::string AnswerQuestion(SSL* ssl, Question question, std::string_view argument) {
  switch (question) {
    case Question::kSession:
      return DerOf<SSL_SESSION>(SSL_get_session(ssl), i2d_SSL_SESSION);
    case Question::kFinished:
      return FinishedOf(ssl, SSL_get_finished);
    case Question::kPeerFinished:
      return FinishedOf(ssl, SSL_get_peer_finished);
    case Question::kCertificate: {
      const X509* own = SSL_get_certificate(ssl);
      return own == nullptr ? std::string() : DerOf<X509>(own, i2d_X509);
    }
    case Question::kKeyingMaterial:
      return KeyingMaterial(ssl, argument);
    case Question::kSharedSigalgs:
      return SharedSigalgs(ssl);
  }
  return {};
}

Facts DescribeSession(const SSL* ssl, bool has_asked) {
  Facts facts;
  facts.protocol = SSL_version(ssl);
  facts.is_reused = SSL_session_reused(ssl) == 1;
  facts.alpn = ChosenProtocol(ssl);
  if (const SSL_CIPHER* cipher = SSL_get_current_cipher(ssl)) {
    facts.cipher = Text(SSL_CIPHER_get_name(cipher));
    facts.cipher_standard = Text(SSL_CIPHER_standard_name(cipher));
    facts.cipher_version = Text(SSL_CIPHER_get_version(cipher));
  }
  facts.has_asked = has_asked;
  if (!has_asked) return facts;
  X509* certificate = SSL_get0_peer_certificate(ssl);
  facts.verify_result =
      certificate == nullptr ? X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT : SSL_get_verify_result(ssl);
  if (certificate == nullptr) return facts;
  const auto add = [&facts](const X509* each) {
    const std::string der = DerOf<X509>(each, i2d_X509);
    if (der.empty()) return;
    const auto length = static_cast<uint32_t>(der.size());
    facts.certificates.append(reinterpret_cast<const char*>(&length), sizeof length);
    facts.certificates.append(der);
  };
  add(certificate);
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(ssl);
  for (int i = 0; i < sk_X509_num(chain); ++i) add(sk_X509_value(chain, i));
  return facts;
}

HandshakeTerms TermsOf(const SSL* ssl, bool has_asked) {
  HandshakeTerms terms;
  terms.protocol = SSL_version(ssl);
  if (const SSL_CIPHER* cipher = SSL_get_current_cipher(ssl)) {
    terms.cipher = Text(SSL_CIPHER_get_name(cipher));
  }
  terms.is_asked = has_asked;
  // OpenSSL reports a good result for a client without a certificate: check that there is one.
  terms.is_verified = has_asked && SSL_get0_peer_certificate(ssl) != nullptr &&
                      SSL_get_verify_result(ssl) == X509_V_OK;
  return terms;
}

std::string_view ChosenProtocol(const SSL* ssl) {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

bool CoversHost(const SSL* ssl, std::string_view host) {
  X509* certificate = SSL_get_certificate(ssl);
  if (certificate == nullptr || host.empty()) return false;
  const std::string name(host);
  const bool is_bracketed = name.front() == '[' && name.back() == ']';
  const std::string address = is_bracketed ? name.substr(1, name.size() - 2) : name;
  return X509_check_ip_asc(certificate, address.c_str(), 0) == 1 ||
         X509_check_host(certificate, name.data(), name.size(),
                         X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS, nullptr) == 1;
}

}  // namespace httpsys::tls
