'use strict'

// The ports and addresses of one server's prefixes: which sockets they need, and on which of them the server speaks TLS.

/** The addresses of a prefix whose host is localhost. */
const kLoopback4 = '127.0.0.1'
const kLoopback6 = '::1'

/** @import { UrlPrefix } from './url-prefix' */
/** @import { SpokenPlace } from '../../types/binding' */
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

// Counts prefixes by port and address. No method except list() visits all of them, because a server may have many thousands.
class Places {
  /** @type {Map<number, Port>} */
  #ports = new Map()
  #secureCount = 0

  /** @param {UrlPrefix} parsed @returns {SpokenPlace | null} the prefix's place if no other prefix was there, otherwise null */
  add (parsed) {
    const { port, scheme } = parsed
    const there = this.#ports.get(port) ?? {
      all: emptyCount(), wildcard: emptyCount(), loopback: emptyCount(), addresses: new Map()
    }
    this.#ports.set(port, there)
    const count = countAt(there, parsed) ?? emptyCount()
    if (parsed.bind.host !== undefined) there.addresses.set(parsed.bind.host, count)
    if (scheme === 'https') this.#secureCount++
    there.all[scheme]++
    count[scheme]++
    return spokenCount(there, parsed) === 1 ? spokenPlace(parsed, true) : null
  }

  /** @param {UrlPrefix} parsed one that was added @returns {SpokenPlace | null} the prefix's place if no prefix is left there, otherwise null */
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

  /** Lists every place with a prefix. @returns {SpokenPlace[]} */
  list () {
    /** @type {SpokenPlace[]} */
    const places = []
    for (const [port, { all, wildcard, loopback, addresses }] of this.#ports) {
      if (all.http > 0) places.push({ port, isHttps: false, address: '', isThere: true })
      if (wildcard.https + loopback.https > 0) places.push({ port, isHttps: true, address: '', isThere: true })
      for (const [address, { https }] of addresses) {
        if (https > 0) places.push({ port, isHttps: true, address, isThere: true })
      }
    }
    return places
  }

  /** @param {number} port @returns {boolean} whether any prefix is served there */
  hasPort (port) {
    return this.#ports.has(port)
  }

  /** @param {number} port @returns {boolean} whether one socket for all addresses serves all prefixes of the port, even those with one address */
  hasWildcard (port) {
    const there = this.#ports.get(port)
    return there !== undefined && totalOf(there.wildcard) > 0
  }

  /** @param {{ host?: string, port: number }} socket without host: for all addresses @returns {boolean} whether a prefix needs a socket there */
  needs ({ host, port }) {
    const there = this.#ports.get(port)
    if (there === undefined || host === undefined) return there !== undefined
    if (totalOf(there.wildcard) > 0) return false
    return there.addresses.has(host) || ((host === kLoopback4 || host === kLoopback6) && totalOf(there.loopback) > 0)
  }

  /** Whether any prefix is https. */
  get hasTls () {
    return this.#secureCount > 0
  }

  /**
   * Whether a socket's connections speak TLS; must decide as ServerConfig::TlsOf() does for the lanes. If a port has http and https
   * prefixes, all are bound to addresses, and the server may also accept at an address without a prefix of its own.
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

/** @param {Port} there @param {UrlPrefix} parsed @returns {Count | undefined} count of the prefixes with the same kind of address */
function countAt (there, { bind: { kind, host } }) {
  return kind === 'ip' ? there.addresses.get(/** @type {string} */ (host)) : there[kind]
}

// Counts the prefixes at a prefix's place. A place is a port for http, and a port with an address for https.
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
