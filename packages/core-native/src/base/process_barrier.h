#pragma once
// A memory barrier that one thread executes for all threads of the process. If thread A stores x
// and then reads y, without a barrier, while thread B stores y, executes this barrier and then
// reads x, at least one of them sees the other's store. Thread: any.

namespace httpsys {

// Returns true if MakeProcessBarrier() works. While it returns false, thread A must execute a
// barrier, too. The first call registers the process with the system, which takes some 10 ms.
bool HasProcessBarrier();
// Executes the barrier, in some microseconds. HasProcessBarrier() must have returned true.
void MakeProcessBarrier();

}  // namespace httpsys
