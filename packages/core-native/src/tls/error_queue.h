#pragma once
// OpenSSL's queue of errors, which each thread has, and the failures that are made of it.

#include <openssl/err.h>

#include "tls/facts.h"

namespace httpsys::tls {

// Clears the queue, as OpenSSL requires before each of its calls. The queue is nearly always empty,
// and looking is cheaper than clearing.
inline void ForgetErrors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

// Records a failure for which OpenSSL is not the reason. `error` is a positive errno.
void Fail(int error, Failure* failure);
// Records the errors of the queue as a failure (EPROTO), and clears the queue.
void FailWithQueue(Failure* failure);

}  // namespace httpsys::tls
