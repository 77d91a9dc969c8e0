'use strict'

// A preload: what fake timers make of a process (jest, sinon, lolex), with a clock that nobody moves. The kit and the programs
// take Node's own timers; what calls the global ones waits for ever.

/** @type {any} */
const global = globalThis
/** A timer of a clock that stands still. */
class FrozenTimer {
  ref () { return this }
  unref () { return this }
  hasRef () { return true }
  refresh () { return this }
  close () { return this }
  [Symbol.toPrimitive] () { return 1 }
}

for (const name of ['setTimeout', 'setInterval', 'setImmediate']) global[name] = () => new FrozenTimer()
for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) global[name] = () => {}
