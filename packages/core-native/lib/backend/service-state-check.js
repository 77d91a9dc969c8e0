'use strict'

// Checks the text in which a member of a port describes its state. The sender is not trusted: every size is bounded, and only
// the fields described here are passed on.

const { ServiceStateError } = require('../base/errors')
const { describeEntry } = require('./cache-entry')

/** @typedef {import('./service-state').ServiceState} ServiceState */
/** @typedef {import('./service-state').CacheMember} CacheMember */

// Limits on the answer of a port: its length in UTF-16 units (10,000 prefixes take 2 MB), and the elements of each of its lists.
const kStateBytesMax = 16 * 1024 * 1024
const kMembersMax = 10_000
const kRegistrationsMax = 200_000
const kSocketsMax = 1000
const kEntriesMax = 200_000
/** Maximum length of an entry's URL: kKeyBytesMax of src/cache/cache_key.h, and the scheme. */
const kUrlMax = 8 * 1024 + 16

/**
 * @param {number} port
 * @param {string} text
 * @returns {ServiceState} only the fields of kState; control characters replaced
 * @throws ERR_HTTPSYS_SERVICE_STATE
 */
function checkServiceState (port, text) {
  return read(port, text, kState)
}

/**
 * Reads the contents of a port's output caches from the state that its members sent.
 *
 * @param {number} port
 * @param {string} text
 * @returns {CacheMember[]} the members with a cache
 * @throws ERR_HTTPSYS_SERVICE_STATE
 */
function checkCacheState (port, text) {
  return read(port, text, kCaches).members.flatMap(({ cache, ...member }) =>
    cache === undefined ? [] : [{ ...member, ...cache, entries: cache.entries.map(describeEntry) }])
}

/** @template {{ port: number }} T @param {number} port @param {string} text @param {Check<T>} check @returns {T} */
function read (port, text, check) {
  if (text.length > kStateBytesMax) throw new ServiceStateError(port, `the answer is longer than ${kStateBytesMax} bytes`)
  let value
  try {
    value = JSON.parse(text)
  } catch {
    throw new ServiceStateError(port, 'the answer is not JSON')
  }
  const state = check(value, 'the answer', (problem) => { throw new ServiceStateError(port, problem) })
  if (state.port !== port) throw new ServiceStateError(port, `the answer is about port ${state.port}`)
  return state
}

/** @typedef {(problem: string) => never} Refuse */
/** @template T @typedef {(value: unknown, where: string, refuse: Refuse) => T} Check */

/** @param {number} least @param {number} most @returns {Check<number>} */
function integer (least, most) {
  return (value, where, refuse) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
    ? Number(value)
    : refuse(`${where} is no integer from ${least} to ${most}`)
}

/** @param {number} charsMax @returns {Check<string>} */
function string (charsMax) {
  return (value, where, refuse) => typeof value === 'string' && value.length <= charsMax
    // Replace control characters, which would command the terminal or reverse the direction of its text.
    ? value.replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]|\p{Cs}/gu, '\ufffd')
    : refuse(`${where} is no string of at most ${charsMax} characters`)
}

/** @template T @param {Check<T>} check @param {number} lengthMax @returns {Check<T[]>} */
function list (check, lengthMax) {
  return (value, where, refuse) => Array.isArray(value) && value.length <= lengthMax
    ? value.map((element, index) => check(element, `${where}[${index}]`, refuse))
    : refuse(`${where} is no array of at most ${lengthMax} elements`)
}

/**
 * @template {Record<string, Check<unknown>>} F
 * @param {F} fields
 * @returns {Check<{ [K in keyof F]: ReturnType<F[K]> }>}
 */
function object (fields) {
  return (value, where, refuse) => {
    if (typeof value !== 'object' || value === null) return refuse(`${where} is no object`)
    return /** @type {{ [K in keyof F]: ReturnType<F[K]> }} */ (Object.fromEntries(Object.entries(fields).map(([name, check]) =>
      [name, check(/** @type {Record<string, unknown>} */ (value)[name], `${where}.${name}`, refuse)])))
  }
}

/** @template T @param {Check<T>} check @returns {Check<T | undefined>} */
function optional (check) {
  return (value, where, refuse) => value === undefined ? undefined : check(value, where, refuse)
}

/** @type {Check<boolean>} */
const boolean = (value, where, refuse) => typeof value === 'boolean' ? value : refuse(`${where} is no boolean`)

const count = integer(0, Number.MAX_SAFE_INTEGER)
const kPid = integer(1, 2 ** 31 - 1)
const kState = object({
  port: integer(1, 65535),
  protocol: integer(0, 65535),
  coordinator: kPid,
  members: list(object({
    pid: kPid,
    id: string(16),
    thread: integer(0, 2 ** 31 - 1),
    program: string(255),
    protocol: integer(0, 65535),
    registrations: list(object({
      prefix: string(4096),
      queue: string(255),
      requests: count,
      queued: count,
      queueLimit: count,
      refused: count
    }), kRegistrationsMax),
    connections: count,
    handedOver: count,
    received: count,
    // Members with an older version do not send it.
    cacheAnswers: optional(count)
  }), kMembersMax),
  sockets: list(string(128), kSocketsMax)
})

const kCaches = object({
  port: integer(1, 65535),
  members: list(object({
    pid: kPid,
    thread: integer(0, 2 ** 31 - 1),
    program: string(255),
    cache: optional(object({
      flushed: count,
      entries: list(object({
        url: string(kUrlMax),
        status: integer(0, 999),
        policy: integer(0, 2),
        created: count,
        seconds: count,
        hits: count,
        headBytes: count,
        bodyBytes: count,
        varies: boolean
      }), kEntriesMax)
    }))
  }), kMembersMax)
})

module.exports = { checkCacheState, checkServiceState }
