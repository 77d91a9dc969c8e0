'use strict'

// Lists and changes the certificates and reservations of the operating system's HTTP server (HTTP.SYS), for the command line. A refusal
// is thrown as an error that explains its code.

const { loadBinding } = require('./binding')
const { CapabilityError } = require('../base/errors')
const { errnoOf } = require('../base/system-error')
const { parseUrlPrefix } = require('../prefixes/url-prefix')

/** Error codes of HTTP.SYS: [Node's code, explanation for users]. @type {Record<number, [string, string]>} */
const kMeanings = {
  2: ['ENOENT', 'there is none'],
  5: ['EACCES', 'only an administrator may do that'],
  87: ['EINVAL', 'HTTP.SYS does not take it'],
  183: ['EEXIST', 'there is one already'],
  1312: ['ENOENT', 'the store has no certificate with this hash and a private key']
}
const kHashExpression = /^[\da-f]{40}$/i

/** @returns {boolean} whether this machine's backend is HTTP.SYS, which stores certificates and reservations itself */
function isThere () {
  try {
    return loadBinding().capabilities.systemCertificates
  } catch {
    return false // Without the addon, commands can still change the certificates and reservations in files.
  }
}

/** @param {string} what */
function config (what) {
  const { capabilities, systemConfig } = loadBinding()
  if (systemConfig === undefined || !capabilities.systemCertificates) throw new CapabilityError(what, 'systemCertificates', capabilities.name)
  return systemConfig
}

/** @template T @param {string} what @param {T} answer @returns {Exclude<T, number>} the answer, unless it is an error code, which is thrown */
function checked (what, answer) {
  if (typeof answer !== 'number' || answer === 0) return /** @type {Exclude<T, number>} */ (answer)
  const [code, meaning] = kMeanings[answer] ?? ['UNKNOWN', `error ${answer}; what it means is shown by: net helpmsg ${answer}`]
  throw Object.assign(new Error(`${what}: ${meaning}`), { code, errno: errnoOf(code), status: answer })
}

/** @param {string} problem */
function wrongArgument (problem) {
  return Object.assign(new TypeError(problem), { code: 'ERR_INVALID_ARG_VALUE' })
}

/** @param {string} text `*:443`, `127.0.0.1:443`, `[::1]:443`, `shop.example:443` */
function readEndpoint (text) {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(text) ?? []
  if (host === undefined || Number(port) < 1 || Number(port) > 65535) throw wrongArgument(`"${text}" is no host and port, such as shop.example:443 or *:443`)
  return { host: host === '*' ? '' : host.replace(/^\[|\]$/g, ''), port: Number(port) }
}

/** @param {{ host: string, port: number }} endpoint */
function endpointText ({ host, port }) {
  return `${host === '' ? '*' : host.includes(':') ? `[${host}]` : host}:${port}`
}

/** @returns {{ endpoint: string, hash: string, store: string }[]} */
function listCertificates () {
  const list = checked('show sslcert', config('show sslcert').listCertificates())
  return list.map((/** @type {import('../../types/binding').SystemCertificate} */ { hash, store, ...where }) =>
    ({ endpoint: endpointText(where), hash: Buffer.from(hash).toString('hex'), store }))
}

/** @param {string} hash @returns {Buffer} */
function readHash (hash) {
  if (!kHashExpression.test(hash)) throw wrongArgument(`"${hash}" is no thumbprint of a certificate: 40 hexadecimal digits`)
  return Buffer.from(hash, 'hex')
}

/** @param {string} endpoint @param {{ hash: string, store?: string }} certificate */
function addCertificate (endpoint, { hash, store = 'MY' }) {
  const { host, port } = readEndpoint(endpoint)
  const bytes = readHash(hash)
  checked(`add sslcert ${endpoint}`, config('add sslcert --certhash').addCertificate(host, port, bytes, store))
}

/**
 * Replaces the certificate of an endpoint by deleting and adding, because not every Windows can replace in one call: handshakes
 * between the two calls fail. If HTTP.SYS refuses the new certificate, the old one is bound again.
 *
 * @param {string} endpoint
 * @param {{ hash: string, store?: string }} certificate
 */
function updateCertificate (endpoint, { hash, store = 'MY' }) {
  const { host, port } = readEndpoint(endpoint)
  const bytes = readHash(hash)
  const what = `update sslcert ${endpoint}`
  const system = config('update sslcert --certhash')
  const last = checked(what, system.findCertificate(host, port))
  checked(what, system.deleteCertificate(host, port))
  const status = system.addCertificate(host, port, bytes, store)
  if (status !== 0) system.addCertificate(host, port, last.hash, last.store)
  checked(what, status)
}

/** @param {string} endpoint */
function deleteCertificate (endpoint) {
  const { host, port } = readEndpoint(endpoint)
  checked(`delete sslcert ${endpoint}`, config('delete sslcert').deleteCertificate(host, port))
}

/** @returns {{ prefix: string, sddl: string }[]} */
function listReservations () {
  return checked('show urlacl', config('show urlacl').listReservations())
}

/** @param {string} prefix @param {string} sddl */
function addReservation (prefix, sddl) {
  const url = parseUrlPrefix(prefix).prefix
  checked(`add urlacl ${url}`, config('add urlacl --sddl').addReservation(url, sddl))
}

/** @param {string} prefix */
function deleteReservation (prefix) {
  checked(`delete urlacl ${prefix}`, config('delete urlacl').deleteReservation(parseUrlPrefix(prefix).prefix))
}

module.exports = {
  addCertificate,
  addReservation,
  deleteCertificate,
  deleteReservation,
  isThere,
  listCertificates,
  listReservations,
  updateCertificate
}
