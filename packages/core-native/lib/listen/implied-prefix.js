'use strict'

// The prefix of a server that was given a port and no prefix, as listen(8080) does: everything at its address.

const { findRefusal } = require('../prefixes/reservations')
const { kListener } = require('../http/symbols')
const { kBindIpv6Only, kBindReusePort } = require('./endpoints')
const { applicationOf, isWildcard, readPrefix } = require('./listen-args')
const { addressOf } = require('./listener')

/** @typedef {import('../../types/internal').ListenServer} ListenServer */
/** @typedef {import('../../types/node-internals').ListenHandle} ListenHandle */
/** @typedef {import('./endpoints').Plan} Plan */

/** @param {ListenServer} server that was given a port */
function schemeOf (server) {
  const { isSecure, isTlsPort } = server[kListener]
  return isSecure || isTlsPort ? 'https' : 'http'
}

/** @param {ListenServer} server @param {string | null} address @param {number} port @param {number | undefined} flags @returns {Plan} */
function planForPort (server, address, port, flags) {
  const host = address && !isWildcard(address) ? address : undefined
  const text = `${schemeOf(server)}://${host === undefined ? '*' : host.includes(':') ? `[${host.split('%')[0]}]` : host}:${port}/`
  const endpoint = { host: address || undefined, port, ipv6Only: (/** @type {number} */ (flags) & kBindIpv6Only) !== 0, reusePort: (/** @type {number} */ (flags) & kBindReusePort) !== 0 }
  return { endpoints: [endpoint], prefixes: [{ id: 0, port, text }], isPlain: true }
}

/** True for listen(0): nobody can reserve the port that the system chooses. @param {Plan} plan */
function isAnyPort ({ isPlain, prefixes: [{ port }] }) {
  return isPlain && port === 0
}

/** The prefix of a plan for a port, once the port is known. @param {Plan} plan @param {ListenHandle} handle */
function impliedBy ({ prefixes: [{ text }] }, handle) {
  return readPrefix(text.replace(/:0\/$/, `:${addressOf(handle).port}/`))
}

/**
 * Why a server may not have what it wants to register. A server on a port gets every request that nobody else has registered there, so
 * it needs the right to that prefix.
 *
 * @param {Plan} plan @param {import('./listen-args').SharingOptions} sharing @returns {Error | null}
 */
function refusalOf (plan, sharing) {
  if (isAnyPort(plan)) return null
  try {
    const who = applicationOf(sharing)
    for (const { text } of plan.prefixes) {
      const refusal = findRefusal(text, who)
      if (refusal === null) continue
      const [{ host = '::', port }] = plan.endpoints
      return plan.isPlain ? Object.assign(refusal, { address: host, port }) : refusal
    }
    return null
  } catch (error) {
    return /** @type {Error} */ (error)
  }
}

module.exports = { impliedBy, isAnyPort, planForPort, refusalOf, schemeOf }
