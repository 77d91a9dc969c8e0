'use strict'

// The context of no request and of no application code, as libuv's callbacks about connections have it on Node. What ends
// a connection is often begun in its last request, whose AsyncLocalStorage and domain are nothing to the events of the end.

const { AsyncResource } = require('node:async_hooks')

/** @type {AsyncResource | null} */
let outside = null

/** Called where nothing is entered: by a record of a lane. */
function rememberOutside () {
  if (outside !== null) return
  outside = new AsyncResource('HTTPSYSOUTSIDE', { requireManualDestroy: true })
  outside.emitDestroy() // The resource stands for no handle, so no tool may list it as left open.
}

/**
 * @template T
 * @param {() => T} run
 * @returns {T}
 */
function runOutside (run) {
  if (outside === null) return run()
  // The resource leaves an AsyncLocalStorage. A domain is entered by the tick or timer that runs this, and left only by exit().
  const { domain } = /** @type {any} */ (process)
  domain?.exit()
  try {
    return outside.runInAsyncScope(run)
  } finally {
    domain?.enter()
  }
}

module.exports = { rememberOutside, runOutside }
