'use strict'

// The ports and addresses at which the prefixes of one server are served: which sockets they need, and where they speak TLS.

/** What localhost stands for. */
const kLoopback4 = '127.0.0.1'
const kLoopback6 = '::1'

/** @typedef {import('./url-prefix').UrlPrefix} UrlPrefix */
/** @typedef {import('../../types/binding').SpokenPlace} SpokenPlace */
/** @typedef {Record<UrlPrefix['scheme'], number>} Count prefixes by scheme */

/**
 * @typedef {object} Port the prefixes of one port
 * @property {Count} all
 * @property {Count} wildcard
 * @property {Count} loopback
 * @property {Map<string, Count>} addresses
 */

/** @param {Count} count */
const totalOf = ({ http, https }) => http + https

// Counts prefixes, of which a server may have many thousands at as many addresses: no question looks at each of them.
class Places {
  /** @type {Map<number, Port>} */
  #ports = new Map()
  #secureCount = 0

  /** @param {UrlPrefix} parsed @returns {SpokenPlace | null} the place where nothing was spoken before, null = it is an old one */
  add (parsed) {
    const { port, scheme } = parsed
    const there = this.#ports.get(port) ?? { all: emptyCount(), wildcard: emptyCount(), loopback: emptyCount(), addresses: new Map() }
    this.#ports.set(port, there)
    const count = countAt(there, parsed) ?? emptyCount()
    if (parsed.bind.host !== undefined) there.addresses.set(parsed.bind.host, count)
    if (scheme === 'https') this.#secureCount++
    there.all[scheme]++
    count[scheme]++
    return spokenCount(there, parsed) === 1 ? spokenPlace(parsed, true) : null
  }

  /** @param {UrlPrefix} parsed one that was added @returns {SpokenPlace | null} the place where nothing is spoken any more, null = something is */
  remove (parsed) {
    const { port, scheme, bind } = parsed
    const there = /** @type {Port} */ (this.#ports.get(port))
    const count = /** @type {Count} */ (countAt(there, parsed))
    if (scheme === 'https') this.#secureCount--
    there.all[scheme]--
    count[scheme]--
    const spoken = spokenCount(there, parsed)
    if (bind.host !== undefined && totalOf(count) === 0) there.addresses.delete(bind.host)
    if (totalOf(there.all) === 0) this.#ports.delete(port)
    return spoken === 0 ? spokenPlace(parsed, false) : null
  }

  /** Every place where something is spoken. @returns {SpokenPlace[]} */
  list () {
    /** @type {SpokenPlace[]} */
    const places = []
    for (const [port, { all, wildcard, loopback, addresses }] of this.#ports) {
      if (all.http > 0) places.push({ port, isHttps: false, address: '', isThere: true })
      if (wildcard.https + loopback.https > 0) places.push({ port, isHttps: true, address: '', isThere: true })
      for (const [address, { https }] of addresses) if (https > 0) places.push({ port, isHttps: true, address, isThere: true })
    }
    return places
  }

  /** @param {number} port @returns {boolean} whether any prefix is served there */
  hasPort (port) {
    return this.#ports.has(port)
  }

  /** @param {number} port @returns {boolean} whether a socket for all addresses of the port serves its prefixes, also those of single addresses */
  hasWildcard (port) {
    const there = this.#ports.get(port)
    return there !== undefined && totalOf(there.wildcard) > 0
  }

  /** @param {{ host?: string, port: number }} socket without a host: of every address @returns {boolean} whether a prefix needs a socket there */
  needs ({ host, port }) {
    const there = this.#ports.get(port)
    if (there === undefined || host === undefined) return there !== undefined
    if (totalOf(there.wildcard) > 0) return false
    return there.addresses.has(host) || ((host === kLoopback4 || host === kLoopback6) && totalOf(there.loopback) > 0)
  }

  /** Whether TLS is spoken anywhere. */
  get hasTls () {
    return this.#secureCount > 0
  }

  /**
   * As ServerConfig::TlsOf() decides for the lanes. Where a port speaks both, all its prefixes are bound to addresses, and the server may
   * also accept at those of others.
   *
   * @param {number} port
   * @param {string | undefined} address of a socket
   */
  isTls (port, address) {
    const there = this.#ports.get(port)
    if (there === undefined || there.all.https === 0) return false
    if (there.all.http === 0 || there.wildcard.https + there.loopback.https > 0) return true
    return (there.addresses.get(address ?? '')?.https ?? 0) > 0
  }
}

/** @returns {Count} */
function emptyCount () {
  return { http: 0, https: 0 }
}

/** @param {Port} there @param {UrlPrefix} parsed @returns {Count | undefined} of the prefixes that are bound in the same way */
function countAt (there, { bind: { kind, host } }) {
  return kind === 'ip' ? there.addresses.get(/** @type {string} */ (host)) : there[kind]
}

// A prefix of http:// tells the lanes its port, one of https:// also its address.
/** @param {Port} there @param {UrlPrefix} parsed @returns {number} prefixes at the same place */
function spokenCount (there, parsed) {
  if (parsed.scheme === 'http') return there.all.http
  if (parsed.bind.host === undefined) return there.wildcard.https + there.loopback.https
  return there.addresses.get(parsed.bind.host)?.https ?? 0
}

/** @param {UrlPrefix} parsed @param {boolean} isThere @returns {SpokenPlace} */
function spokenPlace ({ port, scheme, bind }, isThere) {
  const isHttps = scheme === 'https'
  return { port, isHttps, address: (isHttps && bind.host) || '', isThere }
}

module.exports = { kLoopback4, kLoopback6, Places }
