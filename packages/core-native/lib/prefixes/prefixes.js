'use strict'

// The URL prefixes of one server, with the ids that lanes use for them.

const { Places } = require('./places')
const { keyOf } = require('./url-prefix')

/** @import { UrlPrefix } from './url-prefix' */

// Number of later removals before an id is reused: records on their way to JavaScript that still have the id
// must not name a newer prefix.
const kRetiredIdsKept = 256

/** Bits that say how JavaScript sees the requests of a prefix; 0: as the clients sent them. */
const Way = {
  /** The path of the prefix is removed from `url`. */
  kStrips: 1,
  /** Requests have no `originalUrl` and `baseUrl` with the removed path, as behind a proxy that strips it. */
  kHides: 2,
  /** The server sets X-Forwarded-Prefix itself. */
  kForwards: 4
}

// Groups of prefixes with a common key; each group has a count and one of its prefixes.
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

  /** Lists one prefix of each group. @returns {UrlPrefix[]} */
  list () {
    return Array.from(this.#groups.values(), ({ parsed }) => parsed)
  }
}

class Prefixes {
  /** True if requests come with the id of a prefix; false: the server gets everything on its sockets. */
  haveNames = false
  /** Prefixes by id. Includes removed ones, because a record on its way may still have their ids. @type {string[]} */
  names = []
  /** Paths of the prefixes by id. @type {string[]} */
  paths = []
  /** Bits of Way of the prefixes by id. @type {number[]} */
  ways = []
  /** Bits of Way for prefixes that are added without bits of their own. */
  #way
  /** @type {Map<string, { id: number, parsed: UrlPrefix }>} */
  #entries = new Map()
  /** Ids without a prefix, the oldest first. @type {number[]} */
  #retired = []
  /** Prefixes that the server lost to a reservation. Their sockets stay open. @type {Map<string, UrlPrefix>} */
  #lost = new Map()
  /** Ports and addresses of all prefixes, including lost ones: the server has sockets there. */
  places = new Places()
  /** All prefixes, including lost ones, grouped by scheme, host and port. */
  #hosts = new Groups(hostOf)
  #lostPlaces = new Places()
  /** Changes that the lanes do not know yet, by id; '' = the id is no longer in use. @type {Map<number, string>} */
  #untold = new Map()
  /** Keys (of keyOf()) of the prefixes in #untold. @type {Set<string>} */
  #untoldKeys = new Set()
  /** Changed places that the lanes do not know yet, each with its last change. @type {Map<string, import('../../types/binding').SpokenPlace>} */
  #untoldPlaces = new Map()
  /** True if the lanes know all prefixes except the #untold changes; false: they know none. */
  #isTold = false
  /** The prefix of a server that was given a port: everything at its address, registered as id 0. @type {UrlPrefix | null} */
  implied = null

  /** @param {number} [way] default bits of Way of added prefixes */
  constructor (way = 0) {
    this.#way = way
  }

  get size () {
    return this.#entries.size
  }

  /** Whether the server was given no prefix, and so has everything on its socket. */
  get isImplied () {
    return this.#entries.size === 0 && this.#lost.size === 0
  }

  /** The prefixes in the order in which they were added. @returns {UrlPrefix[]} */
  list () {
    return [...this.#entries.values()].map(({ parsed }) => parsed)
  }

  /** Returns list(), or for a server that was given a port its implied prefix. @returns {UrlPrefix[]} */
  held () {
    if (!this.isImplied) return this.list()
    return this.implied === null ? [] : [this.implied]
  }

  /** Lists one prefix for each scheme, host and port. @returns {UrlPrefix[]} */
  hosts () {
    return this.#hosts.list()
  }

  /** Whether no other prefix has the scheme, host and port of an added one. @param {UrlPrefix} parsed */
  isOnlyOfHost (parsed) {
    return this.#hosts.countOf(parsed) === 1
  }

  /** @param {number} port */
  hasLostOn (port) {
    return this.#lostPlaces.hasPort(port)
  }

  /** The difference between the prefixes and what the lanes know of them. @returns {import('../../types/binding').ServerPrefixes} */
  get changes () {
    const changes = this.#isTold
      ? Array.from(this.#untold, ([id, text]) => ({ id, text }))
      : Array.from(this.#entries.values(), ({ id, parsed }) => ({ id, text: parsed.prefix }))
    const places = this.#isTold ? [...this.#untoldPlaces.values()] : this.places.list()
    return { isEverything: !this.haveNames, isWhole: !this.#isTold, changes, places }
  }

  /** Keys (of keyOf()) of the prefixes in `changes`: added, removed, or with another id. @returns {Iterable<string>} */
  get changedKeys () {
    return this.#isTold ? this.#untoldKeys : this.#entries.keys()
  }

  /** Must be called when the lanes have received `changes`, which is then empty. */
  told () {
    this.#untoldKeys.clear()
    this.#untold.clear()
    this.#untoldPlaces.clear()
    this.#isTold = true
  }

  /** Must be called when the lanes have forgotten the server's prefixes; afterwards `changes` has all of them. */
  forgotten () {
    this.told()
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

  /** @param {UrlPrefix} parsed @param {number} [way] bits of Way @returns {number} the prefix's id */
  add (parsed, way = this.#way) {
    const id = this.#retired.length > kRetiredIdsKept
      ? /** @type {number} */ (this.#retired.shift())
      : this.names.length
    this.#set(id, parsed, way)
    return id
  }

  /** Turns the implied prefix of a server on a port into an ordinary one, before further prefixes are added. @param {UrlPrefix} implied */
  makeExplicit (implied) {
    if (!this.isImplied) return
    this.#retired = this.#retired.filter((id) => id !== 0)
    this.#set(0, implied, this.#way)
  }

  /** Removes a prefix that a reservation forbids, but keeps its sockets. @param {UrlPrefix} parsed one of held() @returns {number} its former id */
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

  /** Must be called when a prefix is registered: a lost prefix is then no longer lost. @param {UrlPrefix} parsed */
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

  /** @param {number} id @param {UrlPrefix} parsed @param {string} text '' = the id is no longer in use */
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

/** Key for #hosts: prefixes with the same key have the same bound certificate. @param {UrlPrefix} parsed */
function hostOf ({ scheme, host, port }) {
  return `${scheme}://${host.toLowerCase()}:${port}`
}

module.exports = { Prefixes, Way }
