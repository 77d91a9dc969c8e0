#pragma once
// A barrier that one thread makes for all threads of the process, so that others need none: if
// thread A stores x and then reads y, while thread B stores y, makes the barrier and then reads x,
// at least one of them sees what the other one has stored, although A has no barrier between the
// two. Thread: any.

namespace httpsys {

// Returns false if there is no such barrier, or not yet: then A needs one of its own. The process
// must register with the system, which takes some 10 ms, and begins to do so at the first call.
bool HasProcessBarrier();
// Takes some microseconds. Must be called only if there is one.
void MakeProcessBarrier();

}  // namespace httpsys
