'use strict'

// Gives requests and responses of an adapter's server the prototypes of its application when they are constructed.

const core = require('@httpsys/core-native')

const { AlignedPrototypes, IncomingMessage, ServerResponse } = core.internals

/**
 * @param {import('../types').Application} app
 * @returns {{ prototypes: core.AlignedPrototypes, useServer (server: core.Server): void } | null} null: the application has no prototypes of its own
 */
function alignmentOf (app) {
  const pair = AlignedPrototypes.pairOf(app)
  if (pair === null) return null
  /** @type {core.Server} */
  let server
  // Another listener of 'request' must not get Express' prototypes: getters without setters (req.query) would
  // ignore its assignments.
  const applies = () => {
    const listeners = server.listeners('request')
    return listeners.length === 1 && listeners[0] === app
  }
  const prototypes = new AlignedPrototypes(pair, { IncomingMessage, ServerResponse }, applies)
  prototypes.install()
  return { prototypes, useServer: (its) => { server = its } }
}

module.exports = { alignmentOf }
