// By what rules clients are asked for certificates, and whether the handshake of one server does
// for requests of another.

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "tls/facts.h"
#include "tls/server_context.h"
#include "url/url_prefix.h"

namespace httpsys::tls {
namespace {

// All of both sides, against the sentences of docs/tls.md.
TEST(AdmitsTest, AHandshakeDoesForAnOwnerThatWouldHaveMadeItToo) {
  const bool both[] = {false, true};
  for (const bool is_negotiable : both) {
    for (const bool asks : both) {
      for (const bool rejects : both) {
        for (const bool is_known : both) {
          for (const bool is_asked : both) {
            for (const bool is_verified : both) {
              for (const char* trust : {"", "a", "b"}) {
                const OwnerTerms owner{is_negotiable, asks, rejects, is_known, "a"};
                const HandshakeTerms handshake{0x0304, "cipher", is_asked, is_verified, trust};
                bool is_right = is_negotiable;
                if (asks) {
                  is_right = is_right && is_known && is_asked && std::string(trust) == "a";
                  if (rejects) is_right = is_right && is_verified;
                }
                EXPECT_EQ(Admits(owner, handshake), is_right);
              }
            }
          }
        }
      }
    }
  }
}

X509* NewAuthority(const char* name) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_set_pubkey(certificate, key);
  X509_NAME* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(certificate, subject);
  X509_sign(certificate, key, EVP_sha256());
  EVP_PKEY_free(key);
  return certificate;
}

class TermsTest : public testing::Test {
 protected:
  struct Free {
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  using Authority = std::unique_ptr<X509, Free>;

  ContextPtr ContextOf(const std::vector<X509*>& authorities) {
    ContextPtr context(SSL_CTX_new(TLS_server_method()));
    for (X509* authority : authorities) {
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), authority);
      SSL_CTX_add_client_CA(context.get(), authority);
    }
    return context;
  }
  struct Rules {
    bool asks = true;
    bool rejects = true;
    bool asks_host = false;
    std::vector<X509*> authorities = {};
    std::vector<std::pair<std::string, std::vector<X509*>>> hosts = {};
  };
  std::shared_ptr<const ServerContext> Server(const Rules& rules) {
    contexts_.push_back(ContextOf(rules.authorities));
    ContextSettings settings;
    settings.context = contexts_.back().get();
    settings.request_cert = rules.asks;
    settings.reject_unauthorized = rules.rejects;
    settings.asks_host = rules.asks_host;
    for (const auto& [pattern, authorities] : rules.hosts) {
      settings.hosts.push_back({pattern, HostContext::Copy(ContextOf(authorities).get())});
    }
    return ServerContext::Create(std::move(settings));
  }
  static std::string DigestOf(const ServerContext& server, const char* prefix,
                              const char* unique = "1") {
    UrlPrefix parsed;
    EXPECT_EQ(ParseUrlPrefix(prefix, &parsed), PrefixError::kNone);
    return server.TermsDigest(parsed, unique);
  }

  const Authority one_{NewAuthority("one")};
  const Authority two_{NewAuthority("two")};
  std::vector<ContextPtr> contexts_;
};

TEST_F(TermsTest, DigestsAreEqualForEqualRules) {
  const char* prefix = "https://a.test:443/";
  const auto rules = Server({.authorities = {one_.get(), two_.get()}});
  const std::string digest = DigestOf(*rules, prefix);
  EXPECT_EQ(digest.size(), 32u);
  EXPECT_EQ(DigestOf(*Server({.authorities = {two_.get(), one_.get()}}), prefix, "2"), digest)
      << "the order of authorities means nothing";
  EXPECT_NE(DigestOf(*Server({.authorities = {one_.get()}}), prefix), digest);
  EXPECT_NE(DigestOf(*Server({.rejects = false, .authorities = {one_.get(), two_.get()}}), prefix),
            digest);
  const auto none = Server({.asks = false, .authorities = {one_.get()}});
  EXPECT_NE(DigestOf(*none, prefix), digest);
  EXPECT_EQ(DigestOf(*none, prefix),
            DigestOf(*Server({.asks = false, .rejects = false, .asks_host = true}), prefix, "2"))
      << "who asks for none does so by no rules";
}

TEST_F(TermsTest, WhatJavaScriptWillChooseIsOneServersAlone) {
  const auto server = Server({.asks_host = true, .authorities = {one_.get()}});
  const char* prefix = "https://a.test:443/";
  EXPECT_EQ(DigestOf(*server, prefix, "1"), DigestOf(*server, prefix, "1"));
  EXPECT_NE(DigestOf(*server, prefix, "1"), DigestOf(*server, prefix, "2"));
}

TEST_F(TermsTest, ANameHasTheAuthoritiesOfItsContext) {
  const auto server = Server(
      {.authorities = {one_.get()}, .hosts = {{"a.test", {two_.get()}}, {"c.test", {one_.get()}}}});
  const auto one = Server({.authorities = {one_.get()}});
  const auto two = Server({.authorities = {two_.get()}});
  EXPECT_EQ(DigestOf(*server, "https://a.test:443/"), DigestOf(*two, "https://a.test:443/"));
  EXPECT_EQ(DigestOf(*server, "https://b.test:443/"), DigestOf(*one, "https://b.test:443/"));
  // Clients of a wildcard may name any host.
  EXPECT_NE(DigestOf(*server, "https://*:443/"), DigestOf(*one, "https://*:443/"));
  EXPECT_EQ(DigestOf(*Server({.authorities = {one_.get()}, .hosts = {{"c.test", {one_.get()}}}}),
                     "https://*:443/"),
            DigestOf(*one, "https://*:443/"));
  const HandshakeTerms handshake;
  EXPECT_EQ(server->TermsFor("A.test", handshake).trust, two->TrustOf(nullptr));
  for (const char* other : {"b.test", "", "127.0.0.1", "[::1]"}) {
    EXPECT_EQ(server->TermsFor(other, handshake).trust, one->TrustOf(nullptr)) << other;
  }
}

TEST_F(TermsTest, AnAddressIsNoNameThatAPatternFits) {
  const auto server = Server(
      {.authorities = {one_.get()}, .hosts = {{"*.*.*.*", {two_.get()}}, {"*", {two_.get()}}}});
  const HandshakeTerms handshake;
  EXPECT_NE(server->TermsFor("a.b.c.test", handshake).trust, server->TrustOf(nullptr));
  for (const char* other : {"", "127.0.0.1", "[::1]"}) {
    EXPECT_EQ(server->TermsFor(other, handshake).trust, server->TrustOf(nullptr)) << other;
  }
}

// Whether a server with this context would negotiate a version with a cipher.
bool Negotiates(SSL_CTX* context, int version, const char* cipher) {
  ContextSettings settings;
  settings.context = context;
  HandshakeTerms handshake;
  handshake.protocol = version;
  handshake.cipher = cipher;
  return ServerContext::Create(settings)->TermsFor("a.test", handshake).is_negotiable;
}

TEST_F(TermsTest, VersionsAndCiphersAreThoseOfTheServer) {
  ContextPtr context(SSL_CTX_new(TLS_server_method()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context.get(), "ECDHE-RSA-AES128-GCM-SHA256");
  const char* kOwn = "ECDHE-RSA-AES128-GCM-SHA256";
  EXPECT_TRUE(Negotiates(context.get(), TLS1_2_VERSION, kOwn));
  EXPECT_FALSE(Negotiates(context.get(), TLS1_2_VERSION, "ECDHE-RSA-AES256-GCM-SHA384"));
  EXPECT_FALSE(Negotiates(context.get(), TLS1_1_VERSION, kOwn));
  EXPECT_TRUE(Negotiates(context.get(), TLS1_3_VERSION, "TLS_AES_128_GCM_SHA256"));
  EXPECT_FALSE(Negotiates(context.get(), TLS1_3_VERSION, kOwn)) << "a cipher of another version";
  EXPECT_FALSE(Negotiates(context.get(), 0, ""));
  SSL_CTX_set_options(context.get(), SSL_OP_NO_TLSv1_3);
  EXPECT_FALSE(Negotiates(context.get(), TLS1_3_VERSION, "TLS_AES_128_GCM_SHA256"));
  SSL_CTX_clear_options(context.get(), SSL_OP_NO_TLSv1_3);
  SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
  EXPECT_FALSE(Negotiates(context.get(), TLS1_3_VERSION, "TLS_AES_128_GCM_SHA256"));
}

// OpenSSL 3 speaks versions before TLS 1.2 at level 0 only, whatever their minimum says.
TEST_F(TermsTest, AVersionThatTheSecurityLevelForbidsIsNotNegotiated) {
  ContextPtr context(SSL_CTX_new(TLS_server_method()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
  const char* kCipher = "ECDHE-RSA-AES128-SHA";
  SSL_CTX_set_security_level(context.get(), 0);
  EXPECT_TRUE(Negotiates(context.get(), TLS1_VERSION, kCipher));
  SSL_CTX_set_security_level(context.get(), 1);
  EXPECT_FALSE(Negotiates(context.get(), TLS1_VERSION, kCipher));
  EXPECT_TRUE(Negotiates(context.get(), TLS1_2_VERSION, kCipher));
}

TEST_F(TermsTest, TheSecurityLevelIsPartOfWhatMakesACertificateGood) {
  std::vector<std::string> trusts;
  for (const int level : {0, 1}) {
    ContextPtr context = ContextOf({one_.get()});
    SSL_CTX_set_security_level(context.get(), level);
    ContextSettings settings;
    settings.context = context.get();
    settings.request_cert = true;
    trusts.push_back(ServerContext::Create(settings)->TrustOf(nullptr));
  }
  EXPECT_NE(trusts[0], trusts[1]);
}

// Sets what OpenSSL's own store of authorities is named by, as long as a test runs.
class CertificateFolder {
 public:
  explicit CertificateFolder(const char* folder) {
    setenv(X509_get_default_cert_dir_env(), folder, 1);
  }
  ~CertificateFolder() { unsetenv(X509_get_default_cert_dir_env()); }
  CertificateFolder(const CertificateFolder&) = delete;
  CertificateFolder& operator=(const CertificateFolder&) = delete;
};

std::string TrustOf(const ContextPtr& context) {
  ContextSettings settings;
  settings.context = context.get();
  settings.request_cert = true;
  return ServerContext::Create(settings)->TrustOf(nullptr);
}

// node --use-openssl-ca: authorities are looked up in a folder when a client shows a certificate.
TEST_F(TermsTest, FoldersOfAuthoritiesArePartOfWhatMakesACertificateGood) {
  std::vector<std::string> trusts;
  for (const char* folder : {"/", "/tmp", "/tmp:/", "/nowhere", "/tmp/."}) {
    const CertificateFolder set(folder);
    ContextPtr context(SSL_CTX_new(TLS_server_method()));
    X509_STORE_set_default_paths(SSL_CTX_get_cert_store(context.get()));
    trusts.push_back(TrustOf(context));
  }
  for (size_t i = 0; i < 4; ++i) {
    for (size_t k = 0; k < i; ++k) EXPECT_NE(trusts[i], trusts[k]) << i << " and " << k;
  }
  EXPECT_EQ(trusts[4], trusts[1]) << "another name of the same folder";
}

// What a PKCS#12 file has beside its certificate is added to the store, to the names that clients
// get, and to the chain.
TEST_F(TermsTest, FoldersCountForAStoreThatHasMoreThanTheAuthoritiesItWasGiven) {
  std::vector<std::string> trusts;
  for (const char* folder : {"/", "/tmp"}) {
    const CertificateFolder set(folder);
    ContextPtr context = ContextOf({one_.get()});
    SSL_CTX_add1_chain_cert(context.get(), one_.get());
    trusts.push_back(TrustOf(context));
    context = ContextOf({one_.get()});
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), two_.get());
    trusts.push_back(TrustOf(context));
  }
  EXPECT_NE(trusts[0], trusts[2]);
  EXPECT_NE(trusts[1], trusts[3]);
}

TEST_F(TermsTest, FoldersMeanNothingToAServerThatNamesItsAuthorities) {
  std::vector<std::string> trusts;
  for (const char* folder : {"/", "/tmp"}) {
    const CertificateFolder set(folder);
    trusts.push_back(TrustOf(ContextOf({one_.get(), two_.get()})));
  }
  EXPECT_EQ(trusts[0], trusts[1]);
}

}  // namespace
}  // namespace httpsys::tls
