#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "base/limits.h"
#include "support/record_sealer.h"
#include "tls/session.h"

namespace httpsys::tls {
namespace {

EVP_PKEY* NewKey() { return EVP_EC_gen("P-256"); }

// Signed by its own key.
X509* NewCertificate(EVP_PKEY* key, const char* name) {
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
  return certificate;
}

ContextPtr NewContext(const char* name) {
  ContextPtr context(SSL_CTX_new(TLS_server_method()));
  EVP_PKEY* key = NewKey();
  X509* certificate = NewCertificate(key, name);
  SSL_CTX_use_certificate(context.get(), certificate);
  SSL_CTX_use_PrivateKey(context.get(), key);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return context;
}

// A server's session and a client of OpenSSL's own at the two ends of a socket.
class TlsSessionTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds_), 0);
    for (const int fd : fds_) fcntl(fd, F_SETFL, O_NONBLOCK);
    server_context_ = NewContext("main.test");
    settings_.context = server_context_.get();
    settings_.ticket_keys = TicketKeys::Create();
    client_context_.reset(SSL_CTX_new(TLS_client_method()));
  }

  void TearDown() override {
    session_.reset();
    SSL_free(client_);
    for (const int fd : fds_) {
      if (fd != -1) close(fd);
    }
  }

  void Open() {
    context_ = ServerContext::Create(settings_);
    ASSERT_NE(context_, nullptr);
    session_ = Session::Create(context_, fds_[0], &wire_);
    client_ = SSL_new(client_context_.get());
    SSL_set_fd(client_, fds_[1]);
    SSL_set_connect_state(client_);
  }

  HandshakeStatus Shake() {
    HandshakeStatus status = HandshakeStatus::kWaiting;
    for (int i = 0; i < 20 && status == HandshakeStatus::kWaiting; ++i) {
      SSL_do_handshake(client_);
      status = session_->Handshake();
    }
    SSL_do_handshake(client_);
    return status;
  }

  std::string PeerName() {
    X509* certificate = SSL_get1_peer_certificate(client_);
    char name[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name,
                              sizeof name);
    X509_free(certificate);
    return name;
  }

  ssize_t Write(std::string_view bytes) {
    const iovec vector{const_cast<char*>(bytes.data()), bytes.size()};
    return session_->Write(&vector, 1);
  }

  std::string ClientRead() {
    std::string all;
    char buffer[64 * 1024];
    for (;;) {
      const int got = SSL_read(client_, buffer, sizeof buffer);
      if (got <= 0) return all;
      all.append(buffer, static_cast<size_t>(got));
    }
  }

  // Until the session has had enough of it.
  void ChangeKeysBetweenData(int kind) {
    Open();
    ASSERT_EQ(Shake(), HandshakeStatus::kDone);
    ClientRead();
    char buffer[16];
    size_t changes = 0;
    for (; changes < 10'000; ++changes) {
      SSL_key_update(client_, kind);
      ASSERT_EQ(SSL_write(client_, "a", 1), 1);
      if (session_->Read(buffer, sizeof buffer) != 1) break;
      if (session_->has_failed()) break;
    }
    EXPECT_EQ(session_->failure().error, EPROTO);
    EXPECT_GE(changes, limits::kTlsRekeysMax);
    EXPECT_LT(changes, 10'000u);
  }

  int fds_[2] = {-1, -1};
  ContextPtr server_context_;
  ContextPtr client_context_;
  ContextSettings settings_;
  std::shared_ptr<const ServerContext> context_;
  WireBuffer wire_;
  std::unique_ptr<Session> session_;
  SSL* client_ = nullptr;
};

TEST_F(TlsSessionTest, BytesGoBothWays) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  EXPECT_EQ(PeerName(), "main.test");
  SSL_write(client_, "hello", 5);
  char buffer[16];
  ASSERT_EQ(session_->Read(buffer, sizeof buffer), 5);
  EXPECT_EQ(std::string_view(buffer, 5), "hello");
  EXPECT_EQ(session_->Read(buffer, sizeof buffer), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_FALSE(session_->has_pending());
  EXPECT_EQ(Write("answer"), 6);
  EXPECT_EQ(ClientRead(), "answer");
}

TEST_F(TlsSessionTest, WhatDidNotFitIsPending) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  SSL_write(client_, "0123456789", 10);
  char buffer[4];
  ASSERT_EQ(session_->Read(buffer, 4), 4);
  EXPECT_TRUE(session_->has_pending());
  ASSERT_EQ(session_->Read(buffer, 4), 4);
  ASSERT_EQ(session_->Read(buffer, 4), 2);
  EXPECT_FALSE(session_->has_pending());
}

TEST_F(TlsSessionTest, TicketsWaitForTheFirstAnswer) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  EXPECT_FALSE(session_->has_unsent());
  char byte;
  EXPECT_EQ(recv(fds_[1], &byte, 1, MSG_PEEK), -1);
  EXPECT_TRUE(session_->has_held());
  EXPECT_EQ(Write("x"), 1);
  EXPECT_FALSE(session_->has_held());
  EXPECT_EQ(ClientRead(), "x");
  EXPECT_EQ(SSL_SESSION_is_resumable(SSL_get_session(client_)), 1);
}

TEST_F(TlsSessionTest, TicketsThatWereHeldCanLeaveAlone) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  EXPECT_TRUE(session_->has_held());
  session_->ReleaseHeld();
  EXPECT_FALSE(session_->has_held());
  EXPECT_TRUE(session_->has_unsent());
  EXPECT_EQ(session_->Flush(), 0);
  EXPECT_FALSE(session_->has_unsent());
  EXPECT_EQ(ClientRead(), "");
  EXPECT_EQ(SSL_SESSION_is_resumable(SSL_get_session(client_)), 1);
}

TEST_F(TlsSessionTest, TheLastWordOfAnOlderHandshakeDoesNotWait) {
  SSL_CTX_set_max_proto_version(client_context_.get(), TLS1_2_VERSION);
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  EXPECT_EQ(SSL_is_init_finished(client_), 1);
}

TEST_F(TlsSessionTest, WhatTheSocketDoesNotTakeIsKept) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  const std::string bytes(8 * 1024 * 1024, 'b');
  size_t sent = 0;
  std::string received;
  bool was_behind = false;
  while (sent < bytes.size()) {
    const ssize_t wrote = Write(std::string_view(bytes).substr(sent));
    if (wrote > 0) sent += static_cast<size_t>(wrote);
    was_behind = was_behind || session_->has_unsent();
    if (session_->has_unsent()) received += ClientRead();
    if (session_->has_unsent()) session_->Flush();
  }
  while (session_->has_unsent()) {
    session_->Flush();
    received += ClientRead();
  }
  received += ClientRead();
  EXPECT_TRUE(was_behind);
  EXPECT_EQ(received, bytes);
}

TEST_F(TlsSessionTest, SeveralPiecesMakeFullRecords) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  std::string piece(1000, 'p');
  iovec vectors[40];
  for (iovec& vector : vectors) vector = {piece.data(), piece.size()};
  EXPECT_EQ(session_->Write(vectors, 40), 40'000);
  char buffer[32 * 1024];
  EXPECT_EQ(SSL_read(client_, buffer, sizeof buffer), SSL3_RT_MAX_PLAIN_LENGTH);
  EXPECT_EQ(SSL_read(client_, buffer, sizeof buffer), SSL3_RT_MAX_PLAIN_LENGTH);
  EXPECT_EQ(SSL_read(client_, buffer, sizeof buffer), 40'000 - 2 * SSL3_RT_MAX_PLAIN_LENGTH);
}

// The client need not be woken twice.
TEST_F(TlsSessionTest, TheGoodbyeLeavesWithTheLastBytes) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  std::string piece(40'000, 'p');
  const iovec vector{piece.data(), piece.size()};
  EXPECT_EQ(session_->Write(&vector, 1, true), 40'000);
  EXPECT_EQ(ClientRead(), piece);
  EXPECT_EQ(SSL_get_shutdown(client_) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
  EXPECT_TRUE(session_->Shutdown()) << "it is not said again";
  EXPECT_FALSE(session_->has_failed());
}

TEST_F(TlsSessionTest, NoGoodbyeBeforeTheLastBytes) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  std::string bytes(limits::kSendBytesPerEvent + 1, 'b');
  const iovec vector{bytes.data(), bytes.size()};
  const ssize_t taken = session_->Write(&vector, 1, true);
  ASSERT_GT(taken, 0);
  ASSERT_LT(taken, static_cast<ssize_t>(bytes.size()));
  EXPECT_NE(ClientRead(), "");
  EXPECT_EQ(SSL_get_shutdown(client_) & SSL_RECEIVED_SHUTDOWN, 0);
}

TEST_F(TlsSessionTest, EndsAreTold) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  EXPECT_TRUE(session_->Shutdown());
  EXPECT_EQ(ClientRead(), "");
  EXPECT_EQ(SSL_get_shutdown(client_) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);
  SSL_shutdown(client_);
  char buffer[4];
  EXPECT_EQ(session_->Read(buffer, 4), 0);
}

TEST_F(TlsSessionTest, AnEndWithoutAWordIsAnEnd) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  close(fds_[1]);
  fds_[1] = -1;
  char buffer[4];
  EXPECT_EQ(session_->Read(buffer, 4), 0);
}

TEST_F(TlsSessionTest, APeerThatOnlyChangesItsKeysIsGivenUp) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  ClientRead();
  char buffer[16];
  size_t changes = 0;
  for (; changes < 100'000 && !session_->has_failed(); ++changes) {
    SSL_key_update(client_, SSL_KEY_UPDATE_NOT_REQUESTED);
    if (SSL_do_handshake(client_) != 1) ClientRead();
    if (session_->Read(buffer, sizeof buffer) == -1 && errno != EAGAIN) break;
  }
  EXPECT_TRUE(session_->has_failed());
  EXPECT_LT(changes, limits::kTlsBarrenBytesMax / 20);
}

// Data between the new keys is no excuse, and neither is a peer that does not take the answers.
TEST_F(TlsSessionTest, NewKeysThatAreAnsweredAreCounted) {
  ChangeKeysBetweenData(SSL_KEY_UPDATE_REQUESTED);
}

TEST_F(TlsSessionTest, NewKeysThatAreNotAnsweredAreCounted) {
  ChangeKeysBetweenData(SSL_KEY_UPDATE_NOT_REQUESTED);
}

// OpenSSL goes through all that one call of the kernel has brought, and the session says no then.
TEST_F(TlsSessionTest, NewKeysWithoutDataAreCounted) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  ClientRead();
  for (uint32_t i = 0; i < 2 * limits::kTlsRekeysMax; ++i) {
    SSL_key_update(client_, SSL_KEY_UPDATE_REQUESTED);
    ASSERT_EQ(SSL_do_handshake(client_), 1);
  }
  char buffer[16];
  int error = EAGAIN;
  for (int i = 0; i < 10 && error == EAGAIN; ++i) {
    EXPECT_EQ(session_->Read(buffer, sizeof buffer), -1);
    error = errno;
  }
  EXPECT_EQ(error, EPROTO);
  EXPECT_TRUE(wire_.empty());
}

TEST_F(TlsSessionTest, WishesToRenegotiateBetweenDataAreCounted) {
  SSL_CTX_set_max_proto_version(client_context_.get(), TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(client_context_.get(), "ECDHE-ECDSA-AES128-GCM-SHA256");
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  RecordSealer sealer(client_);
  const std::string hello("\1\0\0\0", 4);
  char buffer[16];
  size_t wishes = 0;
  for (; wishes < 10'000; ++wishes) {
    std::string records = sealer.Seal(SSL3_RT_HANDSHAKE, hello);
    records += sealer.Seal(SSL3_RT_APPLICATION_DATA, "a");
    ASSERT_EQ(write(fds_[1], records.data(), records.size()), static_cast<ssize_t>(records.size()));
    if (session_->Read(buffer, sizeof buffer) != 1) break;
  }
  EXPECT_TRUE(session_->has_failed());
  EXPECT_EQ(session_->failure().error, EPROTO);
  EXPECT_GE(wishes, limits::kTlsRekeysMax);
  EXPECT_LT(wishes, 10'000u);
}

TEST_F(TlsSessionTest, RecordsWithoutBytesAreCounted) {
  SSL_CTX_set_max_proto_version(client_context_.get(), TLS1_2_VERSION);
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  SSL_write(client_, "a", 1);
  char buffer[16];
  EXPECT_EQ(session_->Read(buffer, sizeof buffer), 1);
  // Wishes to begin anew, each refused.
  int attempts = 0;
  for (; attempts < 1000 && !session_->has_failed(); ++attempts) {
    if (SSL_renegotiate(client_) != 1) break;
    SSL_do_handshake(client_);
    if (session_->Read(buffer, sizeof buffer) == -1 && errno != EAGAIN) break;
    EXPECT_TRUE(session_->is_established());
    SSL_do_handshake(client_);
    if (SSL_get_shutdown(client_) != 0) break;
  }
  EXPECT_LT(attempts, 1000);
}

TEST_F(TlsSessionTest, GarbageIsRefusedWithAWord) {
  Open();
  const std::string garbage(400, '\xee');
  ASSERT_EQ(send(fds_[1], garbage.data(), garbage.size(), 0), 400);
  EXPECT_EQ(session_->Handshake(), HandshakeStatus::kFailed);
  EXPECT_EQ(session_->failure().error, EPROTO);
  EXPECT_FALSE(session_->failure().reason_text.empty());
  EXPECT_FALSE(session_->is_plain_http());
}

TEST_F(TlsSessionTest, AMessageThatIsNoneIsAnsweredWithAnAlert) {
  Open();
  const std::string record = std::string("\x16\x03\x01\x00\x08", 5) + std::string(8, '\xee');
  ASSERT_EQ(send(fds_[1], record.data(), record.size(), 0), 13);
  EXPECT_EQ(session_->Handshake(), HandshakeStatus::kFailed);
  char alert[16];
  EXPECT_GT(recv(fds_[1], alert, sizeof alert, 0), 0);
  EXPECT_EQ(alert[0], SSL3_RT_ALERT);
}

TEST_F(TlsSessionTest, PlainHttpIsKnown) {
  Open();
  ASSERT_GT(send(fds_[1], "GET / HTTP/1.1\r\n\r\n", 18, 0), 0);
  EXPECT_EQ(session_->Handshake(), HandshakeStatus::kFailed);
  EXPECT_TRUE(session_->is_plain_http());
}

TEST_F(TlsSessionTest, HostsHaveTheirCertificates) {
  const ContextPtr a = NewContext("a.test");
  const ContextPtr wild = NewContext("wild.test");
  settings_.hosts = {{"a.test", HostContext::Copy(a.get())},
                     {"*.wild.test", HostContext::Copy(wild.get())}};
  settings_.alpn = std::string("\x08http/1.1");
  Open();
  SSL_set_tlsext_host_name(client_, "x.wild.test");
  const unsigned char offered[] = "\x02h2\x08http/1.1";
  SSL_set_alpn_protos(client_, offered, sizeof offered - 1);
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  EXPECT_EQ(PeerName(), "wild.test");
  EXPECT_EQ(session_->alpn(), "http/1.1");
  EXPECT_EQ(session_->Describe().servername, "x.wild.test");
  EXPECT_NE(context_->SessionIdContext(nullptr),
            context_->SessionIdContext(settings_.hosts[0].context.get()));
}

TEST_F(TlsSessionTest, AHandshakeWaitsForAnAnswer) {
  settings_.asks_host = true;
  const ContextPtr chosen = NewContext("chosen.test");
  Open();
  SSL_set_tlsext_host_name(client_, "asked.test");
  ASSERT_EQ(Shake(), HandshakeStatus::kAsking);
  EXPECT_EQ(session_->hello().servername, "asked.test");
  EXPECT_EQ(session_->Handshake(), HandshakeStatus::kAsking);
  HelloAnswer answer;
  answer.host = HostContext::Copy(chosen.get());
  session_->Answer(answer);
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  EXPECT_EQ(PeerName(), "chosen.test");
}

TEST_F(TlsSessionTest, AnAnswerMayRefuse) {
  settings_.asks_host = true;
  Open();
  SSL_set_tlsext_host_name(client_, "asked.test");
  ASSERT_EQ(Shake(), HandshakeStatus::kAsking);
  session_->Answer({true, "why", nullptr, false, ""});
  EXPECT_EQ(session_->Handshake(), HandshakeStatus::kFailed);
  EXPECT_EQ(session_->failure().error, ECANCELED);
  EXPECT_EQ(session_->failure().text, "why");
}

// Sessions.

class TlsTicketTest : public TlsSessionTest {
 protected:
  // A client that comes with `session`; what it leaves with, the caller's.
  SSL_SESSION* Visit(SSL_SESSION* session, bool* is_reused) {
    Open();
    if (session != nullptr) SSL_set_session(client_, session);
    EXPECT_EQ(Shake(), HandshakeStatus::kDone);
    *is_reused = session_->Describe().is_reused;
    Write("x");
    ClientRead();
    SSL_SESSION* left = SSL_get1_session(client_);
    SSL_set_shutdown(client_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    TearDown();
    client_ = nullptr;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds_), 0);
    for (const int fd : fds_) fcntl(fd, F_SETFL, O_NONBLOCK);
    return left;
  }
};

TEST_F(TlsTicketTest, ATicketOpensASessionUnlessSomethingChanged) {
  bool is_reused = true;
  SSL_SESSION* first = Visit(nullptr, &is_reused);
  EXPECT_FALSE(is_reused);
  SSL_SESSION* second = Visit(first, &is_reused);
  EXPECT_TRUE(is_reused);
  settings_.request_cert = true;
  settings_.reject_unauthorized = false;
  SSL_SESSION_free(Visit(second, &is_reused));
  EXPECT_FALSE(is_reused) << "other policy";
  settings_.request_cert = false;
  settings_.reject_unauthorized = true;
  settings_.ticket_keys = TicketKeys::Create();
  SSL_SESSION_free(Visit(second, &is_reused));
  EXPECT_FALSE(is_reused) << "other keys";
  SSL_SESSION_free(first);
  SSL_SESSION_free(second);
}

TEST_F(TlsSessionTest, NewSessionsAreToldBeforeTheirHandshakeEnds) {
  settings_.tells_sessions = true;
  SSL_CTX_set_options(server_context_.get(), SSL_OP_NO_TICKET);
  SSL_CTX_set_max_proto_version(server_context_.get(), TLS1_2_VERSION);
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kTelling);
  ASSERT_EQ(session_->new_sessions().size(), 1u);
  const NewSession told = session_->new_sessions().front();
  EXPECT_EQ(told.id.size(), 32u);
  EXPECT_FALSE(session_->is_established());
  EXPECT_FALSE(session_->has_unsent());
  // The client has not heard of it yet.
  EXPECT_EQ(SSL_is_init_finished(client_), 0);
  ASSERT_EQ(session_->Handshake(), HandshakeStatus::kDone);
  EXPECT_EQ(SSL_do_handshake(client_), 1);
  EXPECT_TRUE(session_->is_established());
}

TEST_F(TlsSessionTest, ASessionThatJavaScriptGivesBackGoesOn) {
  settings_.tells_sessions = settings_.asks_session = true;
  SSL_CTX_set_options(server_context_.get(), SSL_OP_NO_TICKET);
  SSL_CTX_set_options(client_context_.get(), SSL_OP_NO_TICKET);
  // One of TLS 1.3 names a session that there is not.
  SSL_CTX_set_max_proto_version(client_context_.get(), TLS1_2_VERSION);
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kTelling);
  const NewSession told = session_->new_sessions().front();
  ASSERT_EQ(session_->Handshake(), HandshakeStatus::kDone);
  SSL_do_handshake(client_);
  // The connection's own is no good any more when it ends without a goodbye.
  SSL_SESSION* kept = SSL_SESSION_dup(SSL_get0_session(client_));
  for (const bool is_garbage : {true, false}) {
    TearDown();
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds_), 0);
    for (const int fd : fds_) fcntl(fd, F_SETFL, O_NONBLOCK);
    Open();
    SSL_SESSION* own = SSL_SESSION_dup(kept);
    SSL_set_session(client_, own);
    SSL_SESSION_free(own);
    ASSERT_EQ(Shake(), HandshakeStatus::kAsking);
    EXPECT_EQ(session_->hello().session_id, told.id);
    HelloAnswer answer;
    answer.session = is_garbage ? "garbage" : told.data;
    session_->Answer(answer);
    const HandshakeStatus status = Shake();
    ASSERT_EQ(status, is_garbage ? HandshakeStatus::kTelling : HandshakeStatus::kDone);
    if (is_garbage) session_->Handshake();
    EXPECT_EQ(session_->Describe().is_reused, !is_garbage);
  }
  SSL_SESSION_free(kept);
}

TEST_F(TlsSessionTest, TheKeyLogIsKeptOnlyForWhoeverWantsIt) {
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  EXPECT_TRUE(session_->TakeKeyLog().empty());
  TearDown();
  server_context_ = NewContext("main.test");
  settings_.context = server_context_.get();
  settings_.logs_keys = true;
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds_), 0);
  for (const int fd : fds_) fcntl(fd, F_SETFL, O_NONBLOCK);
  Open();
  ASSERT_EQ(Shake(), HandshakeStatus::kDone);
  const std::string log = session_->TakeKeyLog();
  EXPECT_NE(log.find("SERVER_HANDSHAKE_TRAFFIC_SECRET "), std::string::npos);
  EXPECT_EQ(log.back(), '\n');
  EXPECT_TRUE(session_->TakeKeyLog().empty());
}

}  // namespace
}  // namespace httpsys::tls
