/** Every undocumented member of Node that this package uses. lib/node/node-internals.js checks them. */
export interface NodeInternals {
  /** `response[kNeedDrain]`: write() returned false, 'drain' is owed. */
  kNeedDrain: symbol
  /** `response[kOutHeaders]`: null, or `[name, value]` by lower-case name. */
  kOutHeaders: symbol
  /** `response[kCorked]`: corks taken before the response had a socket. */
  kCorked: symbol
  /** `response[kWritableFinished]`: what writableFinished says. Since Node 24; before, it is worked out. */
  kWritableFinished: symbol | null
  /** `response[kEndCallbacks]`: null, or callbacks of end() to be called at 'finish'. Since Node 24. */
  kEndCallbacks: symbol | null
  /** `request[kDetachAbortSignal]()`: `request.signal` no longer aborts when the connection closes. Since Node 24. */
  kDetachAbortSignal: symbol | null
  /** `response[kRejectNonStandardBodyWrites]`: createServer's option of that name. */
  kRejectNonStandardBodyWrites: symbol
  /** `server[kUniqueHeaders]` and `response[kUniqueHeaders]`: createServer's `uniqueHeaders`. */
  kOutgoingUniqueHeaders: symbol
  /** `server[kOptimizeEmptyRequests]`: createServer's `optimizeEmptyRequests`. Since Node 24. */
  kOptimizeEmptyRequests: symbol | null
  /** `emitter[kShapeMode]`: `_events` was there before EventEmitter's constructor, and keeps its keys. Since Node 20. */
  kShapeMode: symbol | null
  /** `OutgoingMessage.prototype.setHeader`, which puts `[name, value]` into `[kOutHeaders]`; null: somebody has replaced it. */
  setHeader: Function | null
  /** `OutgoingMessage.prototype._isLenientHeaderValidation()`: whether headers may have what only a lenient parser takes. Node 26, releases of 24; else null. */
  isLenientHeaderValidation: Function | null
  /** Whether createServer has `httpValidation`, beside `insecureHTTPParser`: Node 26 and releases of 24 do. */
  knowsHttpValidation: boolean
  /** `OutgoingMessage.prototype.write`; null: somebody has replaced it. */
  write: Function | null
  /** `OutgoingMessage.prototype.end`; null: somebody has replaced it. */
  end: Function | null
  /** `IncomingMessage.prototype._addHeaderLine(field, value, headers)`: one line into `headers`; null as above. */
  addHeaderLine: Function | null
  /** Whether closeIdleConnections() closes connections that have not begun a request: Node 26 does. */
  closesUnserved: () => boolean
  /** Whether responses behind an unfinished one are destroyed with their connection: since Node 24. */
  destroysQueued: () => boolean
  /** Whether more headers than maxHeadersCount are answered 431: releases from 22.23, 24.21 and 26.10 on do, or some before them. */
  refusesManyHeaders: boolean
  /** Whether AsyncLocalStorage keeps its values beside the async resource: since Node 24. */
  contextsAreFrames: () => boolean
  /** Copies `requestCert`, `server[kSNICallback]` and what else only the constructor of a tls.Server sets. */
  copyTlsSettings: (from: object, to: object) => void
  /** Whether `server.maxConnections = 0` drops every connection: since Node 21; before, it is no limit. */
  zeroIsALimit: boolean
  /** Sets `stream._readableState.reading` to false: no _read() is pending. */
  forgetRead: (stream: object) => void
  /** `server[kHandshakeTimeout]` of a tls.Server. */
  handshakeTimeoutOf: (server: object) => number
  /** `server[kSNICallback]` of a tls.Server. */
  sniCallbackOf: (server: object) => Function | undefined
  /** `http._connectionListener`: Node's own way of serving a socket. */
  connectionListener: Function
  /** `net._createServerHandle`: binds as net.Server does. */
  createServerHandle: Function
  /** In a worker, `cluster._getServer(server, query, (errno, handle) => {})`: asks the primary for a handle, as net.Server does. */
  queryPrimary: Function | null
  /** `process._tickCallback`, or null where Node no longer has it. */
  drainTicks: (() => void) | null
}
