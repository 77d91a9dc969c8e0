'use strict'

// Where a response's headers are kept until they are sent, and the short way into it.

const http = require('node:http')
const { kOutHeaders, isLenientHeaderValidation, setHeader } = require('../node/node-internals')

// Field names with a remembered key. Applications set some dozens; who makes names up only takes Node's own way.
const kKeysMax = 512
// Longest field name (characters) that is worth remembering.
const kNameMax = 64

// As Node's own object it has no prototype to speak of; unlike that, which is a dictionary from its first
// key on, V8 gives it a hidden class.
/** @this {any} */
function OutHeaders () {}
OutHeaders.prototype = Object.create(null)

/** Keys by field name as it was given. @type {Map<string, string>} */
const keys = new Map()

/**
 * What Node files a field under, for names that it takes: it would check each again, and make a new string.
 *
 * @param {string} name
 * @returns {string | undefined} undefined: let Node set it
 */
function keyOf (name) {
  return keys.get(name) ?? learnKey(name)
}

// Asks Node itself, so that the rules are those of the running version.
/** @param {unknown} name */
function learnKey (name) {
  if (typeof name !== 'string' || name.length > kNameMax || keys.size >= kKeysMax) return undefined
  const probe = Object.assign(Object.create(http.OutgoingMessage.prototype), { _header: null, [kOutHeaders]: null })
  try {
    setHeader?.call(probe, name, 'a')
  } catch {
    return undefined // Node says again what is wrong with it.
  }
  const fields = Object.entries(probe[kOutHeaders] ?? {})
  if (fields.length !== 1) return undefined
  const [[key, pair]] = fields
  if (!Array.isArray(pair) || pair.length !== 2 || pair[0] !== name || pair[1] !== 'a') return undefined
  keys.set(name, key)
  return key
}

/** Node's own setHeader() when it does what the short way does; null: there is none. */
const stockSetHeader = learnKey('Content-Type') === undefined ? null : setHeader

/** Whether a response's values are checked as http.validateHeaderValue() does. @param {any} res */
function isStrict (res) {
  return isLenientHeaderValidation === null || isLenientHeaderValidation.call(res) === false
}

/** @returns {any} */
function outHeaders () {
  return new (/** @type {any} */ (OutHeaders))()
}

module.exports = { isStrict, keyOf, outHeaders, stockSetHeader }
