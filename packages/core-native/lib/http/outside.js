'use strict'

// Runs functions in an async context that belongs to no request, like libuv's callbacks about connections on Node. The end of a
// connection often begins in its last request, whose AsyncLocalStorage and domain the events of the end must not see.

const { AsyncResource } = require('node:async_hooks')
const { nodeProcess } = require('../node-private/node-process')

/** @typedef {NodeJS.Process & { domain?: import('node:domain').Domain | null }} ProcessInDomain what node:domain adds */

const kResourceOptions = { requireManualDestroy: true }

/** @type {AsyncResource | null} */
let outside = null

/** Remembers the empty context. Must be called from a record of a lane, where no context is entered. */
function rememberOutside () {
  if (outside !== null) return
  outside = new AsyncResource('HTTPSYSOUTSIDE', kResourceOptions)
  outside.emitDestroy() // The resource stands for no handle, so no tool must list it as left open.
}

/** @template T @param {() => T} run @returns {T} */
function runOutside (run) {
  return outside === null ? run() : runIn(outside, run)
}

/** @template T @param {AsyncResource} resource @param {() => T} run @returns {T} */
function runIn (resource, run) {
  // The resource replaces the AsyncLocalStorage, not the domains. Ticks, timers, emitters and the application enter domains; a domain
  // must be left by exit() as often as it was entered.
  /** @type {import('node:domain').Domain[]} */
  const domains = []
  for (let domain; (domain = /** @type {ProcessInDomain} */ (nodeProcess).domain);) {
    domains.push(domain)
    domain.exit()
  }
  try {
    return resource.runInAsyncScope(run)
  } finally {
    while (domains.length !== 0) domains.pop()?.enter()
  }
}

/** @returns {<T>(run: () => T) => T} runs a function in the AsyncLocalStorage and the domain in which captureContext() was called */
function captureContext () {
  const resource = new AsyncResource('HTTPSYSCONTEXT', kResourceOptions)
  // The resource stands for no handle, so no tool must list it as left open. AsyncResource.runInAsyncScope() restores only the
  // AsyncLocalStorage: the domain is entered separately.
  resource.emitDestroy()
  const { domain } = /** @type {ProcessInDomain} */ (nodeProcess)
  return (run) => runIn(resource, () => domain ? domain.run(run) : run())
}

/**
 * Runs a function that makes an emitter of a connection or server. An emitter belongs to the domain in which it is made, and its events run there.
 *
 * @template T
 * @param {import('node:async_hooks').AsyncResource} resource whose domain it belongs to
 * @param {() => T} run
 * @returns {T}
 */
function runInDomainOf (resource, run) {
  return /** @type {ProcessInDomain} */ (nodeProcess).domain ? runOutside(() => resource.runInAsyncScope(run)) : run()
}

module.exports = { captureContext, rememberOutside, runInDomainOf, runOutside }
