#include "tls/dev_certificate.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>

namespace httpsys::tls {
namespace {

struct Deleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};

constexpr long kSecondsPerDay = 86'400;
constexpr long kClockSkewSeconds = 3600;
constexpr int kSerialBytes = 16;

bool IsAddress(const std::string& name) {
  return name.find(':') != std::string::npos ||
         name.find_first_not_of("0123456789.") == std::string::npos;
}

bool AddExtension(X509* certificate, int kind, const std::string& value) {
  const std::unique_ptr<X509_EXTENSION, Deleter> extension(
      X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool SetSerial(X509* certificate) {
  unsigned char bytes[kSerialBytes];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] &= 0x7f;
  BIGNUM* number = BN_bin2bn(bytes, sizeof bytes, nullptr);
  const bool is_set = number != nullptr &&
                      BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return is_set;
}

bool Fill(X509* certificate, EVP_PKEY* key, const std::vector<std::string>& names, int days) {
  std::string alternatives;
  for (const std::string& name : names) {
    if (!alternatives.empty()) alternatives += ',';
    alternatives += (IsAddress(name) ? "IP:" : "DNS:") + name;
  }
  X509_NAME* subject = X509_get_subject_name(certificate);
  const auto* text = reinterpret_cast<const unsigned char*>("httpsys development");
  return X509_set_version(certificate, 2) == 1 && SetSerial(certificate) &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), -kClockSkewSeconds) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), days * kSecondsPerDay) != nullptr &&
         X509_set_pubkey(certificate, key) == 1 &&
         X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, text, -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, subject) == 1 &&
         AddExtension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         AddExtension(certificate, NID_ext_key_usage, "serverAuth") &&
         AddExtension(certificate, NID_subject_alt_name, alternatives) &&
         X509_sign(certificate, key, EVP_sha256()) != 0;
}

std::string TextOf(BIO* bio) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio, &text);
  return size > 0 ? std::string(text, static_cast<size_t>(size)) : std::string();
}

}  // namespace

KeyPair MakeDevCertificate(const std::vector<std::string>& names, int days) {
  const std::unique_ptr<EVP_PKEY, Deleter> key(EVP_EC_gen("P-256"));
  const std::unique_ptr<X509, Deleter> certificate(X509_new());
  const std::unique_ptr<BIO, Deleter> key_text(BIO_new(BIO_s_mem()));
  const std::unique_ptr<BIO, Deleter> text(BIO_new(BIO_s_mem()));
  if (key == nullptr || certificate == nullptr || key_text == nullptr || text == nullptr ||
      !Fill(certificate.get(), key.get(), names, days)) {
    return {};
  }
  if (PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                    nullptr) != 1 ||
      PEM_write_bio_X509(text.get(), certificate.get()) != 1) {
    return {};
  }
  return {TextOf(key_text.get()), TextOf(text.get())};
}

}  // namespace httpsys::tls
