'use strict'

/** @type {import('.').Mutation[]} */
module.exports = [
  {
    name: 'secure-half-open',
    file: 'lib/http/secure-socket.js',
    find: '    (bits & State.kStream) !== 0 || (server',
    replace: '    true || (server',
  },
  {
    name: 'light-resume',
    file: 'lib/http/socket.js',
    find: 'return isLight(this) && (this[kState] & State.kUpgraded) === 0 ? this : super.resume()',
    replace: 'return isLight(this) ? this : super.resume()',
  },
  {
    name: 'light-pause',
    file: 'lib/http/socket.js',
    find: '      this[kState] &= ~State.kReaderGone\n      return super.pause()\n',
    replace: '      if (isLight(this)) return this\n      return super.pause()\n',
  },
  {
    name: 'close-emitted-unheard',
    file: 'lib/http/socket-listeners.js',
    find: "on.call(socket, 'close', onSocketClose)",
    replace: "on.call(socket, 'close', onRecordInstead)",
  },
  {
    name: 'unheard-of-connection-ended',
    file: 'src/engine/http1/http1_session.cc',
    find: 'return connection.slot.is_announced() && !connection.message.has_served() &&',
    replace: 'return !MUTANT("unheard-of-connection-ended") && connection.slot.is_announced() && !connection.message.has_served() &&',
  },
  {
    name: 'upgrade-not-asked',
    file: 'lib/http/exchange.js',
    find: 'if (!decidesUpgrades(server))',
    replace: 'if (decidesUpgrades(server))',
  },
  // Names and counters.
  {
    name: 'no-peer-name',
    file: 'lib/http/addresses.js',
    find: 'address: this.remoteAddress, family',
    replace: 'family',
  },
  {
    name: 'family-four',
    file: 'lib/http/addresses.js',
    // eslint-disable-next-line no-template-curly-in-string
    find: 'family: `IPv${family}`, port: this.remotePort',
    replace: "family: 'IPv4', port: this.remotePort",
  },
  {
    name: 'names-of-a-path',
    file: 'lib/http/addresses.js',
    find: 'return family === 0 ? {} : { address: this',
    replace: 'return { address: this',
  },
  {
    name: 'answer-not-counted',
    file: 'lib/http/short-way.js',
    find: 'socket[kUnsent] += bytes\n  socket[kWritten] += bytes',
    replace: 'socket[kUnsent] += bytes',
  },
  {
    name: 'raw-not-counted',
    file: 'lib/http/socket-output.js',
    find: 'socket[kWritten] += bytes',
    replace: '',
  },
  {
    name: 'pieces-overlap',
    file: 'lib/records/reply-writer.js',
    find: 'at += chunk.length',
    replace: '',
  },
  {
    name: 'socket-class-name',
    file: 'lib/http/socket.js',
    find: "'constructor', { value: net.Socket,",
    replace: "'constructor', { value: class HttpSocket {},",
  },
  {
    name: 'mark-of-the-socket',
    file: 'lib/http/socket.js',
    find: 'const highWaterMark = highWaterMarkOf(server)',
    replace: 'const highWaterMark = undefined',
  },

  // Timeouts and options.
  {
    name: 'timeout-skips-request',
    file: 'lib/http/socket-listeners.js',
    find: "const reqHandled = req && !req.complete && req.emit('timeout', this)",
    replace: 'const reqHandled = req && false',
  },
  {
    name: 'timeout-skips-response',
    file: 'lib/http/socket-listeners.js',
    find: "const resHandled = res && res.emit('timeout', this)",
    replace: 'const resHandled = res && false',
  },
  {
    name: 'timeout-without-end',
    file: 'lib/http/socket-listeners.js',
    find: 'if (!reqHandled && !resHandled && !serverHandled) this.destroy()',
    replace: '',
  },
  {
    name: 'timeout-zero-ignored',
    file: 'lib/http/socket.js',
    find: 'return super.setTimeout(timeout, callback)',
    replace: 'return timeout === 0 ? this : super.setTimeout(timeout, callback)',
  },
  {
    name: 'activity-unnoticed',
    file: 'lib/http/socket.js',
    // Each of the two alone is enough: the lane would tell of the activity.
    find: '    else super._unrefTimer()\n  }\n\n  _onTimeout () {\n    askSilence(this)\n',
    replace: "  }\n\n  _onTimeout () {\n    this.emit('timeout')\n",
  },
  {
    name: 'encoding-allowed',
    file: 'lib/http/socket.js',
    find: 'if ((this[kState] & State.kUpgraded) === 0) {',
    replace: 'if ((this[kState] & State.kUpgraded) === -1) {',
  },
  {
    name: 'probes-not-sent',
    file: 'lib/http/socket.js',
    find: 'kSocketOption, 2, enable ? 1 : 0',
    replace: 'kSocketOption, 2, 0',
  },

  // Ends of a socket.
  {
    name: 'socket-close-lost',
    file: 'lib/http/socket.js',
    find: 'connectionClosed(socket)\n    closed()',
    replace: 'connectionClosed(socket)',
  },
  {
    name: 'idle-end-unheard',
    file: 'lib/http/connection.js',
    find: 'if ((bits & State.kPeerEnded) === 0 && !isCutShort) endReadable(socket)',
    replace: 'void isCutShort',
  },
  {
    name: 'end-waits-for-a-reader',
    file: 'lib/http/connection.js',
    find: "socket.read(0) // Emits 'end' even if nothing reads the socket.",
    replace: '',
  },
  {
    name: 'reset-without-error',
    file: 'lib/http/connection.js',
    find: "socket.destroy(systemError(-errno, 'read'))",
    replace: 'socket.destroy()',
  },
  {
    name: 'soon-is-now',
    file: 'lib/http/socket.js',
    find: 'super.destroySoon()',
    replace: 'this.destroy()',
  },
  {
    name: 'finish-of-a-socket-lost',
    file: 'lib/http/socket.js',
    find: 'if ((this[kState] & State.kFileOut) === 0) setImmediate(callback)',
    replace: 'if ((this[kState] & (State.kFileOut | State.kUpgraded)) === 0) setImmediate(callback)',
  },
  {
    name: 'request-after-destroy',
    file: 'lib/http/exchange.js',
    find: 'if (socket.destroyed || (socket[kState] & State.kFailed) !== 0) return',
    replace: 'if ((socket[kState] & State.kFailed) !== 0) return',
  },
  {
    name: 'open-request-forgotten',
    file: 'lib/http/connection-end.js',
    find: 'else abort(incoming)',
    replace: '',
  },
  {
    name: 'only-the-first-aborted',
    file: 'lib/http/connection-end.js',
    find: 'for (const req of incoming) abort(req)',
    replace: 'abort(incoming[0])',
  },

  // Flow of bytes.
  {
    name: 'reading-stays',
    file: 'lib/http/exchange.js',
    find: 'forgetRead(socket)\n',
    replace: '\n',
  },
  {
    name: 'paused-upload-flows',
    file: 'lib/http/socket.js',
    find: 'total >= kAcknowledgeBytes && (socket[kState] & State.kReadPaused) === 0',
    replace: 'total >= kAcknowledgeBytes',
  },
  {
    name: 'pause-unheard',
    file: 'lib/http/socket.js',
    find: 'return isLight(this) ? this : super.pause()',
    replace: 'return this',
  },
  {
    name: 'upgraded-flood',
    file: 'lib/http/exchange.js',
    find: 'socket[kUnacknowledged] += bytes // _read() acknowledges.',
    replace: 'consumed(socket, bytes)',
  },
  {
    name: 'writes-accepted-late',
    file: 'lib/http/socket-output.js',
    find: 'isBehind(socket))) write.callback()\n',
    replace: 'isBehind(socket))) setImmediate(write.callback)\n',
  },

  // Upgrades and CONNECT.
  {
    name: 'head-lost',
    file: 'lib/http/exchange.js',
    find: 'head ?? Buffer.alloc(0)',
    replace: 'Buffer.alloc(0)',
  },
  {
    name: 'connect-answered',
    file: 'lib/http/exchange.js',
    find: 'socket.destroy()\n    return\n  }\n  if (!isLight(socket)) {\n    socket.readableFlowing',
    replace: "socket.end('HTTP/1.1 405 Method Not Allowed\\r\\n\\r\\n')\n    return\n  }\n  if (!isLight(socket)) {\n    socket.readableFlowing",
  },
  {
    name: 'http-listeners-stay',
    file: 'lib/http/socket-listeners.js',
    find: "socket.removeListener('timeout', onSocketTimeout)",
    replace: '',
  },
  {
    name: 'upgrade-claimed',
    file: 'lib/http/exchange.js',
    find: 'setUpgrade(req, false)',
    replace: 'setUpgrade(req, (flags & R.kFlagUpgrade) !== 0)',
  },
  {
    name: 'upgrade-decided-once',
    file: 'lib/http/exchange.js',
    find: "server.listenerCount('upgrade') > 0",
    replace: "(server[kListener].hasUpgrades ??= server.listenerCount('upgrade') > 0)",
  },

  // Expect.
  {
    name: 'continue-not-sent',
    file: 'lib/http/exchange.js',
    find: 'res.writeContinue()\n      emitRequest(server, req, res)',
    replace: 'emitRequest(server, req, res)',
  },
  {
    name: 'continue-too-early',
    file: 'lib/http/exchange.js',
    find: 'expectContinue(res)\n',
    replace: 'expectContinue(res)\n    res.writeContinue()\n',
  },
  {
    name: 'expectation-ignored',
    file: 'lib/http/exchange.js',
    find: "} else if (server.listenerCount('checkExpectation') > 0) {",
    replace: "} else if (server.listenerCount('checkExpectation') === 0) {\n    server.emit('request', req, res)\n  } else if (true) {",
  },

  // Errors.
  {
    name: 'own-error-names',
    file: 'lib/http/client-error.js',
    find: 'if (told !== null) {',
    replace: 'if (false) {',
  },
  {
    name: 'timeout-code-lost',
    file: 'lib/http/client-error.js',
    find: "coded(new Error('Request timeout'), 'ERR_HTTP_REQUEST_TIMEOUT')",
    replace: "coded(new Error('Request timeout'), 'ETIMEDOUT')",
  },
  {
    name: 'reply-431-lost',
    file: 'src/engine/requests/canned_replies.cc',
    find: 'return "HTTP/1.1 431 Request Header Fields Too Large\\r\\nConnection: close\\r\\n\\r\\n";',
    replace: 'return MUTANT("reply-431-lost") ? "HTTP/1.1 400 Bad Request\\r\\nConnection: close\\r\\n\\r\\n"\n' +
      '        : "HTTP/1.1 431 Request Header Fields Too Large\\r\\nConnection: close\\r\\n\\r\\n";',
  },
  {
    name: 'error-destroys-too',
    file: 'lib/http/socket-listeners.js',
    find: "if (this.server.emit('clientError', error, this)) return",
    replace: "if (this.server.emit('clientError', error, this)) return this.destroy()",
  },
  {
    name: 'error-told-again',
    file: 'lib/http/socket-listeners.js',
    find: "this.removeListener('error', onSocketError)",
    replace: '',
  },
  {
    name: 'own-errors-unheard',
    file: 'lib/http/socket-listeners.js',
    find: "socket.on('error', onSocketError)",
    replace: "socket.on('error', noop)",
  },
  {
    name: 'listeners-asked-once',
    file: 'lib/listen/server.js',
    find: 'if (event === undefined || kWatchedEvents.has(/** @type {string} */ (event))) reconfigure(this)',
    replace: '',
  },
  {
    name: 'reply-into-an-answer',
    file: 'lib/http/socket-listeners.js',
    find: 'if (this.writable && (!res || !isHeadSent(res))) {',
    replace: 'if (this.writable || res) {',
  },
  {
    name: 'end-of-a-body-unnoticed',
    file: 'lib/http/connection.js',
    find: "socket.prependOnceListener('end', () => onSocketError.call(socket, error))",
    replace: '',
  },
]
