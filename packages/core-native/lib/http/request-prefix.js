'use strict'

// The URL prefix of a request, as the request's properties and as X-Forwarded-Prefix.

const { Buffer } = require('node:buffer')
const { Way } = require('../prefixes/prefixes')
const { splitTarget } = require('../prefixes/url-prefix')
const { kStripped } = require('./symbols')

/** @import { EngineRequest } from '../../types/internal' */
/** @typedef {Pick<import('../prefixes/prefixes').Prefixes, 'names' | 'paths' | 'ways'>} Prefixes of its server */

const kForwardedPrefix = 'X-Forwarded-Prefix'
const kForwardedPrefixLower = kForwardedPrefix.toLowerCase()

/** @param {EngineRequest} req @param {Prefixes} prefixes @param {number} id of the prefix */
function namePrefix (req, { names, paths, ways }, id) {
  req.urlPrefix = names[id]
  const way = ways[id]
  if ((way & Way.kStrips) === 0) return
  const { base, rest } = splitTarget(paths[id], /** @type {string} */ (req.url))
  if ((way & Way.kHides) !== 0) {
    req[kStripped] = base
  } else {
    // Express and connect find originalUrl and baseUrl as below a router that is mounted at the prefix.
    req.originalUrl = req.url
    req.baseUrl = base
  }
  req.url = rest
}

/**
 * Replaces a client's X-Forwarded-Prefix by the server's own, if the prefix asks for it.
 *
 * @param {string[]} raw names and values
 * @param {Prefixes} prefixes
 * @param {number} id of the prefix
 */
function forwardPrefix (raw, { paths, ways }, id) {
  if ((ways[id] & Way.kForwards) === 0) return
  let kept = 0
  for (let at = 0; at < raw.length; at += 2) {
    const { [at]: name } = raw
    if (name.length === kForwardedPrefix.length && name.toLowerCase() === kForwardedPrefixLower) continue
    raw[kept++] = name
    raw[kept++] = raw[at + 1]
  }
  raw.length = kept
  const value = fieldOf(paths[id])
  // Added as the first line, because a limit of lines cuts off the last ones.
  if (value !== '') raw.unshift(kForwardedPrefix, value)
}

/**
 * @param {string} path of a prefix, which may have letters that no field has
 * @returns {string} the path without its final slash, with such letters percent-encoded
 */
function fieldOf (path) {
  return path.slice(0, -1).replace(/[^!-~]/gu, (letter) => Buffer.from(letter).toString('hex').toUpperCase().replace(/../g, '%$&'))
}

module.exports = { forwardPrefix, namePrefix }
