'use strict'

// The servers that are compared. Each makes a listening http.Server out of a scenario's application.

const http = require('node:http')

/**
 * @typedef {object} Implementation
 * @property {string} name
 * @property {string} what
 * @property {(listener: import('node:http').RequestListener, listening: () => void) => import('node:http').Server} forListener
 * @property {(app: any, listening: () => void) => import('node:http').Server} forExpress
 */

const kHost = '127.0.0.1'

/**
 * Stock Node whose requests and responses are constructed with the prototypes that Express gives them
 * anyway: shows which part of a gain is the prototypes' and which the engine's.
 *
 * @param {any} app
 */
function alignedOptions (app) {
  const { IncomingMessage, ServerResponse } = /** @type {any} */ (http)
  /** @this {any} @param {any} socket */
  function Request (socket) { IncomingMessage.call(this, socket) }
  Request.prototype = app.request
  /** @this {any} @param {any} req @param {any} options */
  function Response (req, options) { ServerResponse.call(this, req, options) }
  Response.prototype = app.response
  // V8 sizes new objects by the constructors up this chain.
  Object.setPrototypeOf(Request, IncomingMessage)
  Object.setPrototypeOf(Response, ServerResponse)
  return /** @type {any} */ ({ IncomingMessage: Request, ServerResponse: Response })
}

/**
 * @param {string} name
 * @param {string} what
 * @param {(app: any) => import('node:http').RequestListener} listenerOf
 * @returns {Implementation}
 */
function zeroChange (name, what, listenerOf) {
  return {
    name,
    what,
    forListener: () => { throw new Error(`${name} is for Express only`) },
    forExpress: (app, listening) => require('@httpsys/core-native').createServer(listenerOf(app)).listen(0, kHost, listening)
  }
}

/** @type {Record<string, Implementation>} */
const kImplementations = {
  node: {
    name: 'node',
    what: 'node:http; for Express app.listen',
    forListener: (listener, listening) => http.createServer(listener).listen(0, kHost, listening),
    forExpress: (app, listening) => app.listen(0, kHost, listening),
  },
  'node-aligned': {
    name: 'node-aligned',
    what: 'node:http with aligned prototypes',
    forListener: () => { throw new Error('node-aligned is for Express only') },
    forExpress: (app, listening) => http.createServer(alignedOptions(app), app).listen(0, kHost, listening),
  },
  httpsys: {
    name: 'httpsys',
    what: '@httpsys/core-native; for Express @httpsys/express-adapter',
    forListener: (listener, listening) =>
      require('@httpsys/core-native').createServer(listener).listen(0, kHost, listening),
    forExpress: (app, listening) =>
      require('@httpsys/express-adapter').createAdapter(app).listen(0, kHost, listening),
  },
  'zero-change': zeroChange('zero-change', 'what app.listen() is below @httpsys/core-native/register', (app) => app),
  'zero-change-wrapped': zeroChange('zero-change-wrapped', 'the same with a function around the application', (app) => (req, res) => app(req, res)),
}

module.exports = { kImplementations }
