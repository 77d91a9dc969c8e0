'use strict'

// Requests and responses of an adapter's server have the prototypes of its application from the beginning.

const core = require('@httpsys/core-native')

const { AlignedPrototypes, IncomingMessage, ServerResponse } = core.internals

/**
 * @param {import('../types').Application} app
 * @returns {{ prototypes: core.AlignedPrototypes, useServer (server: core.Server): void } | null} null when the application has no prototypes of its own
 */
function alignmentOf (app) {
  const pair = AlignedPrototypes.pairOf(app)
  if (pair === null) return null
  /** @type {core.Server} */
  let server
  // Other listeners of 'request' must not meet Express' prototypes: its getters without setters (req.query)
  // would swallow what they assign.
  const applies = () => {
    const listeners = server.listeners('request')
    return listeners.length === 1 && listeners[0] === app
  }
  const prototypes = new AlignedPrototypes(pair, { IncomingMessage, ServerResponse }, applies)
  prototypes.install()
  return { prototypes, useServer: (its) => { server = its } }
}

module.exports = { alignmentOf }
