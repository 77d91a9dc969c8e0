'use strict'

// What frameworks depend on (rows), and what a server made of Node's own classes over sockets without a
// handle has to get right (rules r1 to r15).

/** @type {Record<string, string>} */
const kAreas = {
  1: 'prototypes of requests and responses end in Node\'s, and may be swapped per request',
  2: 'IncomingMessage and ServerResponse are callable without new and may be subclassed',
  3: 'Server is callable without new; instanceof holds for ours and for older servers',
  4: 'Server.prototype.emit is the point of dispatch',
  5: 'instanceof tls.Server tells the scheme',
  6: 'listeners of "request" may be taken away and put back while serving',
  7: '_header, headersSent and _implicitHeader()',
  8: 'writeHead replaced on a response is called by _implicitHeader()',
  9: 'end, write and on replaced on a response are the ones that are called',
  10: 'all shapes of writeHead, appendHeader, setHeaders, getHeaderNames',
  11: '_contentLength, _hasBody, _removedContLen, useChunkedEncodingByDefault',
  12: 'the global classes\' prototypes are patched at load',
  13: 'socket._httpMessage is the response that is being sent',
  14: 'req.socket.server is the server',
  15: 'one socket object per connection, usable as a key and as a property bag',
  16: '"connection" with that socket, and the socket\'s "close"',
  17: 'addresses of the socket, after its close too',
  18: 'encrypted, authorized, getPeerCertificate',
  19: 'req.connection and res.connection',
  20: 'setTimeout, setKeepAlive, setNoDelay; setEncoding throws',
  21: 'the socket of an upgrade is a whole Duplex',
  22: 'an upgrade that nobody listens to is an ordinary request; such a CONNECT is closed',
  23: 'checkContinue, checkExpectation, 100 by itself, 417',
  24: 'clientError and the replies without one',
  25: 'address() at once after listen()',
  26: 'shapes of listen(), its errors, listening again',
  27: 'close, closeIdleConnections, closeAllConnections, getConnections, ref, unref',
  28: 'timeouts and limits, read when used',
  29: 'Date, Connection and Keep-Alive and their order',
  30: 'rawHeaders, headersDistinct, trailers, versions, every method',
  31: 'what a client that leaves causes',
  32: 'order of finish, close, end; unread bodies',
  33: 'what on-finished asks of a message',
  34: 'readable state of a request',
  35: 'pipelined responses in order; a response without a socket until its turn',
  36: 'asynchronous context, domains, uncaught exceptions, captured rejections',
  37: 'diagnostics channels and performance entries',
  38: 'informational responses, flushHeaders, trailers',
  39: 'a socket written to after an upgrade without WebSockets',
  40: '"connection" emitted by the application',
  41: 'http-deceiver, spdy',
  42: 'cluster; sending handles',
  r1: 'a swapped prototype takes our methods away',
  r2: 'the socket is a net.Socket without a handle',
  r3: 'the socket emits "close" itself',
  r4: 'peer and local names, bytesRead, bytesWritten, pending',
  r5: 'socket.server before "connection"',
  r6: 'flow control goes through pause() and resume() and their events',
  r7: 'a write that is accepted calls back at once: writableLength 0',
  r8: '"end" reaches a socket that nobody reads',
  r9: 'after an upgrade nothing of HTTP is left on the socket',
  r10: 'highWaterMark reaches the socket',
  r11: 'what "finish" causes: the body dumped, the socket detached, the timer armed',
  r12: 'the way of an error to "clientError" or to a reply',
  r13: 'open requests are aborted when the connection closes',
  r14: 'options are read per request; "timeout" goes from request to response to server',
  r15: 'closing from within any event is safe',
}

/** What no program here can show, and where it is shown or why it cannot be. @type {Record<string, string>} */
const kElsewhere = {
  5: 'needs TLS, which Node\'s own https serves for now',
  18: 'needs TLS, which Node\'s own https serves for now; the plain side is shown by programs of row 17',
  41: 'these projects fail on stock Node 20 and later',
}

module.exports = { kAreas, kElsewhere }
