'use strict'

/** @type {import('.').Mutation[]} */
module.exports = [
  {
    name: 'probe-stays',
    file: 'lib/node-private/node-internals.js',
    find: 'storage.disable()\n  resource.emitDestroy()',
    replace: 'storage.disable()',
  },
  {
    name: 'server-resource-twice',
    file: 'lib/listen/listener.js',
    find: '(this.listening === 0 && this.isResourceUsed)',
    replace: 'this.listening === 0',
  },
  {
    name: 'server-resource-stays',
    file: 'lib/listen/listener.js',
    find: 'this.resource.emitDestroy()',
    replace: '',
  },
  {
    name: 'idle-end-elsewhere',
    file: 'lib/listen/server.js',
    find: 'socket[kEndsIn] = endsIn ??= captureContext()',
    replace: 'socket[kEndsIn] = null',
  },
  {
    name: 'end-in-the-last-domain',
    file: 'lib/http/outside.js',
    find: 'for (let domain; (domain = /** @type {ProcessInDomain} */ (nodeProcess).domain);) {',
    replace: 'for (let domain; false;) {',
  },
  {
    name: 'socket-in-a-domain',
    file: 'lib/http/outside.js',
    find: 'return /** @type {ProcessInDomain} */ (nodeProcess).domain ? runOutside(',
    replace: 'return false ? runOutside(',
  },
  {
    name: 'one-context-for-all',
    file: 'lib/http/exchange.js',
    find: 'const resource = listener.resource.runInAsyncScope(newResource)',
    replace: 'const resource = listener.shared ??= listener.resource.runInAsyncScope(newResource)',
  },
  {
    name: 'finish-in-another-context',
    file: 'lib/http/outgoing.js',
    find: 'nodeProcess.nextTick(emitFinish, this)',
    replace: 'this.req[Object.getOwnPropertySymbols(this.req).find((key) => key.description === "httpsys.resource")].runInAsyncScope(nodeProcess.nextTick, nodeProcess, emitFinish, this)',
  },
  {
    name: 'requests-without-the-server-context',
    file: 'lib/http/exchange.js',
    find: 'const resource = listener.resource.runInAsyncScope(newResource)',
    replace: 'const resource = newResource()',
  },
  {
    name: 'connections-without-the-server-context',
    file: 'lib/http/connection.js',
    find: "server[kListener].resource.runInAsyncScope(server.emit, server, 'connection', socket)",
    replace: "server.emit('connection', socket)",
  },
  {
    name: 'pieces-without-context',
    file: 'lib/http/exchange.js',
    find: 'resource.runInAsyncScope(pushBody, undefined, socket, req, chunk)',
    replace: 'pushBody(socket, req, chunk)',
  },
  {
    name: 'end-without-context',
    file: 'lib/http/exchange.js',
    find: 'resource.runInAsyncScope(pushEnd, undefined, req)',
    replace: 'pushEnd(req)',
  },
  {
    name: 'requests-without-resource',
    file: 'lib/http/exchange.js',
    find: 'resource.runInAsyncScope(begin, undefined, server, socket, req, flags, null)',
    replace: 'begin(server, socket, req, flags, null)',
  },
  {
    name: 'resources-not-destroyed',
    file: 'lib/http/exchange.js',
    find: 'nodeProcess.nextTick(afterFinish, req, this)',
    replace: 'req[kResourceEnded] = true\n  nodeProcess.nextTick(afterFinish, req, this)',
  },
  {
    name: 'thrown-into-nothing',
    file: 'lib/backend/engine.js',
    find: 'this.handlers.thrown(() => throwOn(thrower, loadBinding().fatalException), isTick)',
    replace: '',
  },
  {
    name: 'thrown-without-context',
    file: 'lib/http/exchange.js',
    find: 'if (isTicks || current === null) return report()',
    replace: 'return report()',
  },
  {
    name: 'request-not-emitted',
    file: 'lib/http/exchange.js',
    find: 'alignment.looks\n  emitRequest(server, req, res)',
    replace: "alignment.looks\n  for (const listener of server.listeners('request')) listener.call(server, req, res)",
  },
  {
    name: 'no-ticks-before-the-end',
    file: 'lib/http/exchange.js',
    find: 'drainTicks?.()',
    replace: '',
  },
  {
    name: 'start-not-published',
    file: 'lib/http/exchange.js',
    find: 'if (requestStart.hasSubscribers)',
    replace: 'if (false)',
  },
  {
    name: 'created-published-by-us',
    file: 'lib/http/exchange.js',
    find: '  if (requestStart.hasSubscribers) requestStart.publish(',
    replace: "  diagnosticsChannel.channel('http.server.response.created').publish({ request: req, response: res })\n" +
      '  if (requestStart.hasSubscribers) requestStart.publish(',
  },
  {
    name: 'finish-not-published',
    file: 'lib/http/exchange.js',
    find: 'if (responseFinish.hasSubscribers)',
    replace: 'if (false)',
  },
  {
    name: 'sockets-not-published',
    file: 'lib/http/connection.js',
    find: 'if (netServerSocket.hasSubscribers)',
    replace: 'if (false)',
  },
  {
    name: 'entries-without-end',
    file: 'lib/http/outgoing.js',
    find: 'this._finish()',
    replace: "this.emit('prefinish')",
  },
  {
    name: 'informational-dropped',
    file: 'lib/http/socket-output.js',
    find: 'if (chunk.length === 0) continue',
    replace: "if (chunk.length === 0 || chunk.toString('latin1').startsWith('HTTP/1.1 1')) continue",
  },
  {
    name: 'flushed-heads-come-again',
    file: 'lib/http/outgoing.js',
    find: 'const bytes = this._headerSent',
    replace: 'const bytes = this._headerSent && this.chunkedEncoding',
  },
  {
    name: 'flush-waits',
    file: 'lib/http/socket-output.js',
    find: 'if (chunk.length === 0) continue',
    replace: "if (chunk.length === 0) continue\n    if (socket._httpMessage && !socket._httpMessage.finished && chunk.toString('latin1').endsWith('\\r\\n\\r\\n')) {\n      socket._httpMessage.once('prefinish', () => send(socket, { ...write, chunks: [{ chunk, encoding }], next: 0, callback () {} }))\n      continue\n    }",
  },
  {
    name: 'trailers-forgotten',
    file: 'lib/http/outgoing.js',
    find: "this._trailer !== '' || isLongHead(this)",
    replace: 'isLongHead(this)',
  },
  {
    name: 'corks-overtaken',
    file: 'lib/http/short-way.js',
    find: 'return socket.writable && socket.writableLength === 0 && socket.writableCorked === 0',
    replace: 'return socket.writable',
  },
]
