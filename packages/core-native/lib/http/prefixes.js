'use strict'

// The URL prefixes of one server, and the numbers by which lanes name them.

const { comparablePath } = require('../url-prefix')

/** @typedef {import('../url-prefix').UrlPrefix} UrlPrefix */

// An id is used again only after this many later removals, so that records on their way to JavaScript
// never name a newer prefix.
const kRetiredIdsKept = 256

class Prefixes {
  /** Canonical, by id; '' is an unused id. Empty = everything on the socket. @type {string[]} */
  texts = []
  /** What a record on its way may still name. @type {string[]} */
  names = []
  /** Their paths. @type {string[]} */
  paths = []
  /** @type {Map<string, { id: number, parsed: UrlPrefix }>} */
  #entries = new Map()
  /** Ids without a prefix, the oldest first. @type {number[]} */
  #retired = []

  get size () {
    return this.#entries.size
  }

  /** In the order in which they were added. @returns {UrlPrefix[]} */
  list () {
    return [...this.#entries.values()].map(({ parsed }) => parsed)
  }

  clear () {
    for (const parsed of this.list()) this.delete(parsed)
    this.texts = []
  }

  /** @param {UrlPrefix} parsed */
  has (parsed) {
    return this.#entries.has(keyOf(parsed))
  }

  /** @param {UrlPrefix} parsed @returns {number | undefined} */
  idOf (parsed) {
    return this.#entries.get(keyOf(parsed))?.id
  }

  /** @param {UrlPrefix} parsed @returns {number} its id */
  add (parsed) {
    const id = this.#retired.length > kRetiredIdsKept ? /** @type {number} */ (this.#retired.shift()) : this.names.length
    this.names[id] = parsed.prefix
    this.paths[id] = parsed.path
    this.#entries.set(keyOf(parsed), { id, parsed })
    this.#publish()
    return id
  }

  /** @param {UrlPrefix} parsed */
  delete (parsed) {
    const entry = this.#entries.get(keyOf(parsed))
    if (entry === undefined) return
    this.#entries.delete(keyOf(parsed))
    this.#retired.push(entry.id)
    this.#publish()
  }

  #publish () {
    const texts = new Array(this.names.length).fill('')
    for (const { id, parsed } of this.#entries.values()) texts[id] = parsed.prefix
    this.texts = texts
  }
}

// Prefixes that differ in case or in the writing of a path are the same one.
/** @param {UrlPrefix} parsed */
function keyOf ({ scheme, host, port, path }) {
  return `${scheme}://${host}:${port}${comparablePath(path)}`
}

module.exports = { Prefixes, keyOf }
