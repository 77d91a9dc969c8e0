'use strict'

// Facts about a connection's TLS, from a lane's record. Each is parsed when the application first reads it.

const { Buffer } = require('node:buffer')
const { X509Certificate } = require('node:crypto')
const os = require('node:os')
const R = require('../records/records')
const { protocolName, verifyError } = require('./names')

const { Mask, Shift, Word } = R
/** Words of the record with the sizes of its texts, in the order of the texts. */
const kTexts = [
  Word.kSecureServernameBytes, Word.kSecureAlpnBytes, Word.kSecureCipherBytes, Word.kSecureCipherStandardBytes,
  Word.kSecureCipherVersionBytes
]

class TlsFacts {
  /** Whether the handshake has succeeded. JavaScript may get the facts before that, or after a failure. */
  isEstablished = true
  isForeign = false
  /** @type {string[] | null} */
  #texts = null
  /** @type {X509Certificate[] | null} */
  #chain = null
  #text
  #sizes
  /** @type {Buffer | null} */
  #certificates

  /** @param {Int32Array} words @param {Buffer} bytes @param {number} at offset of the facts, in bytes */
  constructor (words, bytes, at) {
    const w = at >>> 2
    this.version = words[w + Word.kSecureProtocol] & Mask.kSecureProtocol
    this.isReused = (words[w + Word.kSecureIsReused] >>> Shift.kSecureIsReused & 1) !== 0
    /** Whether the client was asked for a certificate. */
    this.hasAsked = (words[w + Word.kSecureHasAsked] >>> Shift.kSecureHasAsked & 1) !== 0
    this.verifyResult = words[w + Word.kSecureVerifyResult]
    this.#sizes = kTexts.map((word) => words[w + word])
    const text = at + R.kOpenSecureBytes
    const end = text + this.#sizes.reduce((sum, size) => sum + size, 0)
    this.#text = bytes.toString('latin1', text, end)
    const size = words[w + Word.kSecureCertificatesBytes]
    this.#certificates = size === 0 ? null : Buffer.from(bytes.subarray(end, end + size))
  }

  /**
   * Returns the facts as a server may see them. A server that does not ask for client certificates must not see a certificate that the
   * client has shown to another server on the same connection, because the certificate was checked by the other server's rules.
   *
   * @param {{ readonly asksForCertificate: boolean } | null | undefined} own TLS settings of the server; null if the system has the certificates
   * @returns {TlsFacts | ForeignFacts}
   */
  seenBy (own) {
    return this.hasAsked && own && !own.asksForCertificate ? new ForeignFacts(this) : this
  }

  /** @param {number} index */
  #part (index) {
    if (this.#texts === null) {
      let at = 0
      this.#texts = this.#sizes.map((size) => {
        at += size
        return this.#text.slice(at - size, at)
      })
    }
    return this.#texts[index]
  }

  /** Sets the certificates of a client that was asked for them after the handshake. @param {number} verifyResult @param {Buffer} certificates */
  setPeer (verifyResult, certificates) {
    this.hasAsked = true
    this.verifyResult = verifyResult
    this.#certificates = certificates
    this.#chain = null
  }

  get servername () { return this.#part(0) }
  get alpn () { return this.#part(1) }
  get cipher () { return { name: this.#part(2), standardName: this.#part(3), version: this.#part(4) } }
  get protocol () { return protocolName(this.version) }
  get authorizationError () { return verifyError(this.verifyResult) }

  /** The client's certificates, its own first. */
  get chain () {
    if (this.#chain !== null) return this.#chain
    /** @type {X509Certificate[]} */
    const chain = []
    const all = this.#certificates ?? Buffer.alloc(0)
    for (let at = 0; at + 4 <= all.length;) {
      const size = os.endianness() === 'LE' ? all.readUInt32LE(at) : all.readUInt32BE(at)
      chain.push(new X509Certificate(all.subarray(at + 4, at += 4 + size)))
    }
    return (this.#chain = chain)
  }
}

/** Facts about a connection whose client was asked for a certificate by another server: as TlsFacts, without the certificate. */
class ForeignFacts {
  #whole
  isForeign = true
  hasAsked = false
  verifyResult = 0

  /** @param {TlsFacts} whole */
  constructor (whole) {
    this.#whole = whole
    this.isEstablished = whole.isEstablished
    this.version = whole.version
    this.isReused = whole.isReused
  }

  get servername () { return this.#whole.servername }
  get alpn () { return this.#whole.alpn }
  get cipher () { return this.#whole.cipher }
  get protocol () { return this.#whole.protocol }
  get authorizationError () { return null }
  /** @returns {X509Certificate[]} */
  get chain () { return [] }

  /**
   * As TlsFacts.seenBy(), for a stream of the connection that belongs to another server.
   *
   * @param {{ readonly asksForCertificate: boolean } | null | undefined} own
   */
  seenBy (own) { return this.#whole.seenBy(own) }
}

/**
 * @typedef {Omit<import('node:tls').PeerCertificate, 'infoAccess'> & { infoAccess?: Record<string, string[]> | string, issuerCertificate?: LegacyCertificate }} LegacyCertificate
 */

/**
 * Converts a certificate to the form that `getPeerCertificate()` returns.
 *
 * @param {X509Certificate} certificate
 * @returns {LegacyCertificate}
 */
function legacyCertificate (certificate) {
  const legacy = /** @type {LegacyCertificate} */ (certificate.toLegacyObject())
  if (typeof legacy.infoAccess === 'string') {
    const info = Object.create(null)
    for (const [, key, value] of legacy.infoAccess.matchAll(/([^\n:]*):([^\n]*)(?:\n|$)/g)) {
      (info[key] ??= []).push(value.startsWith('"') ? JSON.parse(value) : value)
    }
    legacy.infoAccess = info
  }
  return legacy
}

/**
 * Converts a chain to nested certificates: each has its issuer as `issuerCertificate`, and a self-signed last one has itself.
 *
 * @param {X509Certificate[]} chain
 * @returns {LegacyCertificate}
 */
function legacyChain (chain) {
  const [first, ...others] = chain
  const result = legacyCertificate(first)
  let below = result
  let left = others
  for (;;) {
    const issuer = left.find((other) => below.raw && new X509Certificate(below.raw).checkIssued(other))
    if (issuer === undefined) break
    left = left.filter((other) => other !== issuer)
    below.issuerCertificate = legacyCertificate(issuer)
    below = below.issuerCertificate
  }
  const last = new X509Certificate(below.raw)
  if (last.checkIssued(last)) below.issuerCertificate = below
  return result
}

module.exports = { TlsFacts, legacyCertificate, legacyChain }
