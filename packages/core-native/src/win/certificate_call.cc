#include "win/certificate_call.h"

#include <algorithm>

#include "win/incoming_request.h"

namespace httpsys::win {
namespace {

// First guess at the size of a certificate: most have one or two KiB.
constexpr size_t kCertificateBytes = 8 * 1024;
// Longest accepted certificate, as in OpenSSL; limited, because a client may send anything.
constexpr size_t kCertificateBytesMax = 100 * 1024;

}  // namespace

bool CertificateCall::Start(KernelQueue* queue, HTTP_CONNECTION_ID id, CallResult* result) {
  if (memory_.empty()) memory_.resize(kCertificateBytes / sizeof(uint64_t));
  *result = queue->ReceiveCertificate(id, memory_, this);
  is_outstanding_ = result->error == ERROR_IO_PENDING;
  return is_outstanding_;
}

bool CertificateCall::OnCompletion(const CallResult& result, Answer* answer) {
  is_outstanding_ = false;
  const auto* info = reinterpret_cast<const HTTP_SSL_CLIENT_CERT_INFO*>(memory_.data());
  const size_t bytes = memory_.size() * sizeof(uint64_t);
  if (result.error == ERROR_MORE_DATA) {
    const size_t needed = sizeof *info + size_t{info->CertEncodedSize};
    if (needed > bytes && needed <= kCertificateBytesMax) {
      memory_.assign((needed + sizeof(uint64_t) - 1) / sizeof(uint64_t), 0);
      return false;
    }
  }
  *answer = {};
  if (result.error == NO_ERROR) {
    answer->verify_result = DescribeCertificate(info, &answer->certificates);
  } else if (result.error == ERROR_NOT_FOUND) {
    answer->verify_result = DescribeCertificate(nullptr, &answer->certificates);
  } else {
    answer->error = result.error;
  }
  memory_ = {};
  return true;
}

}  // namespace httpsys::win
