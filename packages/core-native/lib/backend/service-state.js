'use strict'

// Finds the ports that this user's servers share, by the names of the sockets at which their members meet, and asks the members for their
// state. Any local process can bind such a name and answer: the addon decodes answers with limits, and their texts are made printable here.

const os = require('node:os')
const util = require('node:util')
const { clearTimeout, setTimeout } = require('node:timers')
const { loadBinding } = require('./binding')
const { describeEntry } = require('./cache-entry')
const { ServiceStateError } = require('../base/errors')
const { readStart } = require('./proc-file')
const { useRuntimeDirectory } = require('./runtime-directory')

/** @typedef {import('../../types/service-state').ServiceState} ServiceState */
/** @typedef {import('../../types/service-state').CacheMember} CacheMember */
/** @typedef {import('../../types/binding').CacheQuestion} CacheQuestion */
/** @typedef {import('../../types/binding').NativeState} NativeState */
/** @typedef {(port: number, callback: (errno: number, state?: NativeState) => void, question?: CacheQuestion) => void} AskNative */

const kProcNetUnix = '/proc/net/unix'
const kOthersMax = 1000
// Maximum time (ms) until a question is answered. The native side already gives up on the coordinator after one second.
const kTimeoutMs = 3000
/** Default of `limit`: the number of entries that each member lists. */
const kListed = 1000

/**
 * Lists the ports on which httpsys listens, from the names of the sockets at which members meet. Linux only.
 *
 * @param {{ file?: string, uid?: number, start?: string }} [options]
 * @returns {ReturnType<typeof import('../../types/service-state').portsInUse>} `others`: ports of other users or protocol versions; with
 *   HTTPSYS_RUNTIME_DIRECTORY, all abstract names
 */
function portsInUse ({ file = kProcNetUnix, uid = process.geteuid?.() ?? -1, start = startOfFiles() } = {}) {
  const own = new Set()
  const text = readStart(file)
  const isHere = start === ''
  for (const port of isHere ? [] : filesOf(text, start)) own.add(port)
  /** @type {Map<string, { port: number, uid: number }>} */
  const others = new Map()
  // libuv before 1.47 fills names up with zeros, which the kernel shows as "@".
  for (const [name, protocol, user, digits] of text.matchAll(/(?<= )@httpsys\/(\d{1,3})\/(\d{1,10})\/([1-9]\d{0,4})@*$/gm)) {
    const port = Number(digits)
    if (port > 65535) continue
    if (isHere && protocol === '1' && Number(user) === uid) own.add(port)
    else if (others.size < kOthersMax) others.set(name, { port, uid: Number(user) })
  }
  return { own: [...own].sort((a, b) => a - b), others: [...others.values()] }
}

/** @returns {string} start of the path of each port's socket in HTTPSYS_RUNTIME_DIRECTORY; '' = the variable is not set, the names are abstract */
function startOfFiles () {
  if (!process.env.HTTPSYS_RUNTIME_DIRECTORY) return ''
  const binding = loadBinding()
  useRuntimeDirectory(binding)
  return binding.portName?.(1).slice(0, -1) ?? ''
}

// Finds the ports whose sockets are files. The kernel lists only sockets of living processes in this network namespace, not files left behind.
/** @param {string} text of /proc/net/unix, as latin1 @param {string} start @returns {number[]} ports */
function filesOf (text, start) {
  const before = ` ${Buffer.from(start).toString('latin1')}`
  return text.split('\n').flatMap((line) => {
    const at = line.indexOf(before)
    const digits = at === -1 ? '' : line.slice(at + before.length)
    return /^[1-9]\d{0,4}$/.test(digits) && Number(digits) <= 65535 ? [Number(digits)] : []
  })
}

/**
 * Asks the members of one of this user's ports for the port's state.
 *
 * @param {number} port
 * @param {{ ask?: AskNative, timeoutMs?: number }} [options] for tests
 * @returns {Promise<ServiceState>} rejects with the system's error (ECONNREFUSED: nothing listens there, …) or
 *   ERR_HTTPSYS_SERVICE_STATE
 */
async function readServiceState (port, { ask = askNative(port), timeoutMs = kTimeoutMs } = {}) {
  return stateOf(port, undefined, ask, timeoutMs)
}

/**
 * Lists the entries that the output caches of a port have stored.
 *
 * @param {number} port
 * @param {{ url?: string, limit?: number, ask?: AskNative, timeoutMs?: number }} [options] `url` and everything below it; `limit` of each member
 * @returns {Promise<CacheMember[]>} rejects as readServiceState()
 */
async function readCacheState (port, { url = '', limit = kListed, ask = askNative(port), timeoutMs = kTimeoutMs } = {}) {
  return cachesOf(await stateOf(port, { wants: 1, limit, url }, ask, timeoutMs))
}

/**
 * Removes the entries for a URL from the output caches of a port.
 *
 * @param {number} port
 * @param {{ url?: string, recursive?: boolean, ask?: AskNative, timeoutMs?: number }} [options] without `url` everything
 * @returns {Promise<CacheMember[]>} `flushed` is the number of removed entries; rejects as readServiceState()
 */
async function flushCaches (port, { url = '', recursive = false, ask = askNative(port), timeoutMs = kTimeoutMs } = {}) {
  return cachesOf(await stateOf(port, { wants: recursive || url === '' ? 3 : 2, limit: 0, url }, ask, timeoutMs))
}

/** @param {NativeState} state @returns {CacheMember[]} the members with a cache */
function cachesOf ({ members }) {
  return members.flatMap(({ pid, thread, program, cache }) =>
    cache === undefined ? [] : [{ pid, thread, program, ...cache, entries: cache.entries.map(describeEntry) }])
}

/** @param {number} port @param {CacheQuestion | undefined} question @param {AskNative} ask @param {number} timeoutMs @returns {Promise<NativeState>} */
function stateOf (port, question, ask, timeoutMs) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new ServiceStateError(port, `no answer within ${timeoutMs} ms`)), timeoutMs)
    ask(port, (errno, state) => {
      clearTimeout(timer)
      if (Math.abs(errno) === os.constants.errno.EPROTO) reject(new ServiceStateError(port, 'the answer is not the state of this port'))
      else if (errno !== 0) reject(systemError(port, errno))
      else resolve(/** @type {NativeState} */ (printable(state)))
    }, question)
  })
}

/** Replaces control characters in texts, which would command the terminal or reverse the direction of its text. @param {unknown} value @returns {unknown} */
function printable (value) {
  if (typeof value === 'string') return value.replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]|\p{Cs}/gu, '\ufffd')
  if (Array.isArray(value)) return value.map(printable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, printable(field)]))
}

/** @param {number} port @returns {AskNative} */
function askNative (port) {
  const binding = /** @type {{ serviceState?: AskNative, capabilities?: { listensOnSockets: boolean } }} */ (
    /** @type {unknown} */ (loadBinding()))
  if (binding.capabilities?.listensOnSockets === false) {
    throw new ServiceStateError(port, 'with HTTP.SYS the operating system has it. Run:  netsh http show servicestate')
  }
  if (binding.serviceState === undefined) throw new ServiceStateError(port, 'the addon is of another version: serviceState() is missing')
  useRuntimeDirectory(loadBinding())
  return binding.serviceState
}

/** @param {number} port @param {number} number an error, negative as in libuv or positive as in errno */
function systemError (port, number) {
  const errno = -Math.abs(number)
  const code = util.getSystemErrorName(errno)
  return Object.assign(new Error(`Port ${port} did not tell its state: ${code}`), { errno, code, syscall: 'connect', port })
}

module.exports = { flushCaches, portsInUse, readCacheState, readServiceState }
