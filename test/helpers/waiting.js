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

/** @typedef {{ state: string, unsent: boolean, unread: boolean }} End one end of a connection, as the kernel has it */

/** Local address and port, remote ones, state, and the bytes that were not sent and not read. */
const kLine = /:([0-9A-F]{4}) [0-9A-F]+:([0-9A-F]{4}) (..) ([0-9A-F]{8}):([0-9A-F]{8})/g

/**
 * Reads the kernel's tables once: they may have thousands of lines, of connections that wait for their end, and take 30 ms then.
 *
 * @returns {(localPort: number | undefined, remotePort: number | undefined) => End | undefined}
 */
function readEnds () {
  /** @type {Map<string, End>} */
  const ends = new Map()
  for (const file of kTables) {
    for (const [, local, remote, state, sending, receiving] of fs.readFileSync(file, 'latin1').matchAll(kLine)) {
      const key = `${local} ${remote}`
      if (!ends.has(key)) ends.set(key, { state, unsent: sending !== '00000000', unread: receiving !== '00000000' })
    }
  }
  return (localPort, remotePort) => ends.get(`${hex(localPort)} ${hex(remotePort)}`)
}

/**
 * Waits until the processes at the other ends of connections on this machine have read all that these ends have written. What
 * they make of the bytes before they read the next ones, they have made before they obey a command of their JavaScript.
 *
 * @param {...import('node:net').Socket} sockets
 * @returns {Promise<void>}
 */
async function readByPeer (...sockets) {
  await until(() => sockets.every((socket) => socket.writableLength === 0), 'the kernel has taken everything')
  if (kTables.length === 0) return sleep(kReadMs)
  await until(() => {
    const endOf = readEnds()
    return sockets.every(({ localPort, remotePort }) => !endOf(localPort, remotePort)?.unsent && !endOf(remotePort, localPort)?.unread)
  }, 'the peers have read everything')
}

/**
 * Waits until this process knows which of its connections have been ended by their peers so far.
 *
 * @param {import('node:net').Socket[]} sockets
 * @returns {Promise<void>}
 */
async function knowsEnds (sockets) {
  if (kTables.length === 0) return sleep(kReadMs)
  await until(() => {
    const endOf = readEnds()
    return sockets.every((socket) => socket.destroyed || endOf(socket.localPort, socket.remotePort)?.state === kEstablished)
  }, 'the ends are known')
}

module.exports = { apart, connectionsOf, drained, knowsEnds, readByPeer, silence, until }
