'use strict'

// Decides whether Node's own code must serve a server of the engine: if the server asks for Node's lenient parser, or if our 'connection' (or
// 'secureConnection') listener was removed, because then the program reads its connections itself.

const { isParsedByNode } = require('../options/lenient')
const { kListener } = require('../http/symbols')

/** @import { ListenServer } from '../../types/internal' */

/** Finds out whether one of our listeners is missing. Must be called when the listeners of a server have changed. @param {ListenServer} server */
function lookForOwnListeners (server) {
  const listener = server[kListener]
  listener.removedEvent = listener.ownListeners.find(([event, own]) => !server.listeners(event).includes(own))?.[0]
}

/** @param {ListenServer} server @returns {string | null} why Node's own code serves it, as a part of a sentence; null: the engine serves it */
function servedByNode (server) {
  if (isParsedByNode(server)) return 'with Node\'s lenient parser (insecureHTTPParser, httpValidation)'
  const event = server[kListener].removedEvent
  return event === undefined ? null : `whose own '${event}' listener was removed`
}

/** @param {ListenServer} server */
function isServedByNode (server) {
  return servedByNode(server) !== null
}

module.exports = { isServedByNode, lookForOwnListeners, servedByNode }
