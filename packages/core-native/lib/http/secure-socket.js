'use strict'

// The socket of a connection with TLS: an HttpSocket with the interface of a tls.TLSSocket. The lane does TLS. Common
// facts about the session came with the connection; rare ones are asked of the lane.

const { AsyncResource } = require('node:async_hooks')
const { Buffer } = require('node:buffer')
const { X509Certificate } = require('node:crypto')
const tls = require('node:tls')
const { nodeProcess } = require('../node-private/node-process')
const { allowsHalfOpen } = require('../node-private/server')
const { loadBinding } = require('../backend/binding')
const R = require('../records/records')
const { legacyCertificate, legacyChain } = require('../tls/facts')
const { signatureName } = require('../tls/names')
const { HttpSocket, socketConstructor } = require('./socket')
const { State, publish } = require('./socket-state')
const { kLane, kOnCertificate, kParent, kSlot, kState, kTls } = require('./symbols')
const { outOfRange, readString } = require('../base/validate')

/** @import { EngineSecureSocket, EngineSocket, EngineSocketConstructor } from '../../types/internal' */

/** Facts that can be asked of a session, with the numbers of src/tls/session_facts.h. */
const Question = { kSession: 1, kFinished: 2, kPeerFinished: 3, kCertificate: 4, kKeyingMaterial: 5, kSharedSigalgs: 6 }

const SecureSocket = socketConstructor()
Object.defineProperty(SecureSocket, 'name', { value: 'TLSSocket' })

const prototype = SecureSocket.prototype = Object.create(tls.TLSSocket.prototype)
for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(HttpSocket.prototype))) {
  if (name !== 'constructor') Object.defineProperty(prototype, name, property)
}
for (const symbol of Object.getOwnPropertySymbols(HttpSocket.prototype)) {
  Object.defineProperty(prototype, symbol, /** @type {PropertyDescriptor} */ (
    Object.getOwnPropertyDescriptor(HttpSocket.prototype, symbol)))
}
Object.defineProperty(prototype, 'constructor', { value: tls.TLSSocket, writable: true, configurable: true })
Object.setPrototypeOf(SecureSocket, tls.TLSSocket)

// Asks the lane about the TLS session. Undefined: the connection is gone.
/** @param {EngineSocket} socket @param {number} question @param {Buffer} [argument] @returns {Buffer | undefined} */
function ask (socket, question, argument) {
  if ((socket[kState] & State.kLaneClosed) !== 0 || socket.destroyed) return undefined
  const { native, index } = socket[kLane]
  // A stream of HTTP/2 has the TLS of its connection.
  return native.askTls(index, (socket[kParent] ?? socket)[kSlot], question, argument)
}

/** @param {string} why */
function renegotiationError (why) {
  return Object.assign(new Error(`TLS session renegotiation failed: ${why}`), { code: 'ERR_TLS_RENEGOTIATE' })
}

// Asks the client for a certificate. Calls that come before the answer share it.
/** @param {EngineSocket} connection @param {(error: Error | null) => void} callback */
function askForCertificate (connection, callback) {
  const earlier = connection[kOnCertificate]
  const onClose = () => connection[kOnCertificate]?.(null)
  /** @param {number | null} status of the system; null when the connection has ended */
  connection[kOnCertificate] = (status) => {
    connection.off('close', onClose)
    connection[kOnCertificate] = undefined
    earlier?.(status)
    if (status === 0) return callback(null)
    if (status === null) return callback(renegotiationError('the connection has ended'))
    callback(Object.assign(renegotiationError(`HTTP.SYS says error ${status} (net helpmsg ${status})`), { status }))
  }
  connection.on('close', onClose)
  if (earlier === undefined) publish(connection, R.ReplyType.kAskCertificate)
}

/** @type {Record<string, (socket: EngineSocket) => unknown>} */
const kFacts = {
  encrypted: () => true,
  secureConnecting: ({ [kTls]: facts }) => facts?.isEstablished === false,
  _secureEstablished: ({ [kTls]: facts }) => facts?.isEstablished !== false,
  authorized: ({ server, [kTls]: facts }) => facts !== undefined && facts.hasAsked && facts.verifyResult === 0,
  authorizationError: ({ [kTls]: facts }) => facts !== undefined && facts.hasAsked ? facts.authorizationError : null,
  servername: ({ [kTls]: facts }) => facts?.servername || false,
  alpnProtocol: ({ [kTls]: facts }) => facts?.alpn || false,
  // A connection with TLS, even an upgraded one, ends when its client ends its direction, unless the server allows half-open connections:
  // Node does so. A stream of HTTP/2 can stay half open.
  allowHalfOpen: ({ server, [kState]: bits }) =>
    (bits & State.kStream) !== 0 || (server !== undefined && Boolean(allowsHalfOpen(server)))
}

for (const [name, fact] of Object.entries(kFacts)) {
  Object.defineProperty(prototype, name, {
    configurable: true,
    get () { return fact(this) },
    // A program may overwrite the fact: on Node it is a property.
    set (value) { Object.defineProperty(this, name, { value, writable: true, enumerable: true, configurable: true }) }
  })
}

Object.assign(prototype, {
  /** @this {EngineSecureSocket} */
  getProtocol () { return this.destroyed ? null : this[kTls].protocol },
  /** @this {EngineSecureSocket} */
  getCipher () { return this.destroyed ? null : this[kTls].cipher },
  /** @this {EngineSecureSocket} */
  isSessionReused () { return this.destroyed ? null : this[kTls].isReused },
  /** Undefined for a server that must not see the client's certificate: the session contains it. @this {EngineSecureSocket} */
  getSession () { return this[kTls].isForeign ? undefined : ask(this, Question.kSession) },
  /** Undefined, as on Node: only a client has a ticket. */
  getTLSTicket () { return undefined },
  /** @this {EngineSecureSocket} */
  getFinished () { return ask(this, Question.kFinished) },
  /** @this {EngineSecureSocket} */
  getPeerFinished () { return ask(this, Question.kPeerFinished) },
  /** Null, as on Node: only a client gets this information. */
  getEphemeralKeyInfo () { return null },
  /** @this {EngineSecureSocket} */
  getSharedSigalgs () {
    return (ask(this, Question.kSharedSigalgs)?.toString('latin1') ?? '').split('\n').filter(Boolean).map(signatureName)
  },
  /** @this {EngineSecureSocket} @param {boolean} [isDetailed] */
  getPeerCertificate (isDetailed) {
    if (this.destroyed) return null
    const { chain } = this[kTls]
    if (chain.length === 0) return {}
    return isDetailed ? legacyChain(chain) : legacyCertificate(chain[0])
  },
  /** @this {EngineSecureSocket} */
  getPeerX509Certificate () { return this[kTls].chain[0] },
  /** @this {EngineSecureSocket} */
  getX509Certificate () {
    const der = ask(this, Question.kCertificate)
    return der === undefined ? undefined : new X509Certificate(der)
  },
  /** @this {EngineSecureSocket} */
  getCertificate () {
    const own = this.getX509Certificate()
    return own === undefined ? null : legacyCertificate(own)
  },
  /** @this {EngineSecureSocket} @param {number} length @param {string} label @param {Buffer} [context] */
  exportKeyingMaterial (length, label, context) {
    if (typeof length !== 'number' || !(length > 0) || !Number.isInteger(length)) throw outOfRange('length', 'a positive integer', length)
    readString('label', label)
    const words = Buffer.from(new Uint32Array([length, context === undefined ? 0 : 1, Buffer.byteLength(label)]).buffer)
    const material = ask(this, Question.kKeyingMaterial,
      Buffer.concat([words, Buffer.from(label), context ?? Buffer.alloc(0)]))
    if (material !== undefined) return material
    throw Object.assign(new Error('The keying material could not be exported'), { code: 'ERR_TLS_EXPORT_KEYING_MATERIAL' })
  },
  /** Does nothing: the engine never renegotiates. */
  disableRenegotiation () {},
  /** @this {EngineSecureSocket} @param {{ requestCert?: unknown, rejectUnauthorized?: unknown } | undefined} options @param {(error: Error | null) => void} [callback] */
  renegotiate (options, callback) {
    const done = typeof callback === 'function' ? AsyncResource.bind(callback) : () => {}
    const connection = this[kParent] ?? this
    const isOpen = !this.destroyed && !connection.destroyed && (connection[kState] & State.kLaneClosed) === 0
    if (!isOpen || options?.requestCert !== true || !loadBinding().capabilities.systemCertificates) {
      nodeProcess.nextTick(done, renegotiationError('the server does not renegotiate'))
      return false
    }
    askForCertificate(connection, (error) => {
      const refusal = error === null && options.rejectUnauthorized !== false ? this.authorizationError : null
      if (refusal !== null) connection.destroy()
      done(refusal === null ? error : Object.assign(renegotiationError(`the client's certificate is refused: ${refusal}`), { reason: refusal }))
    })
    return true
  },
  /** Returns false: the lane chooses the size of TLS records. */
  setMaxSendFragment () { return false },
  enableTrace () {},
  setServername () {
    throw Object.assign(new Error('Cannot issue SNI from a TLS server-side socket'), { code: 'ERR_TLS_SNI_FROM_SERVER' })
  },
  setSession () {}
})

// Cast: to TypeScript, a function does not construct objects of its prototype's type.
module.exports = { SecureSocket: /** @type {EngineSocketConstructor} */ (/** @type {unknown} */ (SecureSocket)) }
