'use strict'

// Reads options by the table that is made from schema/options.js: refuses unknown names and wrong values, and fills in defaults.

const { readBoolean, readInteger, readString, wrongChoice, wrongType } = require('../base/validate')
const { refuseUnknown } = require('./option-names')

/**
 * @typedef {object} Entry of an option in the table; schema/options.js explains the names
 * @property {string} type
 * @property {number | boolean | string} [default]
 * @property {number} [least]
 * @property {number} [most]
 * @property {boolean} [orZero]
 * @property {string[]} [choices]
 * @property {Table} [options]
 * @property {boolean} [passed]
 * @property {boolean} [forPrefixes]
 * @property {number | string} [httpSysDefault]
 * @property {string} [needs]
 * @property {string} [rules]
 *
 * @typedef {{ [name: string]: Entry }} Table
 */

/**
 * The values of a table's options. Options of type 'special' keep the given value.
 *
 * @template T
 * @typedef {{ [Name in keyof T]: T[Name] extends { options: infer Nested } ? Taken<Nested> : T[Name] extends { default: infer Value } ? Value : unknown }} Taken
 */

/**
 * @param {string} name such as "options.http2.maxFrameSize"
 * @param {Entry} entry
 * @param {unknown} value
 * @returns {unknown}
 */
function readOption (name, { type, default: byDefault, least = 0, most, orZero, choices, options }, value) {
  if (options !== undefined) return takeGroup(options, value, name.slice('options.'.length))
  if (value === undefined || type === 'special') return value === undefined ? byDefault : value
  if (type === 'number') return readInteger(name, value, least, most, orZero)
  if (type === 'boolean') return readBoolean(name, value)
  if (type === 'string') readString(name, value)
  if (!choices?.includes(/** @type {string} */ (value))) throw wrongChoice(name, choices ?? [], value)
  return value
}

/**
 * @template {Table} T
 * @param {T} table
 * @param {object} given other names are ignored
 * @param {string} [where] place of the options, for messages
 * @returns {Taken<T>}
 * @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE, ERR_HTTPSYS_OPTION
 */
function takeOptions (table, given, where = 'options') {
  const values = /** @type {Record<string, unknown>} */ (given)
  return /** @type {Taken<T>} */ (Object.fromEntries(
    Object.entries(table).map(([name, entry]) => [name, readOption(`${where}.${name}`, entry, values[name])])))
}

/**
 * Reads an option that is an object with options.
 *
 * @template {Table} T
 * @param {T} table
 * @param {unknown} value undefined: an empty object
 * @param {string} path such as "cache.stale"
 * @returns {Taken<T>}
 * @throws as takeOptions()
 */
function takeGroup (table, value, path) {
  if (value === undefined) return takeOptions(table, {})
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongType(`options.${path}`, 'an instance of Object', value)
  refuseUnknown(path, value, Object.keys(table))
  return takeOptions(table, value, `options.${path}`)
}

module.exports = { takeGroup, takeOptions }
