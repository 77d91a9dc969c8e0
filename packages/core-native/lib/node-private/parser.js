'use strict'

// A function for the undocumented parser that Node's http module gives to a connection.

/** Return values of onIncoming(), which tell the parser what follows a head: a body, or (after an upgrade) bytes that are not HTTP. */
const kReadBody = 0
const kSkipAll = 2

/** @typedef {import('node:stream').Duplex & import('../../types/node-internals').ParsedConnection} ParsedConnection */

/**
 * Makes Node parse requests of a connection without reporting them. Used for this package's own test requests, which observers (subscribers of
 * 'http.server.request.start', subclasses in the application) must not see.
 *
 * @param {import('node:stream').Duplex} socket passed to a server as a 'connection'
 */
function hideRequests (socket) {
  const { parser } = /** @type {ParsedConnection} */ (socket)
  // A hook of the application may have closed the connection, which frees its parser.
  if (parser) parser.onIncoming = ({ upgrade }) => upgrade ? kSkipAll : kReadBody
}

module.exports = { hideRequests }
