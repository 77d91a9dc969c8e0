#include "records/record_writer.h"

#include <cstring>

#include "base/check.h"
#include "base/limits.h"
#include "records/words.h"

namespace httpsys::engine {
namespace {

using records::RequestType;

uint8_t* Copy(uint8_t* to, std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

uint32_t Size32(size_t bytes) { return static_cast<uint32_t>(bytes); }

}  // namespace

std::string EncodeFacts(const tls::Facts& facts) {
  std::string bytes(records::kOpenSecureBytes, '\0');
  auto* to = reinterpret_cast<uint8_t*>(bytes.data());
  StoreWord(to, records::kSecureProtocol.word,
            Part<records::kSecureProtocol>(static_cast<uint32_t>(facts.protocol)) |
                Part<records::kSecureIsReused>(facts.is_reused) |
                Part<records::kSecureHasAsked>(facts.has_asked));
  StoreField<records::kSecureVerifyResult>(to, static_cast<uint32_t>(facts.verify_result));
  const std::string_view parts[] = {facts.servername,     facts.alpn,
                                    facts.cipher,         facts.cipher_standard,
                                    facts.cipher_version, facts.certificates};
  size_t word = records::kSecureServernameBytes.word;
  for (const std::string_view part : parts) StoreWord(to, word++, Size32(part.size()));
  for (const std::string_view part : parts) bytes.append(part);
  return bytes;
}

bool AreFacts(std::string_view bytes) {
  if (bytes.size() < records::kOpenSecureBytes) return false;
  const auto* words = reinterpret_cast<const uint8_t*>(bytes.data());
  uint64_t parts = 0;
  for (size_t word = records::kSecureServernameBytes.word; word < records::kOpenSecureBytes / 4;
       ++word) {
    parts += LoadWord(words, word);
  }
  return parts == bytes.size() - records::kOpenSecureBytes;
}

tls::HandshakeTerms TermsOf(std::string_view facts) {
  tls::HandshakeTerms terms;
  if (!AreFacts(facts)) return terms;
  const auto* words = reinterpret_cast<const uint8_t*>(facts.data());
  terms.protocol = static_cast<int>(LoadField<records::kSecureProtocol>(words));
  terms.is_asked = LoadField<records::kSecureHasAsked>(words) != 0;
  terms.is_verified = terms.is_asked && LoadField<records::kSecureVerifyResult>(words) == 0;
  // The cipher's name follows the server's name and the ALPN protocol. The sum of all lengths must
  // be the length of the text.
  const size_t at = records::kOpenSecureBytes + LoadField<records::kSecureServernameBytes>(words) +
                    LoadField<records::kSecureAlpnBytes>(words);
  terms.cipher = facts.substr(at, LoadField<records::kSecureCipherBytes>(words));
  return terms;
}

uint8_t* RecordWriter::Append(size_t bytes, RequestType type, uint32_t flags, uint32_t slot,
                              Urgency urgency) {
  const size_t size = AlignRecord(bytes);
  uint8_t* record = queue_->Append(size);
  StoreHeader(record, size, type, flags, slot);
  urgency_ = std::max(urgency_, urgency);
  return record;
}

void RecordWriter::Open(uint32_t slot, uint32_t server_id, const Addresses& addresses,
                        uint32_t flags, std::string_view facts) {
  const size_t plain_bytes =
      AlignRecord(records::kOpenFixedBytes + addresses.remote.size() + addresses.local.size());
  if (!facts.empty()) flags |= records::kFlagSecure;
  // A connection without TLS is announced at once: close() refuses such a connection if JavaScript
  // does not know it yet.
  const Urgency urgency = facts.empty() ? Urgency::kNow : Urgency::kSoon;
  uint8_t* record = Append(plain_bytes + facts.size(), RequestType::kOpen, flags, slot, urgency);
  Copy(record + plain_bytes, facts);
  StoreField<records::kOpenServerId>(record, server_id);
  StoreWord(record, records::kOpenRemotePort.word,
            Part<records::kOpenRemotePort>(addresses.remote_port) |
                Part<records::kOpenFamily>(addresses.family));
  StoreField<records::kOpenLocalPort>(record, addresses.local_port);
  StoreWord(record, records::kOpenRemoteBytes.word,
            Part<records::kOpenRemoteBytes>(Size32(addresses.remote.size())) |
                Part<records::kOpenLocalBytes>(Size32(addresses.local.size())));
  Copy(Copy(record + records::kOpenFixedBytes, addresses.remote), addresses.local);
}

void RecordWriter::Hello(uint32_t id, uint32_t server_id, const tls::ClientHello& hello) {
  const size_t text_bytes = hello.servername.size() + hello.alpn.size() + hello.session_id.size();
  const uint32_t flags = (hello.has_ticket ? records::kHelloTicket : 0) |
                         (hello.wants_status ? records::kHelloStatus : 0);
  uint8_t* record = Append(records::kHelloTextAt + text_bytes, RequestType::kHello, flags, 0);
  StoreField<records::kHelloId>(record, id);
  StoreField<records::kHelloServerId>(record, server_id);
  StoreField<records::kHelloServernameBytes>(record, Size32(hello.servername.size()));
  StoreField<records::kHelloAlpnBytes>(record, Size32(hello.alpn.size()));
  StoreField<records::kHelloSessionIdBytes>(record, Size32(hello.session_id.size()));
  uint8_t* to = Copy(record + records::kHelloTextAt, hello.servername);
  Copy(Copy(to, hello.alpn), hello.session_id);
}

void RecordWriter::NewSession(uint32_t id, uint32_t server_id, const tls::NewSession& session) {
  uint8_t* record = Append(records::kNewSessionTextAt + session.id.size() + session.data.size(),
                           RequestType::kNewSession, 0, 0);
  StoreField<records::kNewSessionId>(record, id);
  StoreField<records::kNewSessionServerId>(record, server_id);
  StoreField<records::kNewSessionSessionIdBytes>(record, Size32(session.id.size()));
  StoreField<records::kNewSessionSessionBytes>(record, Size32(session.data.size()));
  Copy(Copy(record + records::kNewSessionTextAt, session.id), session.data);
}

void RecordWriter::KeyLog(uint32_t slot, std::string_view lines) {
  if (lines.empty()) return;
  uint8_t* record = Append(records::kPayloadAt + lines.size(), RequestType::kKeyLog, 0, slot);
  StoreField<records::kKeyLogBytes>(record, Size32(lines.size()));
  Copy(record + records::kPayloadAt, lines);
}

void RecordWriter::PeerCertificate(uint32_t slot, uint32_t error, long verify_result,
                                   std::string_view certificates) {
  uint8_t* record = Append(records::kPeerCertificateAt + certificates.size(),
                           RequestType::kPeerCertificate, 0, slot);
  StoreField<records::kPeerCertificateError>(record, error);
  StoreField<records::kPeerCertificateVerifyResult>(record, static_cast<uint32_t>(verify_result));
  StoreField<records::kPeerCertificateBytes>(record, Size32(certificates.size()));
  Copy(record + records::kPeerCertificateAt, certificates);
}

void RecordWriter::TlsFailure(uint32_t slot, const tls::Failure& failure) {
  uint8_t* record =
      Append(records::kTlsFailureTextAt + failure.text.size() + failure.library.size() +
                 failure.function.size() + failure.reason_text.size(),
             RequestType::kTlsFailure, 0, slot);
  StoreField<records::kTlsFailureError>(record, static_cast<uint32_t>(failure.error));
  StoreField<records::kTlsFailureTextBytes>(record, Size32(failure.text.size()));
  StoreField<records::kTlsFailureLibraryBytes>(record, Size32(failure.library.size()));
  StoreField<records::kTlsFailureFunctionBytes>(record, Size32(failure.function.size()));
  StoreField<records::kTlsFailureReasonBytes>(record, Size32(failure.reason_text.size()));
  uint8_t* to = Copy(record + records::kTlsFailureTextAt, failure.text);
  Copy(Copy(Copy(to, failure.library), failure.function), failure.reason_text);
}

void RecordWriter::Intern(uint32_t id, std::string_view name, std::string_view value,
                          bool is_name_only) {
  uint8_t* record =
      Append(records::kInternTextAt + name.size() + value.size(), RequestType::kIntern, 0, 0);
  StoreField<records::kInternId>(record, id);
  StoreField<records::kInternNameBytes>(record, Size32(name.size()));
  StoreField<records::kInternValueBytes>(
      record, is_name_only ? records::kInternNameOnly : Size32(value.size()));
  Copy(Copy(record + records::kInternTextAt, name), value);
}

uint32_t RecordWriter::EncodeTarget(std::string_view target) {
  const InternTable::Result found = intern_.FindTarget(target);
  if (found.is_new) Intern(found.id, {}, target, false);
  return found.has_id ? records::kInternBit | found.id : Size32(target.size());
}

size_t RecordWriter::EncodeLines(const std::vector<http1::HeaderLine>& lines) {
  line_words_.clear();
  size_t text_bytes = 0;
  for (const http1::HeaderLine& line : lines) {
    const InternTable::Result whole = intern_.FindLine(line.name, line.value);
    if (whole.has_id) {
      if (whole.is_new) Intern(whole.id, line.name, line.value, false);
      line_words_.push_back(records::kInternBit | whole.id);
      line_words_.push_back(0);
      continue;
    }
    const InternTable::Result name = intern_.FindName(line.name);
    if (name.is_new) Intern(name.id, line.name, {}, true);
    if (name.has_id) {
      line_words_.push_back(records::kNameBit | name.id);
    } else {
      line_words_.push_back(Size32(line.name.size()));
      text_bytes += line.name.size();
    }
    line_words_.push_back(Size32(line.value.size()));
    text_bytes += line.value.size();
  }
  return text_bytes;
}

uint8_t* RecordWriter::CopyLineWords(uint8_t* to) const {
  const size_t bytes = line_words_.size() * sizeof(uint32_t);
  if (bytes != 0) std::memcpy(to, line_words_.data(), bytes);
  return to + bytes;
}

void RecordWriter::RequestHead(const http1::RequestHead& head, const Request& request) {
  HTTPSYS_CHECK(head.lines.size() <= UINT16_MAX);
  // The kIntern records of new ids must precede the record that uses them.
  intern_.BeginRecord();
  const uint32_t target = EncodeTarget(head.target);
  const bool is_literal = (target & records::kInternBit) == 0;
  const size_t lines_text = EncodeLines(head.lines);
  const size_t text_bytes = lines_text + (is_literal ? head.target.size() : 0);
  const size_t bytes = records::kRequestFixedBytes + line_words_.size() * sizeof(uint32_t) +
                       text_bytes + request.body.size();
  uint8_t* record = Append(bytes, RequestType::kRequest, request.flags, request.slot);
  StoreField<records::kRecordExtra>(record, request.parent_slot);
  StoreField<records::kRequestServerId>(record, request.server_id);
  StoreWord(record, records::kRequestMethod.word,
            Part<records::kRequestMethod>(head.method) |
                Part<records::kRequestMinorVersion>(head.version_minor) |
                Part<records::kRequestLines>(Size32(head.lines.size())));
  StoreField<records::kRequestTarget>(record, target);
  StoreField<records::kRequestTextBytes>(record, Size32(text_bytes));
  StoreField<records::kRequestBodyBytes>(record, Size32(request.body.size()));
  StoreField<records::kRequestPrefixId>(record, request.prefix_id);
  StoreField<records::kRequestArrivalMs>(record,
                                         static_cast<uint32_t>(request.arrival_ns / 1'000'000));
  StoreField<records::kRequestWireBytes>(record, Size32(request.head_bytes));
  uint8_t* to = CopyLineWords(record + records::kRequestFixedBytes);
  if (is_literal) to = Copy(to, head.target);
  Copy(CopyLineText(head.lines, to), request.body);
}

uint8_t* RecordWriter::CopyLineText(const std::vector<http1::HeaderLine>& lines,
                                    uint8_t* to) const {
  for (size_t i = 0; i < lines.size(); ++i) {
    const uint32_t first = line_words_[i * 2];
    if ((first & records::kInternBit) != 0) continue;
    if ((first & records::kNameBit) == 0) to = Copy(to, lines[i].name);
    to = Copy(to, lines[i].value);
  }
  return to;
}

void RecordWriter::Body(uint32_t slot, std::string_view bytes) {
  if (bytes.size() <= limits::kInlinePieceBytesMax) {
    uint8_t* record = Append(records::kPayloadAt + bytes.size(), RequestType::kBody, 0, slot);
    StoreField<records::kBodyBytes>(record, Size32(bytes.size()));
    Copy(record + records::kPayloadAt, bytes);
    return;
  }
  if (bytes.size() <= limits::kBlockBytes) {
    const ReceiveBlocks::Loan loan = queue_->receive_blocks().Take();
    if (loan.memory != nullptr) {
      std::memcpy(loan.memory, bytes.data(), bytes.size());
      BodyLent(slot, loan.id, bytes.size());
      return;
    }
  }
  Block block;
  block.memory.reset(static_cast<uint8_t*>(std::malloc(bytes.size())));
  HTTPSYS_CHECK(block.memory != nullptr);
  block.bytes = bytes.size();
  std::memcpy(block.memory.get(), bytes.data(), bytes.size());
  BodyBlock(slot, std::move(block));
}

void RecordWriter::BodyBlock(uint32_t slot, Block block) {
  const size_t bytes = block.bytes;
  const uint32_t id = queue_->blocks().Put(std::move(block));
  uint8_t* record = Append(records::kPayloadAt, RequestType::kBodyBlock, 0, slot);
  StoreField<records::kBodyBytes>(record, Size32(bytes));
  StoreField<records::kBodyBlockId>(record, id);
}

void RecordWriter::BodyLent(uint32_t slot, uint32_t loan_id, size_t bytes) {
  uint8_t* record = Append(records::kPayloadAt, RequestType::kBodyBlock, records::kFlagLent, slot);
  StoreField<records::kBodyBytes>(record, Size32(bytes));
  StoreField<records::kBodyBlockId>(record, loan_id);
}

void RecordWriter::BodyEnd(uint32_t slot, const std::vector<http1::HeaderLine>& trailers) {
  intern_.BeginRecord();
  const size_t text_bytes = EncodeLines(trailers);
  uint8_t* record = Append(records::kPayloadAt + line_words_.size() * sizeof(uint32_t) + text_bytes,
                           RequestType::kBodyEnd, 0, slot);
  StoreField<records::kBodyEndLines>(record, Size32(trailers.size()));
  StoreField<records::kBodyEndTextBytes>(record, Size32(text_bytes));
  CopyLineText(trailers, CopyLineWords(record + records::kPayloadAt));
}

void RecordWriter::Eof(uint32_t slot, uint32_t flags) {
  Append(records::kHeaderBytes, RequestType::kEof, flags, slot);
}

void RecordWriter::Closed(uint32_t slot, int error, bool is_patient) {
  const Urgency urgency = is_patient ? Urgency::kLate : Urgency::kNow;
  uint8_t* record = Append(records::kPayloadAt, RequestType::kClosed, 0, slot, urgency);
  StoreField<records::kClosedError>(record, static_cast<uint32_t>(error));
}

void RecordWriter::Credit(uint32_t slot, uint32_t bytes, uint32_t flags) {
  uint8_t* record = Append(records::kPayloadAt, RequestType::kCredit, flags, slot);
  StoreField<records::kCreditBytes>(record, bytes);
}

void RecordWriter::Silence(uint32_t slot, uint32_t ms, uint32_t since_ms, uint32_t flags) {
  constexpr size_t kBytes = 24;
  uint8_t* record = Append(kBytes, RequestType::kSilence, flags, slot);
  StoreField<records::kSilenceMs>(record, ms);
  StoreField<records::kSilenceSinceMs>(record, since_ms);
}

void RecordWriter::Unseen(uint32_t slot, uint32_t read, uint64_t written) {
  constexpr size_t kBytes = 32;
  uint8_t* record = Append(kBytes, RequestType::kUnseen, 0, slot, Urgency::kLate);
  StoreField<records::kUnseenRead>(record, read);
  StoreField<records::kUnseenWrittenLow>(record, static_cast<uint32_t>(written));
  StoreField<records::kUnseenWrittenHigh>(record, static_cast<uint32_t>(written >> 32));
}

void RecordWriter::Error(uint32_t slot, records::ErrorKind kind, const Fault& fault) {
  const size_t bytes = fault.segment.size() + fault.prefix.size();
  uint8_t* record = Append(records::kErrorTextAt + bytes, RequestType::kError, 0, slot);
  StoreField<records::kErrorKind>(record, static_cast<uint32_t>(kind));
  StoreField<records::kErrorBytes>(record, Size32(fault.segment.size()));
  StoreField<records::kErrorPrefixBytes>(record, Size32(fault.prefix.size()));
  StoreField<records::kErrorFrom>(record, Size32(fault.from));
  Copy(record + records::kErrorTextAt, fault.segment);
  Copy(record + records::kErrorTextAt + fault.segment.size(), fault.prefix);
}

void RecordWriter::BlockDone(uint32_t block_id, int error, uint64_t sent) {
  constexpr size_t kBytes = 32;
  uint8_t* record = Append(kBytes, RequestType::kBlockDone, 0, 0);
  StoreField<records::kBlockDoneBlockId>(record, block_id);
  StoreField<records::kBlockDoneError>(record, static_cast<uint32_t>(error));
  StoreField<records::kBlockDoneSentLow>(record, static_cast<uint32_t>(sent));
  StoreField<records::kBlockDoneSentHigh>(record, static_cast<uint32_t>(sent >> 32));
}

// -- Of a WebSocket.

uint8_t* RecordWriter::Piece(RequestType type, uint32_t flags, uint32_t slot,
                             std::string_view bytes) {
  uint8_t* record = Append(records::kPayloadAt + bytes.size(), type, flags, slot);
  Copy(record + records::kPayloadAt, bytes);
  return record;
}

void RecordWriter::Message(uint32_t slot, uint32_t flags, std::string_view bytes) {
  uint8_t* record = Piece(RequestType::kMessage, flags, slot, bytes);
  StoreField<records::kMessageBytes>(record, Size32(bytes.size()));
}

void RecordWriter::MessageBlock(uint32_t slot, uint32_t flags, Block block) {
  const uint32_t bytes = Size32(block.bytes);
  const uint32_t id = queue_->blocks().Put(std::move(block));
  uint8_t* record = Piece(RequestType::kMessageBlock, flags, slot, {});
  StoreField<records::kMessageBytes>(record, bytes);
  StoreField<records::kMessageBlockId>(record, id);
}

void RecordWriter::Control(uint32_t slot, uint32_t opcode, std::string_view payload) {
  uint8_t* record = Piece(RequestType::kControl, 0, slot, payload);
  StoreField<records::kControlBytes>(record, Size32(payload.size()));
  StoreField<records::kControlOpcode>(record, opcode);
}

void RecordWriter::CloseFrame(uint32_t slot, uint32_t code, std::string_view reason) {
  uint8_t* record = Piece(RequestType::kCloseFrame, 0, slot, reason);
  StoreField<records::kCloseFrameCode>(record, code);
  StoreField<records::kCloseFrameBytes>(record, Size32(reason.size()));
}

void RecordWriter::FrameError(uint32_t slot, uint32_t error, uint32_t detail, int zlib_code,
                              std::string_view text) {
  uint8_t* record =
      Append(records::kFrameErrorTextAt + text.size(), RequestType::kFrameError, 0, slot);
  StoreField<records::kFrameErrorKind>(record, error);
  StoreField<records::kFrameErrorTextBytes>(record, Size32(text.size()));
  StoreField<records::kFrameErrorDetail>(record, detail);
  StoreField<records::kFrameErrorZlibCode>(record, static_cast<uint32_t>(zlib_code));
  Copy(record + records::kFrameErrorTextAt, text);
}

}  // namespace httpsys::engine
