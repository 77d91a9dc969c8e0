'use strict'

// Finds the user and the process that listen on a TCP port of this machine, for the message of EADDRINUSE. Linux only.

const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const { performance } = require('node:perf_hooks')
const { readStart } = require('./proc-file')

/** Maximum time in ms that a search may block the event loop: there may be thousands of processes with thousands of descriptors each. */
const kLookMs = 100
/** Matches a row of /proc/net/tcp for a socket in another state than LISTEN (0A). */
const kOtherState = /^ *\d+: \S+ \S+ (?!0A)/m

/**
 * @typedef {object} Holder
 * @property {number} uid
 * @property {string} inode of the holder's socket
 */

/**
 * Finds the listening socket that prevents binding an address.
 *
 * @param {string} address
 * @param {number} port
 * @param {{ tables?: string[] }} [options] for tests
 * @returns {Holder | null} null: no socket listens there, or this system has no such tables. Of several sockets, prefers one of another user
 */
function holderOf (address, port, { tables = ['/proc/net/tcp', '/proc/net/tcp6'] } = {}) {
  const deadline = performance.now() + kLookMs
  const own = process.geteuid?.()
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  // The columns are: sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
  const listening = new RegExp(`^ *\\d+: ([\\dA-F]{8}|[\\dA-F]{32}):${hexPort} \\S+ 0A \\S+ \\S+ \\S+ +(\\d+) +\\d+ +(\\d+)`, 'gm')
  /** @type {Holder | null} */
  let found = null
  for (const table of tables) {
    for (const [, local, digits, inode] of contentOf(table, deadline).matchAll(listening)) {
      const uid = Number(digits)
      if (!collide(addressIn(local), address)) continue
      if (found === null || (found.uid === own && uid !== own)) found = { uid, inode }
    }
  }
  return found
}

/** @param {string} table @param {number} deadline ms of performance.now() @returns {string} */
function contentOf (table, deadline) {
  try {
    // The kernel lists all listening sockets first: the rest of the table need not be read.
    return readStart(table, (piece) => performance.now() > deadline || kOtherState.test(piece))
  } catch {
    return '' // Other systems, and sandboxes without /proc, have no such table.
  }
}

/** @param {string} hex an address in a table: words of 32 bits in the order of this machine's bytes @returns {string} */
function addressIn (hex) {
  const bytes = Buffer.from(hex, 'hex')
  if (os.endianness() === 'LE') bytes.swap32()
  return bytes.length === 4 ? bytes.join('.') : /** @type {string[]} */ (bytes.toString('hex').match(/.{4}/g)).join(':')
}

/** @param {string} a @param {string} b @returns {boolean} whether sockets of the two addresses cannot listen on one port */
function collide (a, b) {
  const [one, other] = [a, b].map((address) =>
    new net.SocketAddress({ address, family: net.isIPv6(address) ? 'ipv6' : 'ipv4' }).address.replace(/^::ffff:(?=\d+\.)/, ''))
  if (one === '::' || other === '::') return true
  return net.isIPv4(one) === net.isIPv4(other) && (one === other || one === '0.0.0.0' || other === '0.0.0.0')
}

/**
 * Looks through the descriptors of all processes, for up to kLookMs.
 *
 * @param {Holder} holder
 * @returns {number} pid of a process that has the socket; 0: not found in time, or among the processes that this one may inspect
 */
function pidOf ({ inode }) {
  const deadline = performance.now() + kLookMs
  const link = `socket:[${inode}]`
  const others = [...namesIn('/proc', deadline)].filter((name) => /^\d+$/.test(name)).sort((a, b) => Number(b) - Number(a))
  // Search this process first, then the others from the highest pid down: the holder probably started recently.
  for (const pid of [String(process.pid), ...others]) {
    for (const fd of namesIn(`/proc/${pid}/fd`, deadline)) if (linkOf(`/proc/${pid}/fd/${fd}`) === link) return Number(pid)
    if (performance.now() > deadline) return 0
  }
  return 0
}

/** @param {string} folder @param {number} deadline ms of performance.now(), at which the listing ends */
function * namesIn (folder, deadline) {
  try {
    const entries = fs.opendirSync(folder)
    try {
      for (let entry; performance.now() < deadline && (entry = entries.readSync()) !== null;) yield entry.name
    } finally {
      entries.closeSync()
    }
  } catch {
    // The folder is another user's, or its process has ended.
  }
}

/** @param {string} file @returns {string} */
function linkOf (file) {
  try {
    return fs.readlinkSync(file)
  } catch {
    return ''
  }
}

module.exports = { holderOf, pidOf }
