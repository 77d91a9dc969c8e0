'use strict'

const kEmitRequest = 'emitRequest(server, req, res)\n  if (alignment'

/** @type {import('.').Mutation[]} */
module.exports = [
  // The classes of requests and responses.
  {
    name: 'end-told-by-method',
    file: 'lib/http/exchange.js',
    find: 'tellEnd(socket, isLast(this), !hasNext)',
    replace: '',
  },
  {
    name: 'requests-of-their-own-chain',
    file: 'lib/http/incoming.js',
    find: 'EngineIncomingMessage.prototype = Methods.prototype',
    replace: `EngineIncomingMessage.prototype = Object.create(require('node:stream').Readable.prototype, {
  ...Object.getOwnPropertyDescriptors(http.IncomingMessage.prototype), ...Object.getOwnPropertyDescriptors(Methods.prototype)
})`,
  },
  {
    name: 'responses-of-their-own-chain',
    file: 'lib/http/outgoing.js',
    find: 'EngineServerResponse.prototype = Methods.prototype',
    replace: `EngineServerResponse.prototype = Object.create(http.OutgoingMessage.prototype, {
  ...Object.getOwnPropertyDescriptors(ServerResponse.prototype), ...Object.getOwnPropertyDescriptors(Methods.prototype)
})`,
  },
  {
    name: 'request-class-name',
    file: 'lib/http/incoming.js',
    find: 'value: http.IncomingMessage, writable',
    replace: 'value: class Other {}, writable',
  },
  {
    name: 'response-class-name',
    file: 'lib/http/outgoing.js',
    find: 'value: http.ServerResponse, writable',
    replace: 'value: class Other {}, writable',
  },
  {
    name: 'field-in-the-open',
    file: 'lib/http/incoming.js',
    find: 'this[kEndHeld] = false',
    replace: 'this.endHeld = false',
  },
  {
    name: 'request-class-ignored',
    file: 'lib/listen/listener.js',
    find: 'options.IncomingMessage || EngineIncomingMessage',
    replace: 'EngineIncomingMessage',
  },
  {
    name: 'response-class-ignored',
    file: 'lib/listen/listener.js',
    find: 'options.ServerResponse || EngineServerResponse',
    replace: 'EngineServerResponse',
  },
  {
    name: 'classes-replaced',
    file: 'register.js',
    find: 'register()\n\nmodule.exports',
    replace: `http.ServerResponse = class ServerResponse extends http.ServerResponse {}
http.IncomingMessage = class IncomingMessage extends http.IncomingMessage {}
register()

module.exports`,
  },
  {
    name: 'assign-past-the-method',
    file: 'lib/http/exchange.js',
    find: '!assignsAsNode(res) || ',
    replace: '',
  },
  {
    name: 'detach-past-the-method',
    file: 'lib/http/exchange.js',
    find: '!detachesAsNode(res) || ',
    replace: '',
  },
  {
    name: 'patched-end-bypassed',
    file: 'lib/http/outgoing.js',
    find: 'if (super.end !== stockEnd) return Reflect.apply(super.end, this, given(chunk, encoding, callback))',
    replace: '',
  },
  {
    name: 'set-header-of-load',
    file: 'lib/http/outgoing.js',
    find: '  setHeader (name, value) {',
    replace: `  static stock = http.OutgoingMessage.prototype.setHeader
  setHeader (name, value) {
    return Methods.stock.call(this, name, value)`,
  },
  {
    name: 'patched-header-line-bypassed',
    file: 'lib/http/incoming.js',
    find: 'inherited === stockAddHeaderLine ? rules.get(field) ?? learnRule(field) : undefined',
    replace: 'rules.get(field) ?? learnRule(field)',
  },

  // The class of servers, and its events.
  {
    name: 'server-needs-new',
    file: 'lib/listen/server.js',
    find: 'if (!(this instanceof Server)) return new Server(options, requestListener)',
    replace: 'if (!(this instanceof Server)) throw new TypeError("Class constructor Server cannot be invoked without \'new\'")',
  },
  {
    name: 'server-by-new-target',
    file: 'lib/listen/server.js',
    find: 'if (!(this instanceof Server)) return',
    replace: 'if (new.target === undefined) return',
  },
  {
    name: 'older-servers-no-instances',
    file: 'register.js',
    find: 'if (face !== undefined) return value instanceof face.StockServer',
    replace: '',
  },
  {
    name: 'handler-called-directly',
    file: 'lib/http/exchange.js',
    find: kEmitRequest,
    replace: "for (const listener of server.listeners('request')) listener.call(server, req, res)\n  if (alignment",
  },
  {
    name: 'listeners-kept',
    file: 'lib/http/exchange.js',
    find: kEmitRequest,
    replace: "for (const handler of (listener.kept ??= server.listeners('request'))) handler.call(server, req, res)\n  if (alignment",
  },
  {
    name: 'this-lost',
    file: 'lib/http/exchange.js',
    find: kEmitRequest,
    replace: "for (const listener of server.listeners('request')) listener(req, res)\n  if (alignment",
  },
  {
    name: 'connection-past-emit',
    file: 'lib/http/connection.js',
    find: "runInAsyncScope(server.emit, server, 'connection', socket)",
    replace: "runInAsyncScope(require('node:events').prototype.emit, server, 'connection', socket)",
  },
  {
    name: 'connection-not-announced',
    file: 'lib/http/connection.js',
    find: "server[kListener].resource.runInAsyncScope(server.emit, server, 'connection', socket)",
    replace: '',
  },

  // Sockets.
  {
    name: 'server-named-late',
    file: 'lib/http/connection.js',
    find: "server[kListener].resource.runInAsyncScope(server.emit, server, 'connection', socket)",
    replace: `socket.server = undefined
  server.emit('connection', socket)
  socket.server = server`,
  },
  {
    name: 'server-behind-a-copy',
    file: 'lib/http/socket.js',
    find: 'this.server = /** @type {EngineServer} */ (server)',
    replace: 'this.server = server && Object.create(server)',
  },
  {
    name: 'socket-per-request',
    file: 'lib/http/exchange.js',
    find: 'new listener.IncomingMessage(socket)',
    replace: 'new listener.IncomingMessage(Object.create(socket))',
  },
  {
    name: 'close-unheard',
    file: 'lib/http/socket.js',
    find: 'connectionClosed(socket)\n    closed()',
    replace: 'connectionClosed(socket)',
  },
  {
    name: 'message-cleared-late',
    file: 'lib/http/exchange.js',
    find: 'setAnswer(socket, null)\n  res.socket = null',
    replace: 'process.nextTick(() => { if (socket._httpMessage === res) socket._httpMessage = null })\n  res.socket = null',
  },
  {
    name: 'message-kept',
    file: 'lib/http/exchange.js',
    find: '  detach(socket, this)\n',
    replace: '',
  },
  {
    name: 'destroy-of-a-handler-lost',
    file: 'lib/http/socket.js',
    find: 'publish(this, kDestroy)',
    replace: '',
  },
  {
    name: 'last-connection-unnoticed',
    file: 'lib/http/socket-state.js',
    find: '  emitCloseIfDrained(server)\n',
    replace: '',
  },
  {
    name: 'close-all-forgets',
    file: 'lib/listen/server.js',
    find: 'for (const socket of sockets) socket.destroy()',
    replace: 'for (const socket of sockets) closeIfIdle(socket)',
  },
]
