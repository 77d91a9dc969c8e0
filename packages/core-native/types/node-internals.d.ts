import type { Cluster } from 'node:cluster'
import type * as fs from 'node:fs'
import type * as http from 'node:http'
import type { Duplex } from 'node:stream'
import type * as tls from 'node:tls'

/** Symbols of Node; NodeInternals says what each one is of. */
export declare const kNeedDrain: unique symbol
export declare const kOutHeaders: unique symbol
export declare const kCorked: unique symbol
export declare const kWritableFinished: unique symbol
export declare const kEndCallbacks: unique symbol
export declare const kDetachAbortSignal: unique symbol
export declare const kRejectNonStandardBodyWrites: unique symbol
export declare const kOutgoingUniqueHeaders: unique symbol
export declare const kOptimizeEmptyRequests: unique symbol
export declare const kShapeMode: unique symbol
export declare const kFs: unique symbol

/** Undocumented members of an http.IncomingMessage. lib/node-private/private-members.js checks that Node has them, and those below. */
export interface PrivateRequest {
  /** The option of that name of its server; null: it is not set. */
  joinDuplicateHeaders: boolean | null
  /** It asks for an upgrade, and the server accepts that. */
  upgrade: boolean
  /** Somebody has begun to read it. */
  _consuming: boolean
  /** What comes of its body is thrown away. */
  _dumped: boolean
  /** How many events have listeners. */
  _eventsCount: number
  readonly readableFlowing: boolean | null
  _readableState: ReadableState
  /** Adds one line to headers; overridden to see the fields that matter here. */
  _addHeaderLine (field: string, value: string, headers: Record<string, string | string[]>): void
  /** Makes headers, or trailers, of the first `count` entries of rawHeaders. */
  _addHeaderLines (raw: string[], count: number): void
  /** Throws the rest of its body away. */
  _dump (): void
}

/** Undocumented members of an EventEmitter. */
export interface PrivateEmitter extends NodeJS.EventEmitter {
  /** Its listeners by event. */
  _events: object
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

/** What a stream of a file calls to open, read and close it. */
export interface FileOperations {
  open (path: string | Buffer, flags: string | number, mode: number, callback: (error: Error | null, fd?: number) => void): void
  read (fd: number, buffer: NodeJS.ArrayBufferView, offset: number, length: number, position: number | null | undefined,
    callback: (error: NodeJS.ErrnoException | null, bytes: number, buffer: NodeJS.ArrayBufferView) => void): void
  close (fd: number, callback: (error: Error | null) => void): void
  /** Sets `shownFd`, for hideDescriptor(). */
  show?: () => void
  /** The descriptor of a stream as the application has it; undefined: nobody has asked. */
  shownFd?: number | null
}

/** Undocumented members of an fs.ReadStream, and documented ones that it is compared by. lib/node-private/file-stream.js looks for them. */
export interface PrivateFileStream extends fs.ReadStream {
  /** What it opens, reads and closes its file with: node:fs, or what `options.fs` says. */
  [kFs]: FileOperations | typeof fs
  /** Null before the file is open, and after it was closed. */
  fd: number | null
  flags?: string | number
  /** The last byte, or Infinity. */
  end: number
  /** Of the next byte to be read; undefined: the descriptor's own. */
  pos: number | undefined
  /** Node 20 to 24. */
  open: unknown
  _readableState: ReadableState & {
    /** It destroys itself when it has ended, which closes the file. */
    autoDestroy: boolean
    /** Bytes have been read: what readableDidRead tells. */
    dataEmitted: boolean
    /** 'close' comes when the file is closed. */
    emitClose: boolean
    /** What it is piped into. */
    pipes: unknown[]
  }
  _construct: unknown
  _destroy (error: Error | null, callback: (error?: Error | null) => void): void
  _read (bytes: number): void
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
  /** Its body goes in chunks. Known once the head is made. */
  chunkedEncoding: boolean
  /** The connection has had as many requests as maxRequestsPerSocket allows. */
  maxRequestsOnConnectionReached?: boolean
  /** What it keeps until it has a socket. */
  outputData: { data: string | Uint8Array, encoding: BufferEncoding | null, callback: ((error?: Error | null) => void) | null }[]
  /** Bytes that it counts as not sent. */
  outputSize: number
  /** The connection may go on after it. */
  shouldKeepAlive: boolean
  /** A body of unknown length goes in chunks. */
  useChunkedEncodingByDefault: boolean
  /** Gives it the socket: it is its turn. */
  assignSocket (socket: object): void
  /** Takes the socket from it. */
  detachSocket (socket: object): void
  /** Counts it as finished for diagnostics. */
  _finish (): void
  /** Writes what it kept while it had no socket. */
  _flush (): void
  /** Whether headers may have what only a lenient parser takes. */
  _isLenientHeaderValidation (this: http.OutgoingMessage): boolean
  /** Makes the head of what was set so far. */
  _implicitHeader (): void
  /** Writes the head, and text behind it; what the stock methods write with. */
  _send (data: string | Uint8Array, encoding?: BufferEncoding | null, callback?: (() => void) | null): boolean
}

/** Undocumented members of a net.Socket. */
export interface PrivateSocket {
  /** The server whose 'request' listeners serve it. */
  server: unknown
  _bytesDispatched: number
  _events: object
  _eventsCount: number
  /** It was destroyed with an error. */
  _hadError: boolean
  /** What stands for the descriptor. */
  _handle: { close (closed: () => void): void, reset? (closed: () => void): number } | null
  /** The host that it was to connect to. */
  _host: string | null
  /** The response whose turn it is. */
  _httpMessage: unknown
  _maxListeners: number | undefined
  /** Pieces that its stream was given and has not written. */
  readonly writableBuffer?: { chunk: string | Uint8Array, encoding: BufferEncoding }[]
  /** What it is a part of, of a TLSSocket over another stream; null. */
  _parent: unknown
  /** The http module does not read it. Only set, as Node sets it. */
  _paused: boolean
  _readableState: ReadableState
  /** The server that counts it. */
  _server: unknown
  _writableState: WritableState
  _getpeername (): object
  _getsockname (): object
  /** Called when the time of setTimeout() is over: emits 'timeout', unless some of the write that is on its way has left meanwhile. */
  _onTimeout (): void
  /** Begins the time anew after which 'timeout' comes. */
  _unrefTimer (): void
}

/** A socket that an http.Server of Node's serves. */
export interface ParsedConnection {
  /** What reads it; absent once the connection is closed. */
  parser?: {
    /** Hears of each head; the number tells the parser how to go on. */
    onIncoming: (req: http.IncomingMessage & { upgrade: boolean }) => number
  } | null
}

/** Undocumented members of an http.Server: of them, those without an underscore are options of createServer() as it keeps them. */
export interface PrivateServer {
  connectionsCheckingInterval: number
  highWaterMark: number
  /** Not an option: a connection stays open that its client has ended. */
  httpAllowHalfOpen?: boolean
  /** Since Node 26, and releases of 24. */
  httpValidation?: string
  insecureHTTPParser?: boolean
  joinDuplicateHeaders?: boolean
  keepAlive?: boolean
  keepAliveInitialDelay?: number
  maxHeaderSize?: number
  noDelay?: boolean
  rejectNonStandardBodyWrites: boolean
  requireHostHeader: boolean
  /** Since Node 22.21. */
  shouldUpgradeCallback?: (req: http.IncomingMessage) => unknown
  /** Its open connections. */
  _connections: number
  /** What it listens on; null or undefined: it does not listen. */
  _handle: ListenHandle | null | undefined
  /** Emits 'close' when it does not listen and has no connections. */
  _emitCloseIfDrained (): void
  /** What listen() ends in: makes the handle, and begins to listen. */
  _listen2 (address: string | null, port: number | null, addressType: number | null, backlog: number, fd?: number, flags?: number): void
}

/** What a server listens on: a handle of libuv, one that node:cluster sends, or what stands for one (lib/listen). */
export interface ListenHandle {
  /** Below 0, or absent: it is no socket of this process. */
  readonly fd?: number
  close (closed?: () => void): void
  /** Tells address, family and port; 0 or a negative errno. */
  getsockname? (out: { address?: string, family?: string, port?: number }): number
  hasRef (): boolean
  /** 0 or a negative errno. */
  listen (backlog: number): number
  ref? (): void
  unref (): void
}

/** The handle of a context: what tls.SecureContext has as its `context`. */
export interface ContextHandle {
  /** OpenSSL's context. Looked for when a context is used: lib/node-private/tls.js says why. */
  readonly _external?: unknown
  getCertificate (): Buffer | null
  getIssuer (): Buffer | null
}

/** Undocumented members of a tls.Server, and settings of its that Node has as properties. */
export interface PrivateTlsServer extends tls.Server, tls.SecureContextOptions,
  Pick<tls.TlsOptions, 'ALPNCallback' | 'ALPNProtocols' | 'rejectUnauthorized' | 'requestCert' | 'sessionTimeout' | 'ticketKeys'> {
  /** What addContext() has added. */
  _contexts: [pattern: RegExp, context: ContextHandle | tls.SecureContext][]
  /** The context of setSecureContext(). */
  _sharedCreds?: tls.SecureContext
}

/** Of a tls.TLSSocket. */
export interface PrivateTlsSocket {
  /** The handshake is over. */
  _secureEstablished: boolean
  /** Emits '_tlsError'. Returns the error once the handshake is over, null before. */
  _tlsError (error: Error): Error | null
}

/** What Node asks a primary of node:cluster. */
export interface PrimaryQuery {
  address: string | null
  port: number
  addressType: number
  fd?: number
  flags?: number
  backlog?: number
}

/** Functions, symbols and behaviour of Node that are not documented. lib/node-private/node-internals.js checks them. */
export interface NodeInternals {
  /** `response[kNeedDrain]`: write() returned false, 'drain' is owed. */
  kNeedDrain: typeof kNeedDrain
  /** `response[kOutHeaders]`: null, or `[name, value]` by lower-case name. */
  kOutHeaders: typeof kOutHeaders
  /** `response[kCorked]`: corks taken before the response had a socket. */
  kCorked: typeof kCorked
  /** `response[kWritableFinished]`: what writableFinished says. Since Node 24; before, it is worked out. */
  kWritableFinished: typeof kWritableFinished | null
  /** `response[kEndCallbacks]`: null, or callbacks of end() to be called at 'finish'. Since Node 24. */
  kEndCallbacks: typeof kEndCallbacks | null
  /** `request[kDetachAbortSignal]()`: `request.signal` no longer aborts when the connection closes. Since Node 24. */
  kDetachAbortSignal: typeof kDetachAbortSignal | null
  /** `response[kRejectNonStandardBodyWrites]`: createServer's option of that name. */
  kRejectNonStandardBodyWrites: typeof kRejectNonStandardBodyWrites
  /** `server[kUniqueHeaders]` and `response[kUniqueHeaders]`: createServer's `uniqueHeaders`. */
  kOutgoingUniqueHeaders: typeof kOutgoingUniqueHeaders
  /** `server[kOptimizeEmptyRequests]`: createServer's `optimizeEmptyRequests`. Since Node 24. */
  kOptimizeEmptyRequests: typeof kOptimizeEmptyRequests | null
  /** `emitter[kShapeMode]`: `_events` was there before EventEmitter's constructor, and keeps its keys. Since Node 20. */
  kShapeMode: typeof kShapeMode | null
  /** `OutgoingMessage.prototype.setHeader`, which puts `[name, value]` into `[kOutHeaders]`; null: somebody has replaced it. */
  setHeader: http.OutgoingMessage['setHeader'] | null
  /** `OutgoingMessage.prototype._isLenientHeaderValidation()`: whether headers may have what only a lenient parser takes. Node 26, releases of 24; else null. */
  isLenientHeaderValidation: ((this: http.OutgoingMessage) => boolean) | null
  /** Whether createServer has `httpValidation`, beside `insecureHTTPParser`: Node 26 and releases of 24 do. */
  knowsHttpValidation: boolean
  /** `OutgoingMessage.prototype.write`; null: somebody has replaced it. */
  write: http.OutgoingMessage['write'] | null
  /** `OutgoingMessage.prototype.end`; null: somebody has replaced it. */
  end: http.OutgoingMessage['end'] | null
  /** `IncomingMessage.prototype._addHeaderLine(field, value, headers)`: one line into `headers`; null as above. */
  addHeaderLine: ((this: { joinDuplicateHeaders: boolean | null }, field: string, value: string, headers: Record<string, string | string[]>) => void) | null
  /** Whether closeIdleConnections() closes connections that have not begun a request: Node 26 does. */
  closesUnserved: () => boolean
  /** Whether responses behind an unfinished one are destroyed with their connection: since Node 24. */
  destroysQueued: () => boolean
  /** Whether more headers than maxHeadersCount are answered 431: releases from 22.23, 24.21 and 26.10 on do, or some before them. */
  refusesManyHeaders: boolean
  /** Whether AsyncLocalStorage keeps its values beside the async resource: since Node 24. */
  contextsAreFrames: () => boolean
  /** Copies `requestCert`, `server[kSNICallback]` and what else only the constructor of a tls.Server sets. */
  copyTlsSettings: (from: tls.Server, to: tls.Server) => void
  /** Whether `server.maxConnections = 0` drops every connection: since Node 21; before, it is no limit. */
  zeroIsALimit: boolean
  /** `server[kHandshakeTimeout]` of a tls.Server. */
  handshakeTimeoutOf: (server: tls.Server) => number
  /** `server[kSNICallback]` of a tls.Server. */
  sniCallbackOf: (server: tls.Server) => tls.TlsOptions['SNICallback']
  /** `http._connectionListener`: Node's own way of serving a socket. */
  connectionListener: (this: http.Server, socket: Duplex) => void
  /** `net._createServerHandle`: binds as net.Server does. */
  createServerHandle: (address: string | null, port: number | null, addressType: number | null, fd?: number, flags?: number) => ListenHandle | number
  /** In a worker, `cluster._getServer(server, query, (errno, handle) => {})`: asks the primary for a handle, as net.Server does. */
  queryPrimary: ((this: Cluster, server: http.Server, query: PrimaryQuery, callback: (status: unknown, handle: unknown) => void) => void) | null
  /** `process._tickCallback`, or null where Node no longer has it. */
  drainTicks: (() => void) | null
}
