'use strict'

// The object that keeps a response's headers until they are sent, and the short way into it.

const http = require('node:http')
const { kOutHeaders, isLenientHeaderValidation, setHeader } = require('../node-private/node-internals')

const { validateHeaderValue } = http

// Field names that are remembered. Applications set some dozens; who makes names up only takes Node's own way.
const kKeysMax = 512
// Longest field name, and longest value, that is worth remembering (characters).
const kNameMax = 64
const kValueMax = 64

// Headers by name. Like Node's own object this one has no prototype to speak of; unlike that, which is a dictionary from its first
// key on, it has a hidden class.
/** @constructor */
function OutHeaders () {}
OutHeaders.prototype = Object.create(null)

/**
 * A field name that Node takes.
 *
 * @typedef {object} Field
 * @property {string} key what Node files it under
 * @property {string} checked the value that was found right last: most responses set the same ones
 */

/** Fields by their name as it was given. @type {Map<string, Field>} */
const fields = new Map()

/**
 * Remembers what is known of a field: Node would check its name each time, and make a new string.
 *
 * @param {string} name
 * @returns {Field | undefined} undefined: let Node set it
 */
function fieldOf (name) {
  return fields.get(name) ?? learnField(name)
}

/** Throws as Node does when a value may not be sent. @param {Field} field @param {string} name @param {unknown} value */
function checkValue (field, name, value) {
  if (value === field.checked) return
  validateHeaderValue(name, /** @type {string} */ (value)) // It says what is wrong with others.
  if (typeof value === 'string' && value.length <= kValueMax) field.checked = value
}

// Asks Node itself, so that the rules are those of the running version.
/** @param {unknown} name */
function learnField (name) {
  if (typeof name !== 'string' || name.length > kNameMax || fields.size >= kKeysMax) return undefined
  const probe = Object.assign(Object.create(http.OutgoingMessage.prototype), { _header: null, [kOutHeaders]: null })
  try {
    setHeader?.call(probe, name, 'a')
  } catch {
    return undefined // Node says again what is wrong with it.
  }
  const entries = Object.entries(probe[kOutHeaders] ?? {})
  if (entries.length !== 1) return undefined
  const [[key, pair]] = entries
  if (!Array.isArray(pair) || pair.length !== 2 || pair[0] !== name || pair[1] !== 'a') return undefined
  const field = { key, checked: 'a' }
  fields.set(name, field)
  return field
}

/** Node's own setHeader() when it does what the short way does; null: there is none. */
const stockSetHeader = learnField('Content-Type') === undefined ? null : setHeader

/** Whether a response's values are checked as http.validateHeaderValue() does. @param {import('node:http').OutgoingMessage} res */
function isStrict (res) {
  return isLenientHeaderValidation === null || isLenientHeaderValidation.call(res) === false
}

/** @returns {Record<string, [name: string, value: unknown]>} */
function outHeaders () {
  return /** @type {Record<string, [name: string, value: unknown]>} */ (new OutHeaders())
}

module.exports = { checkValue, fieldOf, isStrict, outHeaders, stockSetHeader }
