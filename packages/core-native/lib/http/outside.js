'use strict'

// The context of no request and of no application code, as libuv's callbacks about connections have it on Node. What ends
// a connection is often begun in its last request, whose AsyncLocalStorage and domain are nothing to the events of the end.

const { AsyncResource } = require('node:async_hooks')
const { nodeProcess } = require('../node-private/node-process')

/** @typedef {NodeJS.Process & { domain?: import('node:domain').Domain | null }} ProcessInDomain what node:domain adds */

const kResourceOptions = { requireManualDestroy: true }

/** @type {AsyncResource | null} */
let outside = null

/** Called where nothing is entered: by a record of a lane. */
function rememberOutside () {
  if (outside !== null) return
  outside = new AsyncResource('HTTPSYSOUTSIDE', kResourceOptions)
  outside.emitDestroy() // The resource stands for no handle, so no tool may list it as left open.
}

/**
 * @template T
 * @param {() => T} run
 * @returns {T}
 */
function runOutside (run) {
  return outside === null ? run() : runIn(outside, run)
}

/**
 * @template T
 * @param {AsyncResource} resource
 * @param {() => T} run
 * @returns {T}
 */
function runIn (resource, run) {
  // The resource leaves an AsyncLocalStorage. Domains are entered by the tick or timer that runs this, by emitters and by the
  // application, and left only by exit(), each as often as it was entered.
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

/** @returns {<T>(run: () => T) => T} runs a function where this was called: in its AsyncLocalStorage and its domain */
function captureContext () {
  const resource = new AsyncResource('HTTPSYSCONTEXT', kResourceOptions)
  // The resource stands for no handle, so no tool may list it as left open. AsyncResource.runInAsyncScope() keeps to the store alone:
  // the domain is entered by itself.
  resource.emitDestroy()
  const { domain } = /** @type {ProcessInDomain} */ (nodeProcess)
  return (run) => runIn(resource, () => domain ? domain.run(run) : run())
}

/**
 * Runs what makes an emitter of a connection or server: one that is made in a domain belongs to it, and its events run there.
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
