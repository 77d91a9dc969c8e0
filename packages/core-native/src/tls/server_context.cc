#include "tls/server_context.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/process.h"
#include "tls/client_hello.h"
#include "tls/negotiation.h"
#include "url/host_name.h"

namespace httpsys::tls {
namespace {

// A SHA-256 digest of a list of parts. Different lists never have the same encoding.
class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new()) { EVP_DigestInit_ex(context_, EVP_sha256(), nullptr); }
  ~Digest() { EVP_MD_CTX_free(context_); }
  Digest& operator=(Digest&&) = delete;

  void Add(std::string_view part) {
    const uint64_t size = part.size();
    EVP_DigestUpdate(context_, &size, sizeof size);
    EVP_DigestUpdate(context_, part.data(), part.size());
  }

  template <typename Object>
  void AddDer(const Object* object, int (*encode)(const Object*, unsigned char**)) {
    unsigned char* bytes = nullptr;
    const int size = encode(object, &bytes);
    if (size > 0) Add({reinterpret_cast<char*>(bytes), static_cast<size_t>(size)});
    OPENSSL_free(bytes);
  }

  std::string Finish() {
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_DigestFinal_ex(context_, bytes, &size);
    return {reinterpret_cast<char*>(bytes), size};
  }

 private:
  EVP_MD_CTX* context_;
};

template <typename Object>
std::string DigestOf(const Object* object, int (*encode)(const Object*, unsigned char**)) {
  Digest digest;
  digest.AddDer<Object>(object, encode);
  return digest.Finish();
}

// Adds digests in sorted order: the order of authorities has no meaning, and OpenSSL changes it in
// a store at the first look-up.
void AddSorted(std::vector<std::string> digests, Digest* digest) {
  std::sort(digests.begin(), digests.end());
  for (const std::string& each : digests) digest->Add(each);
}

// Adds the folders in which OpenSSL looks for authorities if it uses its own store of them. A
// folder is identified by its device and inode, which are the same under all its names.
void AddFolders(Digest* digest) {
  const char* set = EnvironmentVariable(X509_get_default_cert_dir_env());
  const std::string_view folders = set != nullptr ? set : X509_get_default_cert_dir();
  for (size_t at = 0; at <= folders.size();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    const std::string folder(folders.substr(at, end - at));
    struct stat facts;
    if (stat(folder.c_str(), &facts) == 0) {
      digest->Add(std::to_string(facts.st_dev) + ":" + std::to_string(facts.st_ino));
    } else {
      digest->Add(folder);
    }
    at = end + 1;
  }
}

// Returns true if the chain, which may be nullptr, contains this certificate.
bool IsIn(STACK_OF(X509) * chain, const X509* certificate) {
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    if (X509_cmp(sk_X509_value(chain, i), certificate) == 0) return true;
  }
  return false;
}

void AddTrust(SSL_CTX* context, Digest* digest) {
  std::vector<std::string> digests;
  const STACK_OF(X509_NAME)* names = SSL_CTX_get_client_CA_list(context);
  const int count = sk_X509_NAME_num(names);
  if (count > 0) digests.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    digests.push_back(DigestOf<X509_NAME>(sk_X509_NAME_value(names, i), i2d_X509_NAME));
  }
  const std::vector<std::string> named = digests;
  AddSorted(std::move(digests), digest);
  digests.clear();
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(context, &chain);
  // Node sends clients the names of the authorities that were given as `ca` or `pfx`, but not of
  // those in a store. A store made from `ca` has no other authorities. A store with authorities
  // from `pfx`, which are also in the chain, may have the folders, too.
  bool has_own = false;
  bool has_others = false;
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  X509_STORE_lock(store);
  const STACK_OF(X509_OBJECT)* objects = X509_STORE_get0_objects(store);
  for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
    const X509_OBJECT* object = sk_X509_OBJECT_value(objects, i);
    if (const X509* certificate = X509_OBJECT_get0_X509(object)) {
      digests.push_back(DigestOf<X509>(certificate, i2d_X509));
      const std::string name =
          DigestOf<X509_NAME>(X509_get_subject_name(certificate), i2d_X509_NAME);
      const bool is_named = std::find(named.begin(), named.end(), name) != named.end();
      has_others = has_others || !is_named;
      has_own = has_own || (is_named && !IsIn(chain, certificate));
    } else if (X509_CRL* list = X509_OBJECT_get0_X509_CRL(const_cast<X509_OBJECT*>(object))) {
      digests.push_back(DigestOf<X509_CRL>(list, i2d_X509_CRL));
    }
  }
  X509_STORE_unlock(store);
  AddSorted(std::move(digests), digest);
  // OpenSSL cannot say whether the store also searches folders (node --use-openssl-ca). If it may,
  // include them in the digest.
  if (!has_own || has_others) AddFolders(digest);
  // With Node's allowPartialTrustChain, an authority in the middle of a chain is trusted, too.
  const unsigned long flags = X509_VERIFY_PARAM_get_flags(X509_STORE_get0_param(store));
  if ((flags & X509_V_FLAG_PARTIAL_CHAIN) != 0) digest->Add("partial chain");
  // `@SECLEVEL` in Node's ciphers decides which keys and signatures of certificates are too weak.
  digest->Add(std::to_string(SSL_CTX_get_security_level(context)));
}

// Calls `use` for each kind of key for which the context has a certificate.
template <typename Function>
bool ForEachCertificate(SSL_CTX* context, Function use) {
  bool is_fine = true;
  for (long more = SSL_CTX_set_current_cert(context, SSL_CERT_SET_FIRST); more == 1;
       more = SSL_CTX_set_current_cert(context, SSL_CERT_SET_NEXT)) {
    is_fine = is_fine && use(SSL_CTX_get0_certificate(context), SSL_CTX_get0_privatekey(context));
  }
  SSL_CTX_set_current_cert(context, SSL_CERT_SET_FIRST);
  return is_fine;
}

std::string IdentityOf(SSL_CTX* context) {
  Digest digest;
  ForEachCertificate(context, [&](X509* certificate, EVP_PKEY*) {
    digest.AddDer<X509>(certificate, i2d_X509);
    return true;
  });
  AddTrust(context, &digest);
  return digest.Finish();
}

std::string TrustIn(SSL_CTX* context) {
  Digest digest;
  AddTrust(context, &digest);
  return digest.Finish();
}

}  // namespace

void ContextDeleter::operator()(SSL_CTX* context) const { SSL_CTX_free(context); }

std::shared_ptr<const HostContext> HostContext::Copy(SSL_CTX* from, bool logs_keys) {
  auto host = std::make_shared<HostContext>();
  host->context_.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* to = host->context_.get();
  if (to == nullptr) return nullptr;
  // Copy only the parts of a context that matter after the ClientHello: certificates and trusted
  // authorities. Versions, ciphers and all other settings remain the server's, as in Node.
  SSL_CTX_set_security_level(to, 0);
  const bool is_copied = ForEachCertificate(from, [&](X509* certificate, EVP_PKEY* key) {
    STACK_OF(X509)* chain = nullptr;
    SSL_CTX_get0_chain_certs(from, &chain);
    return SSL_CTX_use_cert_and_key(to, certificate, key, chain, 1) == 1;
  });
  if (!is_copied) return nullptr;
  SSL_CTX_set_security_level(to, SSL_CTX_get_security_level(from));
  SSL_CTX_set1_cert_store(to, SSL_CTX_get_cert_store(from));
  if (const STACK_OF(X509_NAME)* names = SSL_CTX_get_client_CA_list(from)) {
    SSL_CTX_set_client_CA_list(to, SSL_dup_CA_list(names));
  }
  Negotiation::PrepareContext(to, logs_keys);
  host->identity_ = IdentityOf(to);
  host->trust_ = TrustIn(to);
  return host;
}

std::shared_ptr<const ServerContext> ServerContext::Create(ContextSettings settings) {
  if (settings.context == nullptr) return nullptr;
  for (const ContextSettings::Host& host : settings.hosts) {
    if (host.context == nullptr) return nullptr;
  }
  auto created = std::make_shared<ServerContext>();
  SSL_CTX_up_ref(settings.context);
  created->context_.reset(settings.context);
  created->settings_ = std::move(settings);
  SSL_CTX* context = created->context_.get();
  created->identity_ = IdentityOf(context);
  created->trust_ = TrustIn(context);
  created->FindCiphers();
  Negotiation::PrepareContext(context, created->settings_.logs_keys);
  const std::string id = created->SessionIdContext(nullptr);
  SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(id.data()),
                                 static_cast<unsigned>(id.size()));
  Negotiation::PrepareServer(context, created->settings_);
  return created;
}

std::shared_ptr<const HostContext> ServerContext::FindHost(std::string_view servername) const {
  const std::string_view name = WithoutFinalDot(servername);
  for (auto host = settings_.hosts.rbegin(); host != settings_.hosts.rend(); ++host) {
    if (MatchesHost(WithoutFinalDot(host->pattern), name)) return host->context;
  }
  return nullptr;
}

// Finds the ciphers of each version, once for each version of the settings, so that a request costs
// only a look-up. Asks OpenSSL, because SSL_OP_NO_…, security levels and sigalgs also decide. Not
// reported: versions before TLS 1.2 sign with SHA-1, which OpenSSL 3 allows only at level 0.
void ServerContext::FindCiphers() {
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context_.get()), SSL_free);
  if (ssl == nullptr) return;
  // 0 means that there is no bound.
  const int min = static_cast<int>(SSL_get_min_proto_version(ssl.get()));
  const int max = static_cast<int>(SSL_get_max_proto_version(ssl.get()));
  const bool has_old = SSL_get_security_level(ssl.get()) == 0;
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION}) {
    if (version < TLS1_2_VERSION && !has_old) continue;
    if (version < min || (max != 0 && version > max)) continue;
    if (SSL_set_min_proto_version(ssl.get(), version) != 1 ||
        SSL_set_max_proto_version(ssl.get(), version) != 1) {
      continue;
    }
    STACK_OF(SSL_CIPHER)* ciphers = SSL_get1_supported_ciphers(ssl.get());
    // The count is -1 if there are no ciphers.
    const int count = std::max(sk_SSL_CIPHER_num(ciphers), 0);
    std::vector<std::string> names;
    names.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      names.emplace_back(SSL_CIPHER_get_name(sk_SSL_CIPHER_value(ciphers, i)));
    }
    sk_SSL_CIPHER_free(ciphers);
    std::sort(names.begin(), names.end());
    if (!names.empty()) ciphers_.emplace_back(version, std::move(names));
  }
  Digest digest;
  for (const auto& [version, names] : ciphers_) {
    digest.Add(std::to_string(version));
    for (const std::string& name : names) digest.Add(name);
  }
  negotiation_ = digest.Finish();
  ERR_clear_error();
}

OwnerTerms ServerContext::TermsFor(std::string_view host, const HandshakeTerms& handshake) const {
  OwnerTerms terms;
  for (const auto& [version, names] : ciphers_) {
    if (version != handshake.protocol) continue;
    terms.is_negotiable = std::binary_search(names.begin(), names.end(), handshake.cipher);
  }
  terms.asks = settings_.request_cert;
  if (!terms.asks) return terms;
  terms.rejects_unauthorized = settings_.reject_unauthorized;
  terms.is_known = !settings_.asks_host;
  // A ClientHello never names an IP address (RFC 6066, section 3).
  std::array<uint8_t, 16> ip;
  const bool is_name = !host.empty() && host.front() != '[' && !ParseIpAddress(host, &ip);
  terms.trust = TrustOf(is_name ? FindHost(host).get() : nullptr);
  return terms;
}

std::string ServerContext::TermsDigest(const UrlPrefix& prefix, std::string_view unique) const {
  Digest digest;
  if (!settings_.request_cert) {
    digest.Add("asks for none");
    return digest.Finish();
  }
  digest.Add(settings_.reject_unauthorized ? "rejects" : "asks");
  if (settings_.asks_host) {
    digest.Add("unknown");
    digest.Add(unique);
    return digest.Finish();
  }
  if (prefix.host_kind == HostKind::kExplicit && !prefix.is_subdomain_wildcard) {
    digest.Add(TrustOf(FindHost(prefix.host).get()));
    return digest.Finish();
  }
  // The digest covers the server's authorities and, if those of a host differ, all hosts': clients
  // of a wildcard prefix may name any host.
  digest.Add(trust_);
  const bool is_same_for_all = std::all_of(
      settings_.hosts.begin(), settings_.hosts.end(),
      [&](const ContextSettings::Host& host) { return host.context->trust() == trust_; });
  if (is_same_for_all) return digest.Finish();
  for (const ContextSettings::Host& host : settings_.hosts) {
    digest.Add(host.pattern);
    digest.Add(host.context->trust());
  }
  return digest.Finish();
}

std::string ServerContext::SessionIdContext(const HostContext* host) const {
  Digest digest;
  digest.Add(settings_.session_id_context);
  digest.Add(host == nullptr ? identity_ : host->identity());
  const char policy[] = {static_cast<char>(settings_.request_cert),
                         static_cast<char>(settings_.reject_unauthorized)};
  digest.Add({policy, sizeof policy});
  return digest.Finish();
}

}  // namespace httpsys::tls
