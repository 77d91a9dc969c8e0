#pragma once
// OpenSSL's error queue (one per thread), and failures made from its errors.

#include <openssl/err.h>

#include "tls/facts.h"

namespace httpsys::tls {

// Clears the queue, as OpenSSL requires before each of its calls. Peeks first: the queue is nearly
// always empty, and peeking is cheaper than clearing.
inline void ForgetErrors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

// Records a failure whose cause is not OpenSSL. `error` is a positive errno.
void Fail(int error, Failure* failure);
// Records the errors of the queue as a failure (EPROTO), and clears the queue.
void FailWithQueue(Failure* failure);

}  // namespace httpsys::tls
