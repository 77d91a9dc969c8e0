'use strict'

// Makes the object that keeps a response's headers until they are sent. Its fields are set by a short way, without Node's setHeader().

const http = require('node:http')
const { kOutHeaders, isLenientHeaderValidation, setHeader } = require('../node-private/node-internals')

const { validateHeaderValue } = http

// At most this many field names are remembered. Applications set some dozens; further names take Node's own way.
const kKeysMax = 512
// Longest field name, and longest value, that is worth remembering (characters).
const kNameMax = 64
const kValueMax = 64

// Headers by name. Its prototype is empty, like that of Node's own object. Node's is a dictionary from its first key on; this one has
// a hidden class, which is faster.
/** @constructor */
function OutHeaders () {}
OutHeaders.prototype = Object.create(null)

/**
 * A field name that Node takes.
 *
 * @typedef {object} Field
 * @property {string} key the key under which Node stores the field
 * @property {string} checked the last value that passed the check: most responses set the same values
 */

/** Fields by their name as it was given. @type {Map<string, Field>} */
const fields = new Map()

/**
 * Returns what is remembered of a field name. Node would check the name each time, and make a new string.
 *
 * @param {string} name
 * @returns {Field | undefined} undefined: let Node set it
 */
function fieldOf (name) {
  return fields.get(name) ?? learnField(name)
}

/** Throws as Node does when a value must not be sent. @param {Field} field @param {string} name @param {unknown} value */
function checkValue (field, name, value) {
  if (value === field.checked) return
  validateHeaderValue(name, /** @type {string} */ (value)) // Throws for a value of another type.
  if (typeof value === 'string' && value.length <= kValueMax) field.checked = value
}

// Learns a field name by a call of Node's setHeader(), so that the rules are the running version's.
/** @param {unknown} name */
function learnField (name) {
  if (typeof name !== 'string' || name.length > kNameMax || fields.size >= kKeysMax) return undefined
  const probe = Object.assign(Object.create(http.OutgoingMessage.prototype), { _header: null, [kOutHeaders]: null })
  try {
    setHeader?.call(probe, name, 'a')
  } catch {
    return undefined // The caller then lets Node set the field, which throws again.
  }
  const entries = Object.entries(probe[kOutHeaders] ?? {})
  if (entries.length !== 1) return undefined
  const [[key, pair]] = entries
  if (!Array.isArray(pair) || pair.length !== 2 || pair[0] !== name || pair[1] !== 'a') return undefined
  const field = { key, checked: 'a' }
  fields.set(name, field)
  return field
}

/** Node's own setHeader(); null: the short way would not do the same, and is not used. */
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
