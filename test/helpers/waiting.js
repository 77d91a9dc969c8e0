'use strict'

// Waits of tests. An event that can be listened to is better than each of them.

const fs = require('node:fs')
const { setTimeout: sleep } = require('node:timers/promises')

/** Ends a wait for what never comes; nothing that a test waits for takes a tenth of it on a busy machine. */
const kWaitMs = 30_000
const kLookMs = 5
/** How long a system without /proc gets to read what was sent to it. */
const kReadMs = 100
/** The state of an open connection in the kernel's tables. */
const kEstablished = '01'

/**
 * Waits for a condition that no event tells of; fails by name when it does not come.
 *
 * @param {() => unknown} isSo may be asynchronous
 * @param {string} what completes "not within … ms: "
 * @param {number} [limitMs]
 * @returns {Promise<void>}
 */
async function until (isSo, what, limitMs = kWaitMs) {
  const deadline = performance.now() + limitMs
  while (!await isSo()) {
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`)
    await sleep(kLookMs)
  }
}

/**
 * Gives what must not happen the time to happen. The silence itself is what the caller tests: no event marks its end, and a
 * busy machine makes the test pass, never fail.
 *
 * @param {number} ms
 * @returns {Promise<void>}
 */
function silence (ms) {
  return sleep(ms)
}

/**
 * Lets what was written leave as a segment of its own. A busy machine may join it with the next one: what is tested has to take
 * both, so that the test is weaker then, and never fails.
 *
 * @param {number} ms
 * @returns {Promise<void>}
 */
function apart (ms) {
  return sleep(ms)
}

/** @param {any} server @returns {Promise<number>} */
function connectionsOf (server) {
  return new Promise((resolve, reject) => {
    server.getConnections((/** @type {Error | null} */ error, /** @type {number} */ count) => error ? reject(error) : resolve(count))
  })
}

/**
 * Waits until a server knows that it has so many connections and no more, which it hears later than its clients.
 *
 * @param {any} server
 * @param {number} [count]
 * @returns {Promise<void>}
 */
function drained (server, count = 0) {
  return until(async () => await connectionsOf(server) <= count, `no more than ${count} connections`)
}

const kTables = ['/proc/net/tcp', '/proc/net/tcp6'].filter((file) => fs.existsSync(file))

/** @param {number | undefined} port @returns {string} as the kernel's tables have it */
const hex = (port = 0) => port.toString(16).toUpperCase().padStart(4, '0')

/**
 * @param {number | undefined} localPort
 * @param {number | undefined} remotePort
 * @returns {{ state: string, unsent: boolean, unread: boolean } | null} one end of a connection, as the kernel has it
 */
function endOf (localPort, remotePort) {
  // A machine may have thousands of connections that wait for their end: no line is looked at by itself.
  const pattern = new RegExp(`:${hex(localPort)} [0-9A-F]+:${hex(remotePort)} (..) ([0-9A-F]{8}):([0-9A-F]{8})`)
  for (const file of kTables) {
    const found = pattern.exec(fs.readFileSync(file, 'latin1'))
    if (found === null) continue
    const [, state, sending, receiving] = found
    return { state, unsent: sending !== '00000000', unread: receiving !== '00000000' }
  }
  return null
}

/**
 * Waits until the process at the other end of a connection on this machine has read all that this end has written. What it
 * makes of the bytes before it reads the next ones, it has made before it obeys a command of its JavaScript.
 *
 * @param {import('node:net').Socket} socket
 * @returns {Promise<void>}
 */
async function readByPeer (socket) {
  await until(() => socket.writableLength === 0, 'the kernel has taken everything')
  if (kTables.length === 0) return sleep(kReadMs)
  const { localPort, remotePort } = socket
  await until(() => !endOf(localPort, remotePort)?.unsent && !endOf(remotePort, localPort)?.unread, 'the peer has read everything')
}

/**
 * Waits until this process knows which of its connections have been ended by their peers so far.
 *
 * @param {import('node:net').Socket[]} sockets
 * @returns {Promise<void>}
 */
async function knowsEnds (sockets) {
  if (kTables.length === 0) return sleep(kReadMs)
  await until(() => sockets.every((socket) => socket.destroyed || endOf(socket.localPort, socket.remotePort)?.state === kEstablished), 'the ends are known')
}

module.exports = { apart, connectionsOf, drained, knowsEnds, readByPeer, silence, until }
