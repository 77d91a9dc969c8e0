'use strict'

// http.IncomingMessage with the fields that exchange.js keeps on a request.

const http = require('node:http')
const { splitTarget } = require('../prefixes/url-prefix')
const { addHeaderLine: stockAddHeaderLine } = require('../node-private/node-internals')
require('./body-limit')
const { kResource, kResourceEnded, kEndHeld, kStripped } = require('./symbols')

// At most this many field names get a rule. Applications meet some dozens. If a client invents more, names without a rule
// take Node's own way.
const kRulesMax = 512
// Longest field name (characters) that is worth a rule.
const kRuleNameMax = 64

/** @import { EngineRequest, EngineRequestBase } from '../../types/internal' */

// Named as Node's class: V8 takes the name in stack traces from the function, not from its 'name' property.
/** @this {EngineRequest} @param {import('node:net').Socket} socket */
const EngineIncomingMessage = function IncomingMessage (socket) {
  Reflect.apply(http.IncomingMessage, this, [socket])
  this[kResource] = null
  this[kResourceEnded] = false
  this[kEndHeld] = false
}

/**
 * The rule for a header line: its key in `headers`, and what a second line of that name does.
 *
 * @typedef {object} Rule
 * @property {string} key
 * @property {string | null} separator joins the values; null where the first line wins
 * @property {boolean} isList each value is an element of an array
 */

/** Rules by field name as it was sent. @type {Map<string, Rule>} */
const rules = new Map()

// Finds the rule of a field name by a call of Node's own function, so that it is the running version's.
/** @param {string} field @returns {Rule | undefined} undefined: no room, or no ordinary key (`__proto__`) */
function learnRule (field) {
  if (rules.size >= kRulesMax || field.length > kRuleNameMax) return undefined
  /** @type {Record<string, string | string[]>} */
  const headers = {}
  for (const value of ['a', 'b']) stockAddHeaderLine?.call({ joinDuplicateHeaders: false }, field, value, headers)
  const [key] = Object.keys(headers)
  if (key === undefined) return undefined
  const both = headers[key]
  const rule = { key, separator: both === 'a' || Array.isArray(both) ? null : both.slice(1, -1), isList: Array.isArray(both) }
  rules.set(field, rule)
  return rule
}

class Methods extends /** @type {EngineRequestBase} */ (http.IncomingMessage) {
  // Replaces Node's method, which makes a new string of most names for each line, to be looked up by V8.
  /** @param {string} field @param {string} value @param {Record<string, string | string[]>} headers */
  _addHeaderLine (field, value, headers) {
    const inherited = super._addHeaderLine
    const rule = inherited === stockAddHeaderLine ? rules.get(field) ?? learnRule(field) : undefined
    if (rule === undefined) {
      inherited.call(this, field, value, headers)
      return
    }
    const { key, separator } = rule
    const before = headers[key]
    if (rule.isList) {
      if (before === undefined) headers[key] = [value]
      else /** @type {string[]} */ (before).push(value)
    } else if (separator === null) {
      if (before === undefined) headers[key] = value
      else if (this.joinDuplicateHeaders) headers[key] = `${before}, ${value}`
    } else {
      headers[key] = typeof before === 'string' ? before + separator + value : value
    }
  }
}

// Getter of req.urlPrefixPath, computed at its first use: few applications use it.
/** @this {EngineRequest} @returns {string | undefined} */
function urlPrefixPath () {
  const { urlPrefix } = this
  if (typeof urlPrefix !== 'string') return undefined
  const path = urlPrefix.slice(urlPrefix.indexOf('/', urlPrefix.indexOf('://') + 3))
  // `originalUrl` is the whole URL: routers shorten `url`, as stripPrefix does.
  const base = this[kStripped] ?? splitTarget(path, this.originalUrl ?? /** @type {string} */ (this.url)).base
  Object.defineProperty(this, 'urlPrefixPath', { value: base, configurable: true, writable: true })
  return base
}

// Defined on Node's prototype, because Express gives requests its own prototype, which inherits only from Node's.
Object.defineProperty(http.IncomingMessage.prototype, 'urlPrefixPath', { configurable: true, get: urlPrefixPath })

EngineIncomingMessage.prototype = Methods.prototype
// The constructor is Node's: undici, for one, compares it with the class it knows.
Object.defineProperty(EngineIncomingMessage.prototype, 'constructor', {
  value: http.IncomingMessage, writable: true, configurable: true
})
Object.setPrototypeOf(EngineIncomingMessage, http.IncomingMessage)

module.exports = { EngineIncomingMessage }
