'use strict'

// The URL prefixes of one server, and the numbers by which lanes name them.

const { Places } = require('./places')
const { comparablePath } = require('./url-prefix')

/** @typedef {import('./url-prefix').UrlPrefix} UrlPrefix */

// An id is used again only after this many later removals, so that records on their way to JavaScript
// never name a newer prefix.
const kRetiredIdsKept = 256

/** Bits of how the requests of a prefix look to JavaScript; 0: as their clients have sent them. */
const Way = {
  /** `url` begins below the prefix. */
  kStrips: 1,
  /** As behind a proxy that strips: no `originalUrl` and no `baseUrl` tell of it. */
  kHides: 2,
  /** X-Forwarded-Prefix is the server's own. */
  kForwards: 4
}

// Prefixes by something that many of them have in common, with how many have it and one of them.
class Groups {
  #keyOf
  /** @type {Map<string, { count: number, parsed: UrlPrefix }>} */
  #groups = new Map()

  /** @param {(parsed: UrlPrefix) => string} keyOf */
  constructor (keyOf) {
    this.#keyOf = keyOf
  }

  /** @param {UrlPrefix} parsed */
  add (parsed) {
    const group = this.#groups.get(this.#keyOf(parsed))
    if (group === undefined) this.#groups.set(this.#keyOf(parsed), { count: 1, parsed })
    else group.count++
  }

  /** @param {UrlPrefix} parsed */
  remove (parsed) {
    const key = this.#keyOf(parsed)
    const group = this.#groups.get(key)
    if (group !== undefined && --group.count === 0) this.#groups.delete(key)
  }

  /** @param {UrlPrefix} parsed */
  countOf (parsed) {
    return this.#groups.get(this.#keyOf(parsed))?.count ?? 0
  }

  /** One of each group. @returns {UrlPrefix[]} */
  list () {
    return Array.from(this.#groups.values(), ({ parsed }) => parsed)
  }
}

class Prefixes {
  /** Requests come with the id of a prefix; otherwise the server has everything on its sockets. */
  haveNames = false
  /** The prefixes by id, also those that were removed: a record on its way may still name one. @type {string[]} */
  names = []
  /** The paths of these names. @type {string[]} */
  paths = []
  /** Bits of Way for these names. @type {number[]} */
  ways = []
  /** Those of a prefix that is added without any. */
  #way
  /** @type {Map<string, { id: number, parsed: UrlPrefix }>} */
  #entries = new Map()
  /** Ids without a prefix, the oldest first. @type {number[]} */
  #retired = []
  /** Taken away by reservations: the server still has their sockets. @type {Map<string, UrlPrefix>} */
  #lost = new Map()
  /** Where the server's sockets are open, also for lost prefixes. */
  places = new Places()
  /** Of the same prefixes, by host. */
  #hosts = new Groups(hostOf)
  #lostPlaces = new Places()
  /** What the lanes have not been told, by id; '' is an id that is not in use any more. @type {Map<number, string>} */
  #untold = new Map()
  /** Keys of the same prefixes, as keyOf() makes them. @type {Set<string>} */
  #untoldKeys = new Set()
  /** Places in the same way, the last change of each. @type {Map<string, import('../../types/binding').SpokenPlace>} */
  #untoldPlaces = new Map()
  /** The lanes know what is not untold. */
  #isTold = false
  /** The prefix of a server that was given a port: everything at its address, registered as id 0. @type {UrlPrefix | null} */
  implied = null

  /** @param {number} [way] bits of Way that prefixes have unless they are added with others */
  constructor (way = 0) {
    this.#way = way
  }

  get size () {
    return this.#entries.size
  }

  /** Whether no prefix was given: everything on the socket. */
  get isImplied () {
    return this.#entries.size === 0 && this.#lost.size === 0
  }

  /** In the order in which they were added. @returns {UrlPrefix[]} */
  list () {
    return [...this.#entries.values()].map(({ parsed }) => parsed)
  }

  /** The list, or the implied prefix of a server that was given a port. @returns {UrlPrefix[]} */
  held () {
    if (!this.isImplied) return this.list()
    return this.implied === null ? [] : [this.implied]
  }

  /** One prefix for each scheme, host and port. @returns {UrlPrefix[]} */
  hosts () {
    return this.#hosts.list()
  }

  /** @param {UrlPrefix} parsed one that was added; true: no other one has its scheme, host and port */
  isOnlyOfHost (parsed) {
    return this.#hosts.countOf(parsed) === 1
  }

  /** @param {number} port */
  hasLostOn (port) {
    return this.#lostPlaces.hasPort(port)
  }

  /** How they differ from what the lanes know. @returns {import('../../types/binding').ServerPrefixes} */
  get changes () {
    const changes = this.#isTold
      ? Array.from(this.#untold, ([id, text]) => ({ id, text }))
      : Array.from(this.#entries.values(), ({ id, parsed }) => ({ id, text: parsed.prefix }))
    const places = this.#isTold ? [...this.#untoldPlaces.values()] : this.places.list()
    return { isEverything: !this.haveNames, isWhole: !this.#isTold, changes, places }
  }

  /** Of what `changes` is about: prefixes that have come or gone, or have another id. @returns {Iterable<string>} their keys, as keyOf() makes them */
  get changedKeys () {
    return this.#isTold ? this.#untoldKeys : this.#entries.keys()
  }

  /** The lanes know the changes. */
  told () {
    this.#untoldKeys.clear()
    this.#untold.clear()
    this.#untoldPlaces.clear()
    this.#isTold = true
  }

  /** The lanes have forgotten all of them. */
  forgotten () {
    this.#untoldKeys.clear()
    this.#untold.clear()
    this.#untoldPlaces.clear()
    this.#isTold = false
  }

  clear () {
    for (const parsed of this.list()) this.delete(parsed)
    for (const parsed of [...this.#lost.values()]) this.regain(parsed)
    this.implied = null
    this.haveNames = false
  }

  /** @param {UrlPrefix} parsed */
  has (parsed) {
    return this.#entries.has(keyOf(parsed))
  }

  /** @param {UrlPrefix} parsed @returns {number | undefined} */
  idOf (parsed) {
    return this.#entries.get(keyOf(parsed))?.id
  }

  /** @param {UrlPrefix} parsed @param {number} [way] bits of Way @returns {number} its id */
  add (parsed, way = this.#way) {
    const id = this.#retired.length > kRetiredIdsKept ? /** @type {number} */ (this.#retired.shift()) : this.names.length
    this.#set(id, parsed, way)
    return id
  }

  /** From here on the server has prefixes; that of its port is the first of them. @param {UrlPrefix} implied */
  makeExplicit (implied) {
    if (!this.isImplied) return
    this.#retired = this.#retired.filter((id) => id !== 0)
    this.#set(0, implied, this.#way)
  }

  /** @param {UrlPrefix} parsed one of held() @returns {number} the id that it had */
  lose (parsed) {
    this.makeExplicit(parsed)
    const id = this.idOf(parsed) ?? 0
    if (!this.#lost.has(keyOf(parsed))) {
      this.#enter(parsed)
      this.#lostPlaces.add(parsed)
      this.#lost.set(keyOf(parsed), parsed)
    }
    this.delete(parsed)
    return id
  }

  /** @param {UrlPrefix} parsed that is registered, perhaps again */
  regain (parsed) {
    const lost = this.#lost.get(keyOf(parsed))
    if (lost === undefined) return
    this.#lost.delete(keyOf(parsed))
    this.#lostPlaces.remove(lost)
    this.#leave(lost)
  }

  /** @param {number} id @param {UrlPrefix} parsed @param {number} way */
  #set (id, parsed, way) {
    this.names[id] = parsed.prefix
    this.paths[id] = parsed.path
    this.ways[id] = way
    this.haveNames = true
    this.#entries.set(keyOf(parsed), { id, parsed })
    this.#enter(parsed)
    this.#noteChange(id, parsed, parsed.prefix)
  }

  /** @param {UrlPrefix} parsed */
  delete (parsed) {
    const entry = this.#entries.get(keyOf(parsed))
    if (entry === undefined) return
    this.#entries.delete(keyOf(parsed))
    this.#retired.push(entry.id)
    this.#leave(entry.parsed)
    this.#noteChange(entry.id, parsed, '')
  }

  /** @param {number} id @param {UrlPrefix} parsed @param {string} text '' = the id is not in use any more */
  #noteChange (id, parsed, text) {
    if (!this.#isTold) return
    this.#untold.set(id, text)
    this.#untoldKeys.add(keyOf(parsed))
  }

  /** @param {UrlPrefix} parsed that needs a socket */
  #enter (parsed) {
    this.#note(this.places.add(parsed))
    this.#hosts.add(parsed)
  }

  /** @param {UrlPrefix} parsed */
  #leave (parsed) {
    this.#note(this.places.remove(parsed))
    this.#hosts.remove(parsed)
  }

  /** @param {import('../../types/binding').SpokenPlace | null} place that has changed */
  #note (place) {
    if (place === null || !this.#isTold) return
    const { isHttps, port, address } = place
    this.#untoldPlaces.set(`${isHttps} ${port} ${address}`, place)
  }
}

// A certificate is bound to a host and port.
/** @param {UrlPrefix} parsed */
function hostOf ({ scheme, host, port }) {
  return `${scheme}://${host.toLowerCase()}:${port}`
}

// Prefixes that differ in case or in the writing of a path are the same one.
/** @param {UrlPrefix} parsed */
function keyOf ({ scheme, host, port, path }) {
  return `${scheme}://${host}:${port}${comparablePath(path)}`
}

module.exports = { Prefixes, Way, keyOf }
