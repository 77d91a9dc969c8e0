'use strict'

// Parses URL prefixes, and converts paths to the form in which they are compared. Native code matches
// requests with prefixes (src/url/url_prefix_table.h); docs/url-prefixes.md is the reference.

const net = require('node:net')
const { domainToASCII } = require('node:url')
const { PrefixSyntaxError } = require('../base/errors')

/**
 * The addresses on which a prefix listens: on every address, on both loopback addresses, or on one address.
 *
 * @typedef {{ kind: 'wildcard' | 'loopback' | 'ip', host?: string }} Bind
 *
 * @typedef {object} UrlPrefix
 * @property {'http' | 'https'} scheme
 * @property {string} host `+`, `*`, a name in lower case (IDN as punycode), an IPv4 address or `[IPv6]`
 * @property {number} port
 * @property {string} path as written; begins and ends with `/`
 * @property {string} prefix the whole prefix in canonical form
 * @property {Bind} bind
 */

const kDefaultPort = { http: 80, https: 443 }
// Maximum lengths of path and host name, the same as in src/url/url_prefix.h.
const kPrefixPathBytesMax = 2048
const kHostNameBytesMax = 253
const kName = /^(?:[a-z0-9_-]{1,63}\.)*(?!\d+$)[a-z0-9_-]{1,63}$/

/**
 * Reads a URL prefix. A missing final slash is added, a missing port is 80 or 443.
 *
 * @param {string} text such as `http://*:8080/shop/`
 * @returns {UrlPrefix}
 * @throws ERR_HTTPSYS_PREFIX_SYNTAX
 */
function parseUrlPrefix (text) {
  /** @param {string} problem @returns {never} */
  const refuse = (problem) => { throw new PrefixSyntaxError(text, problem, prefixLike(text)) }

  const [, scheme, rest] = /^(https?):\/\/(.*)$/s.exec(text) ??
    refuse('it must begin with "http://" or "https://", in lower case')
  const slash = rest.indexOf('/')
  const authority = slash === -1 ? rest : rest.slice(0, slash)
  if (isBareIpv6(authority)) refuse('an IPv6 address stands in brackets')
  const [, written, portText] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(authority) ??
    refuse(`"${authority}" is not a host and a port (an IPv6 address stands in brackets)`)
  const { host, bind } = readHost(written, refuse)
  const port = portText === undefined ? kDefaultPort[/** @type {'http'} */ (scheme)] : readPort(portText, refuse)
  const path = readPath(slash === -1 ? '/' : rest.slice(slash), refuse)
  return {
    scheme: /** @type {'http' | 'https'} */ (scheme), host, port, path, prefix: `${scheme}://${host}:${port}${path}`, bind
  }
}

/** @param {string} authority @returns {boolean} whether it is an IPv6 address without its brackets, perhaps with a port */
function isBareIpv6 (authority) {
  return net.isIPv6(authority.replace(/(?<=:.*):\d+$/, '')) || net.isIPv6(authority)
}

/**
 * Guesses the intended prefix, for a message, from an address without scheme, a scheme in upper case or with wrong slashes, or an IPv6
 * address without brackets.
 *
 * @param {string} text that is no prefix, such as `localhost:8080` and `http:/*:8080/shop`
 * @returns {string | null} null: the text does not resemble a prefix (the path of a Unix socket, for example)
 */
function prefixLike (text) {
  const [, scheme, rest] = /^(https?)(?::\/*|\/\/+)(.+)$/is.exec(text) ?? ['', 'http', kAddress.test(text) ? text : '']
  const [, authority, path] = /** @type {RegExpExecArray} */ (/^([^/]*)(.*)$/s.exec(/^\d+(?:\/|$)/.test(rest) ? `*:${rest}` : rest))
  const [, address, port = ''] = /** @type {RegExpExecArray} */ (/^(.*?)(:\d+)?$/s.exec(authority))
  const host = isBareIpv6(authority) ? net.isIPv6(address) ? `[${address}]${port}` : `[${authority}]` : authority
  const candidate = `${scheme.toLowerCase()}://${host}${path}`
  if (authority === '' || candidate === text) return null
  try {
    return parseUrlPrefix(candidate).prefix
  } catch {
    return null
  }
}

/** Matches a host and a port, optionally with a path. */
const kAddress = /^[^/\\\0]*:\d+(?:\/.*)?$/s

/** @param {string} text @returns {boolean} whether it looks like an address rather than like the path of a Unix socket */
function isAddressLike (text) {
  return kAddress.test(text) || prefixLike(text) !== null
}

/** @param {string} host @param {(problem: string) => never} refuse @returns {{ host: string, bind: Bind }} */
function readHost (host, refuse) {
  if (host === '') refuse('it names no host; "*" stands for every host')
  if (host === '+' || host === '*') return { host, bind: { kind: 'wildcard' } }
  if (host.startsWith('[') || net.isIPv4(host)) return readAddress(host, refuse)
  const wildcard = host.startsWith('*.') ? '*.' : ''
  const written = host.slice(wildcard.length)
  // Check the characters first: domainToASCII() would cut `h?x` short, because it parses like a URL.
  const ascii = /^[\w.\-\u0080-\uffff]+$/.test(written) ? domainToASCII(written) : ''
  if (!kName.test(ascii) || ascii.length > kHostNameBytesMax) {
    refuse(`"${host}" is not a host; it can be "*", "+", a name, "*.name" or an IP address`)
  }
  const name = wildcard + ascii
  return { host: name, bind: { kind: name === 'localhost' ? 'loopback' : 'wildcard' } }
}

/** @param {string} text @param {(problem: string) => never} refuse @returns {{ host: string, bind: Bind }} */
function readAddress (text, refuse) {
  if (net.isIPv4(text)) {
    if (text === '0.0.0.0') refuse('no connection has the local address 0.0.0.0; "*" stands for every address')
    return { host: text, bind: { kind: 'ip', host: text } }
  }
  const inner = text.slice(1, -1)
  if (!net.isIPv6(inner) || inner.includes('%')) refuse(`"${text}" is not an IPv6 address`)
  const [, canonical] = /** @type {RegExpExecArray} */ (/^\[(.*)\]$/.exec(new URL(`http://${text}`).hostname))
  if (canonical === '::') refuse('no connection has the local address ::; "*" stands for every address')
  // Treat an IPv4-mapped IPv6 address as the IPv4 address.
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical)
  if (mapped === null) return { host: `[${canonical}]`, bind: { kind: 'ip', host: canonical } }
  const [high, low] = [parseInt(mapped[1], 16), parseInt(mapped[2], 16)]
  return readAddress([high >> 8, high & 0xff, low >> 8, low & 0xff].join('.'), refuse)
}

/** @param {string} text @param {(problem: string) => never} refuse */
function readPort (text, refuse) {
  const port = Number(text)
  if (!/^[1-9]\d{0,4}$/.test(text) || port > 65535) {
    refuse(`"${text}" is not a port; it must be a number from 1 to 65535 without leading zeros`)
  }
  return port
}

/**
 * Reads a path below the prefixes of a server. A missing final slash is added.
 *
 * @param {string} text such as `/assets/`
 * @returns {string}
 * @throws ERR_HTTPSYS_PREFIX_SYNTAX
 */
function parsePath (text) {
  /** @param {string} problem @returns {never} */
  const refuse = (problem) => { throw new PrefixSyntaxError(text, problem.replace(/^its path /, 'it '), pathLike(text)) }
  if (!text.startsWith('/')) refuse('')
  return readPath(text, refuse)
}

/** @param {string} text that is no path @returns {string} the probably intended path, for a message */
function pathLike (text) {
  const [inner] = /[^?#\p{Cc}]*/u.exec(text.replace(/^[./]+/, '')) ?? ['']
  const name = inner.replace(/\/+$/, '')
  return name === '' || Buffer.byteLength(name) > kPrefixPathBytesMax - 2 ? '/shop/' : `/${name}/`
}

/** @param {string} text @param {(problem: string) => never} refuse */
function readPath (text, refuse) {
  if (/[^\P{Cc}\x80-\x9f]/u.test(text)) refuse('its path has a control character')
  if (/[?#]/.test(text)) refuse('its path has a "?" or "#", which no path of a request has')
  const path = text.endsWith('/') ? text : `${text}/`
  if (Buffer.byteLength(path) > kPrefixPathBytesMax) refuse(`its path is longer than ${kPrefixPathBytesMax} bytes`)
  return path
}

/**
 * Converts the path of a request or prefix to the form in which both are compared: percent-decoded except
 * `%2F`, without dot segments and query, case folded, with a final slash. Must give the same result as
 * src/url/url_path.h.
 *
 * @param {string} target a request target or a path
 * @returns {string}
 */
function comparablePath (target) {
  return fold(decodedPath(target))
}

/** Returns a key that is equal for prefixes that differ only in case or in percent-encoding of the path. @param {UrlPrefix} parsed */
function keyOf ({ scheme, host, port, path }) {
  return `${scheme}://${host}:${port}${comparablePath(path)}`
}

/**
 * As comparablePath(), but without case folding (which never changes a path's length in bytes).
 *
 * @param {string} target a request target or a path
 * @returns {string} begins and ends with `/`
 */
function decodedPath (target) {
  const path = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*)?(\/[^?#]*)?/i.exec(target)?.[1] ?? '/'
  const kept = ['']
  for (const segment of decode(path).split('/').slice(1)) {
    if (segment === '..') {
      if (kept.length > 1) kept.pop()
    } else if (segment !== '.') {
      kept.push(segment)
    }
  }
  const decoded = kept.join('/')
  return decoded.endsWith('/') ? decoded : `${decoded}/`
}

/** @param {string} path */
function decode (path) {
  return path.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    // Decode each character by itself, so that an invalid sequence stays as it is without affecting its neighbours.
    let text = ''
    for (let at = 0; at < escapes.length;) {
      const lead = parseInt(escapes.slice(at + 1, at + 3), 16)
      const bytes = lead < 0xc2 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
      const sequence = escapes.slice(at, at + bytes * 3)
      const decoded = lead === 0x2f ? null : decodeSequence(sequence)
      text += decoded ?? escapes.slice(at, at + 3)
      at += decoded === null ? 3 : sequence.length
    }
    return text
  })
}

/** @param {string} sequence @returns {string | null} */
function decodeSequence (sequence) {
  try {
    return decodeURIComponent(sequence)
  } catch {
    return null
  }
}

/** Folds the case of exactly those letters that url_path.h folds. @param {string} text */
function fold (text) {
  return text
    .replace(/[A-Z\u00c0-\u012f\u0132-\u017e\u0386-\u03ab\u0400-\u042f]+/g, (letters) => letters.toLowerCase())
    .replaceAll('\u00b5', '\u03bc').replaceAll('\u03c2', '\u03c3')
}

/**
 * True when the path of a request lies at or below the path of a prefix.
 *
 * @param {string} prefixPath
 * @param {string} target
 */
function matchesPath (prefixPath, target) {
  return comparablePath(target).startsWith(comparablePath(prefixPath))
}

/**
 * Splits a request target at the end of its prefix's path, like a router that is mounted there. Both parts
 * stay as the client wrote them; the scheme and authority of an absolute-form target go to `rest`.
 *
 * @param {string} prefixPath
 * @param {string} target that the prefix matches
 * @returns {{ base: string, rest: string }} `base` has no final slash; '' if the prefix's path is `/`
 */
function splitTarget (prefixPath, target) {
  const depth = comparablePath(prefixPath).split('/').length - 2
  const [, origin, path, query] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)?(\/[^?#]*)?(.*)$/is.exec(target) ?? []
  if (depth === 0 || path === undefined) return { base: '', rest: target }
  // `end`: the last position at which the path (with its ".." segments) goes from above the prefix to its depth.
  let end = 0
  let level = 0
  for (let at = 0; at < path.length;) {
    const next = path.indexOf('/', at + 1)
    const stop = next === -1 ? path.length : next
    const segment = decode(path.slice(at + 1, stop))
    if (segment === '..') level = Math.max(0, level - 1)
    else if (segment !== '.' && ++level === depth) end = stop
    at = stop
  }
  const rest = path.slice(end)
  return { base: path.slice(0, end), rest: `${origin ?? ''}${rest === '' ? '/' : rest}${query}` }
}

module.exports = { comparablePath, decodedPath, isAddressLike, keyOf, matchesPath, parsePath, parseUrlPrefix, prefixLike, splitTarget }
