'use strict'

// Makes an adapter's server construct requests and responses with the prototypes of its application.

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
  // Use Express' prototypes only while the application is the only 'request' listener: if another listener assigned to a
  // property that is a getter without setter in Express (req.query), the assignment would be lost.
  const applies = () => {
    const listeners = server.listeners('request')
    return listeners.length === 1 && listeners[0] === app
  }
  const prototypes = new AlignedPrototypes(pair, { IncomingMessage, ServerResponse }, applies)
  prototypes.install()
  return { prototypes, useServer: (its) => { server = its } }
}

module.exports = { alignmentOf }
