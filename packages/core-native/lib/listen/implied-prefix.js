'use strict'

// The implied prefix of a server that was given a port and no prefix, as by listen(8080). It covers everything at the server's address.

const { findRefusal } = require('../prefixes/reservations')
const { kListener } = require('../http/symbols')
const { kBindIpv6Only, kBindReusePort } = require('./endpoints')
const { applicationOf, isWildcard, readPrefix } = require('./listen-args')
const { addressOf } = require('./listener')

/** @import { ListenServer } from '../../types/internal' */
/** @import { ListenHandle } from '../../types/node-internals' */
/** @import { Plan } from './endpoints' */

/** @param {ListenServer} server that was given a port */
function schemeOf (server) {
  const { isSecure, isTlsPort } = server[kListener]
  return isSecure || isTlsPort ? 'https' : 'http'
}

/** @param {ListenServer} server @param {string | null} address @param {number} port @param {number | undefined} flags @returns {Plan} */
function planForPort (server, address, port, flags) {
  const host = address && !isWildcard(address) ? address : undefined
  const text = `${schemeOf(server)}://${host === undefined ? '*' : host.includes(':') ? `[${host.split('%')[0]}]` : host}:${port}/`
  const bits = /** @type {number} */ (flags)
  const ways = { ipv6Only: (bits & kBindIpv6Only) !== 0, reusePort: (bits & kBindReusePort) !== 0 }
  const endpoint = { host: address || undefined, port, ...ways }
  return { endpoints: [endpoint], prefixes: [{ id: 0, port, text }], isPlain: true }
}

/** True for listen(0), which needs no check of reservations: none can name a port that the system chooses. @param {Plan} plan */
function isAnyPort ({ isPlain, prefixes: [{ port }] }) {
  return isPlain && port === 0
}

/**
 * Returns the prefix of a plan for a port. Must be called when the handle is bound: only then listen(0) has its port.
 *
 * @param {Plan} plan @param {ListenHandle} handle
 */
function impliedBy ({ prefixes: [{ text }] }, handle) {
  return readPrefix(text.replace(/:0\/$/, `:${addressOf(handle).port}/`))
}

/**
 * Returns the error if reservations forbid a prefix of the plan. listen(port) is checked like its implied prefix, because the server gets
 * every request for which no other server is registered there.
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
