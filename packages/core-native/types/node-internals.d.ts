/** Undocumented members of an http.IncomingMessage. lib/node/private-members.js checks that Node has them, and those below. */
export interface PrivateRequest {
  /** Somebody has begun to read it. */
  _consuming: boolean
  /** What comes of its body is thrown away. */
  _dumped: boolean
  /** How many events have listeners. */
  _eventsCount: number
  readonly readableFlowing: boolean | null
  _readableState: ReadableState
  /** Adds one line to headers; overridden to see the fields that matter here. */
  _addHeaderLine (field: string, value: string, headers: object): void
  /** Makes headers, or trailers, of the first `count` entries of rawHeaders. */
  _addHeaderLines (raw: string[], count: number): void
  /** Throws the rest of its body away. */
  _dump (): void
}

/** Of a stream.Readable. */
export interface ReadableState {
  /** Bytes that wait to be read. */
  length: number
  /** _read() was called and nothing was pushed since. */
  reading: boolean
  /** It begins to flow in the next tick. */
  resumeScheduled: boolean
  ended: boolean
  endEmitted: boolean
  destroyed: boolean
  closed: boolean
  closeEmitted: boolean
}

/** Of a stream.Writable. */
export interface WritableState {
  ending: boolean
  ended: boolean
  finished: boolean
  destroyed: boolean
  closed: boolean
  closeEmitted: boolean
}

/** Undocumented members of an http.ServerResponse. */
export interface PrivateResponse {
  destroyed: boolean
  /** 'close' was emitted. */
  _closed: boolean
  /** Bytes of the body, once end() knows them; null before. */
  _contentLength: number | null
  _events: object
  _eventsCount: number
  /** Its request waits for a 100. */
  _expect_continue: boolean
  /** False where a body is not allowed, such as to HEAD. */
  _hasBody: boolean
  /** The head as text; null before it is made. */
  _header: string | null
  _headerSent: boolean
  /** What the head says about the connection. */
  _keepAliveTimeout: number
  _maxRequestsPerSocket: number | null
  /** The connection ends with it. */
  _last: boolean
  /** Hears how its unsent bytes change while it waits for its turn. */
  _onPendingData: (delta: number) => void
  /** Trailers as text. */
  _trailer: string
  /** Counts it as finished for diagnostics. */
  _finish (): void
  /** Writes what it kept while it had no socket. */
  _flush (): void
  /** Makes the head of what was set so far. */
  _implicitHeader (): void
  /** Writes the head, and text behind it; what the stock methods write with. */
  _send (data: any, encoding?: any, callback?: any): boolean
}

/** Undocumented members of a net.Socket. */
export interface PrivateSocket {
  /** The server whose 'request' listeners serve it. */
  server: any
  _bytesDispatched: number
  _events: object
  _eventsCount: number
  /** It was destroyed with an error. */
  _hadError: boolean
  /** What stands for the descriptor. */
  _handle: any
  /** The host that it was to connect to. */
  _host: string | null
  /** The response whose turn it is. */
  _httpMessage: any
  _maxListeners: number | undefined
  _parent: any
  /** The http module does not read it. */
  _paused: boolean
  _readableState: ReadableState
  /** The server that counts it. */
  _server: any
  _writableState: WritableState
  _getpeername (): object
  _getsockname (): object
  /** Begins the time anew after which 'timeout' comes. */
  _unrefTimer (): void
}

/** Undocumented members of an http.Server. */
export interface PrivateServer {
  /** Its open connections. */
  _connections: number
  /** What it listens on. */
  _handle: any
  /** Emits 'close' when it does not listen and has no connections. */
  _emitCloseIfDrained (): void
  /** What listen() ends in: makes the handle, and begins to listen. */
  _listen2 (...args: any[]): void
}

/** Undocumented members of a tls.Server, of its contexts and of a tls.TLSSocket. */
export interface PrivateTls {
  /** Of a tls.Server: what addContext() has added. */
  _contexts: [RegExp, any][]
  /** Of a tls.Server: the context of setSecureContext(). */
  _sharedCreds: any
  /** Of the handle in a tls.SecureContext: OpenSSL's context. */
  _external: unknown
  /** Of a tls.TLSSocket: the handshake is over. */
  _secureEstablished: boolean
}

/** Functions, symbols and behaviour of Node that are not documented. lib/node/node-internals.js checks them. */
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
