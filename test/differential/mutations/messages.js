'use strict'

/** @type {import('.').Mutation[]} */
module.exports = [
  // What was sent.
  {
    name: 'raw-names-lowered',
    file: 'lib/records/lane.js',
    find: "this.names[id] = bytes.toString('latin1', text, text + nameBytes)",
    replace: "this.names[id] = bytes.toString('latin1', text, text + nameBytes).toLowerCase()",
  },
  {
    name: 'doubles-joined',
    file: 'lib/http/incoming.js',
    find: 'else if (this.joinDuplicateHeaders) headers[key] =',
    replace: 'else headers[key] =',
  },
  {
    name: 'half-the-methods',
    file: 'lib/http/exchange.js',
    find: 'listener.methods[packed & Mask.kRequestMethod]',
    replace: 'listener.methods[packed & 0xf]',
  },
  {
    name: 'refused-with-501',
    file: 'src/engine/requests/canned_replies.cc',
    find: 'return "HTTP/1.1 400 Bad Request\\r\\nConnection: close\\r\\n\\r\\n";',
    replace: 'return MUTANT("refused-with-501") ? "HTTP/1.1 501 Not Implemented\\r\\nConnection: close\\r\\n\\r\\n"\n' +
      '        : "HTTP/1.1 400 Bad Request\\r\\nConnection: close\\r\\n\\r\\n";',
  },
  {
    name: 'version-always-1.1',
    file: 'lib/http/exchange.js',
    find: "req.httpVersion = minor === 1 ? '1.1' : '1.0'",
    replace: "req.httpVersion = '1.1'",
  },
  {
    name: 'target-decoded',
    file: 'lib/http/exchange.js',
    find: 'req.url = text.slice(0, target)',
    replace: 'req.url = decodeURI(text.slice(0, target))',
  },
  {
    name: 'trailers-lost',
    file: 'lib/http/exchange.js',
    find: 'if (lines !== 0) {',
    replace: 'if (lines > 64) {',
  },

  {
    name: 'split-head-forgotten',
    file: 'src/engine/connection/input.cc',
    find: 'connection->input.Keep(bytes);',
    replace: 'if (MUTANT("split-head-forgotten")) connection->input.KeepOnly(std::string());\n    connection->input.Keep(bytes);',
  },
  {
    name: 'line-ends-refused',
    file: 'src/http1/request_parser.cc',
    find: "if (!SkipPadding(message, '\\r', '\\n'))",
    replace: 'if (!MUTANT("line-ends-refused") && !SkipPadding(message, \'\\r\', \'\\n\'))',
  },

  // Clients that leave.
  {
    name: 'abort-without-error',
    file: 'lib/http/connection-end.js',
    find: 'req.destroy(connectionReset())',
    replace: 'req.destroy()',
  },
  {
    name: 'open-answer-kept',
    file: 'lib/http/connection-end.js',
    find: 'if (!closesWithSocket(socket)) emitClose(res)',
    replace: '',
  },
  {
    name: 'leaving-unnoticed',
    file: 'lib/http/connection.js',
    find: 'if (!allowsHalfOpen(socket.server)) {',
    replace: 'if (allowsHalfOpen(socket.server) === null) {',
  },
  {
    name: 'destroy-keeps-the-connection',
    file: 'lib/http/socket.js',
    find: 'if (!closesItself) publish(socket, kDestroy)',
    replace: 'void closesItself',
  },

  // The order of events.
  {
    name: 'response-closed-early',
    file: 'lib/http/exchange.js',
    find: 'nodeProcess.nextTick(afterFinish, req, this)',
    replace: 'afterFinish(req, this)',
  },
  {
    name: 'no-tick-before-the-end',
    file: 'lib/http/exchange.js',
    find: 'drainTicks?.()',
    replace: '',
  },
  {
    name: 'first-piece-late',
    file: 'src/engine/http1/http1_session.cc',
    find: 'record.body = bodies_.TakeFirstPiece(connection, rest, used);',
    replace: 'if (!MUTANT("first-piece-late")) record.body = bodies_.TakeFirstPiece(connection, rest, used);',
  },
  {
    name: 'unread-body-kept',
    file: 'lib/http/exchange.js',
    find: 'if (req[kEndHeld] !== true) dumpUnread(req)',
    replace: '',
  },
  {
    name: 'answered-body-lost',
    file: 'lib/http/exchange.js',
    find: 'if (req === null || isDumped(req)) {',
    replace: 'if (req === null || isDumped(req) || socket._httpMessage === null) {',
  },
  {
    name: 'complete-untold',
    file: 'lib/http/exchange.js',
    find: 'function complete (req, res) {\n  req.complete = true',
    replace: 'function complete (req, res) {',
  },
  {
    name: 'held-end-lost',
    file: 'lib/http/exchange.js',
    find: 'flushHeldEnd(req)\n      dumpUnconsumed(req)',
    replace: 'dumpUnconsumed(req)',
  },

  {
    name: 'finish-before-its-state',
    file: 'lib/http/outgoing.js',
    find: 'this.finished = true\n    this._finish()',
    replace: 'this._finish()\n    setImmediate(() => { this.finished = true })',
  },

  {
    name: 'finish-queued-late',
    file: 'lib/http/outgoing.js',
    find: 'nodeProcess.nextTick(emitFinish, this)\n    this.finished = true\n    this._finish()',
    replace: 'this.finished = true\n    this._finish()\n    nodeProcess.nextTick(emitFinish, this)',
  },

  // Reading.
  {
    name: 'body-before-its-reader',
    file: 'lib/http/exchange.js',
    find: '    res = deliver(server, socket, req, flags)\n  } finally {',
    replace: '    if (body !== null) req.push(body)\n    res = deliver(server, socket, req, flags)\n    body = null\n  } finally {',
  },
  {
    name: 'resume-without-credit',
    file: 'lib/http/socket.js',
    find: 'this[kState] &= ~State.kReadPaused\n      acknowledge(this)',
    replace: 'this[kState] &= ~State.kReadPaused',
  },
  {
    name: 'end-for-readers-only',
    file: 'lib/http/exchange.js',
    find: 'resource.runInAsyncScope(pushEnd, undefined, req)',
    replace: "if (req.listenerCount('data') !== 0) resource.runInAsyncScope(pushEnd, undefined, req)",
  },

  {
    name: 'sent-block-unheard',
    file: 'lib/http/connection.js',
    find: 'else blockDone(sent.write, id)',
    replace: '',
  },
  {
    name: 'credit-lost',
    file: 'lib/http/connection.js',
    find: 'if ((socket[kState] & State.kStream) === 0) return resumeWrite(socket)',
    replace: 'if ((socket[kState] & State.kStream) === 0) return',
  },

  // Pipelining.
  {
    name: 'turns-ignored',
    file: 'lib/http/exchange.js',
    find: 'if (answerOf(socket)) queue(socket, res)\n  else assign(socket, res)',
    replace: 'assign(socket, res)',
  },
  {
    name: 'socket-untold',
    file: 'lib/http/exchange.js',
    find: "if (isHeard(res)) res.emit('socket', socket)",
    replace: '',
  },
  {
    name: 'closing-answer-forgotten',
    file: 'lib/http/exchange.js',
    find: 'if (isLast(this)) {\n    socket.destroySoon()',
    replace: 'if (isLast(this) && !hasNext) {\n    socket.destroySoon()',
  },
]
