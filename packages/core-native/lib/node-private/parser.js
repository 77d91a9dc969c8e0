'use strict'

// The parser that Node's http module gives to a connection.

/** Answers to the parser about what follows a head: a body, or bytes that are none of HTTP. */
const kReadBody = 0
const kSkipAll = 2

/** @typedef {import('node:stream').Duplex & import('../../types/node-internals').ParsedConnection} ParsedConnection */

/**
 * Lets Node parse what a connection is given without anybody hearing of requests: whoever watches servers (an 'http.server.request.start'
 * subscriber, a class of the application's) may not see those that this package makes itself.
 *
 * @param {import('node:stream').Duplex} socket that was given to a server with 'connection'
 */
function hideRequests (socket) {
  const { parser } = /** @type {ParsedConnection} */ (socket)
  // A hook of the application may have closed the connection, which frees its parser.
  if (parser) parser.onIncoming = ({ upgrade }) => upgrade ? kSkipAll : kReadBody
}

module.exports = { hideRequests }
