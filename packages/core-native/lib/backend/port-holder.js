'use strict'

// Finds the process or user that listens on a TCP port of this machine, for the message of EADDRINUSE. Linux only.

const fs = require('node:fs')
const { performance } = require('node:perf_hooks')
const { readStart } = require('./proc-file')

/** How long the descriptors of other processes are looked through. A machine may have thousands of processes. */
const kLookMs = 100
const kListen = '0A'

/**
 * @typedef {object} Holder
 * @property {number} uid
 * @property {number} pid 0: not found
 */

/**
 * @param {number} port
 * @param {{ tables?: string[] }} [options] for tests
 * @returns {Holder | null} null: nobody listens there, or this system does not tell. Of several, one of another user
 */
function holderOf (port, { tables = ['/proc/net/tcp', '/proc/net/tcp6'] } = {}) {
  const own = process.geteuid?.()
  const wanted = port.toString(16).toUpperCase().padStart(4, '0')
  /** @type {{ uid: number, inode: string } | undefined} */
  let found
  for (const table of tables) {
    for (const line of linesOf(table)) {
      // sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
      const [, local = '', , state, , , , uid, , inode = ''] = line.trim().split(/\s+/)
      if (state !== kListen || !local.endsWith(`:${wanted}`)) continue
      if (found === undefined || (found.uid === own && Number(uid) !== own)) found = { uid: Number(uid), inode }
    }
  }
  if (found === undefined || !Number.isInteger(found.uid)) return null
  return { uid: found.uid, pid: pidOf(found.inode) }
}

/** @param {string} table @returns {string[]} */
function linesOf (table) {
  try {
    return readStart(table).split('\n').slice(1)
  } catch {
    return [] // Another system, or a sandbox without it.
  }
}

/** @param {string} inode of a socket @returns {number} a process that has it; 0: none that this process may look at */
function pidOf (inode) {
  const deadline = performance.now() + kLookMs
  const link = `socket:[${inode}]`
  const others = namesIn('/proc').filter((name) => /^\d+$/.test(name)).sort((a, b) => Number(b) - Number(a))
  // This process may have it itself; otherwise it was probably started not long ago.
  for (const pid of [String(process.pid), ...others]) {
    for (const fd of namesIn(`/proc/${pid}/fd`)) {
      if (linkOf(`/proc/${pid}/fd/${fd}`) === link) return Number(pid)
    }
    if (performance.now() > deadline) return 0
  }
  return 0
}

/** @param {string} folder @returns {string[]} */
function namesIn (folder) {
  try {
    return fs.readdirSync(folder)
  } catch {
    return []
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

module.exports = { holderOf }
