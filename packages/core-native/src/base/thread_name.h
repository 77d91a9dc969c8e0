#pragma once
// The names of threads.

namespace httpsys {

// Names the calling thread for debuggers and `top`: at most 15 characters. Thread: any.
void SetThreadName(const char* name);

}  // namespace httpsys
