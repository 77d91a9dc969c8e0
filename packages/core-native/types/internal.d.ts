/** What rooms of lib know of each other where one may not import the other (docs/internals/architecture.md#rooms). */

import type { AsyncResource } from 'node:async_hooks'
import type * as http from 'node:http'
import type * as https from 'node:https'
import type * as net from 'node:net'
import type * as tls from 'node:tls'
import type { Addresses, NearEnd } from '../lib/http/addresses'
import type { Alignment } from '../lib/http/alignment'
import type { StreamCredit } from '../lib/http/stream-credit'
import type { Listener } from '../lib/listen/listener'
import type { Prefixes } from '../lib/prefixes/prefixes'
import type { Lane } from '../lib/records/lane'
import type { ForeignFacts, TlsFacts } from '../lib/tls/facts'
import type { Hello, ServerTls } from '../lib/tls/server-tls'
import type { HelloAnswer } from './binding'
import type {
  kCorked, kDetachAbortSignal, kEndCallbacks, kNeedDrain, kOptimizeEmptyRequests, kOutHeaders, kOutgoingUniqueHeaders,
  kRejectNonStandardBodyWrites, kShapeMode, kWritableFinished, ListenHandle, PrivateRequest, PrivateResponse, PrivateServer, PrivateSocket, PrivateTlsServer
} from './node-internals'

export declare const kLane: unique symbol
export declare const kSlot: unique symbol
export declare const kState: unique symbol
export declare const kRemote: unique symbol
export declare const kIncoming: unique symbol
export declare const kReceiving: unique symbol
export declare const kOutgoing: unique symbol
export declare const kUnsent: unique symbol
export declare const kUnacknowledged: unique symbol
export declare const kHeldWrite: unique symbol
export declare const kRead: unique symbol
export declare const kWritten: unique symbol
export declare const kRequestCount: unique symbol
export declare const kOutgoingData: unique symbol
export declare const kOnClosed: unique symbol
export declare const kEndsIn: unique symbol
export declare const kUnref: unique symbol
export declare const kHoldsLoop: unique symbol
export declare const kRefusal: unique symbol
export declare const kChannel: unique symbol
export declare const kErrorListener: unique symbol
export declare const kParent: unique symbol
export declare const kTaken: unique symbol
export declare const kShared: unique symbol
export declare const kStreamAnswer: unique symbol
export declare const kStreamCredit: unique symbol
export declare const kTls: unique symbol
export declare const kTlsError: unique symbol
export declare const kOnCertificate: unique symbol
export declare const kResource: unique symbol
export declare const kResourceEnded: unique symbol
export declare const kStripped: unique symbol
export declare const kEndHeld: unique symbol
export declare const kBodyLimit: unique symbol
export declare const kCachePolicy: unique symbol
export declare const kEnded: unique symbol
export declare const kPipedFile: unique symbol
export declare const kOlder: unique symbol
export declare const kNewer: unique symbol
export declare const kBegin: unique symbol
export declare const kGiveToNode: unique symbol
export declare const kListener: unique symbol
export declare const kServedByNode: unique symbol

/** Runs a function where something was called before: in its AsyncLocalStorage and its domain. */
export type RunThere = <T>(run: () => T) => T

/** A server's Listener (lib/listen/listener.js), as far as lib/http uses it: lib/listen is above lib/http. */
export interface EngineListener {
  /** By which the engine knows the server; 0 when it does not. */
  id: number
  /** Open connections in HTTP mode. */
  sockets: Set<EngineSocket>
  prefixes: Prefixes
  /** Null: the server has no output cache. */
  cache: { readonly rules: string } | null
  /** The folders that the server serves. */
  statics: { readonly isEmpty: boolean }
  own: { maxRequestBodySize: number, maxRequestBodySizeCeiling: number, serverHeader: boolean }
  /** The application's own class, or ours. */
  IncomingMessage: new (socket: EngineSocket) => EngineRequest
  ServerResponse: new (req: EngineRequest, options: ResponseOptions) => EngineResponse
  /** Decides on our classes; null: the application has given its own. */
  alignment: Alignment | null
  methods: string[]
  /** Those of the next response. */
  responseOptions: ResponseOptions
  /** Of the connection opened last. */
  near: NearEnd | undefined
  /** The context of listen(). There before the first connection. */
  resource: AsyncResource
  /** An https.Server. */
  isSecure: boolean
  tls: EngineServerTls | null
  /** Ports on which others take over idle connections. */
  successorPorts: Set<number>
  /** Within server.close(). */
  isClosing: boolean
  /** From server.close() until the next listen() that succeeds. */
  isClosed: boolean
  /** How often it has listened again after close(). */
  timesReopened: number
  /** Whether idle connections end once it is closed. */
  endsIdle: boolean
  /** Closed, and requests of connections that JavaScript has not heard of may still come. */
  leaving: { holdsClose: boolean, endsIn: RunThere | null } | null
  /** Runs the end of the server, within the end of a connection that was begun elsewhere. */
  endsIn: RunThere | null
  /** Tells the lanes of settings that may have changed. */
  configure (): void
  /** A listen() has failed. */
  listenFailed (): void
  /** A socket has listeners. */
  socketUsed (): void
}

/** A server's ServerTls (lib/tls/server-tls.js), as far as lib/http uses it. */
export interface EngineServerTls {
  readonly asksForCertificate: boolean
  ask (server: EngineServer, hello: Hello, answer: (answer: HelloAnswer) => void): void
}

/** What a response is made with. */
export interface ResponseOptions {
  highWaterMark: number
  rejectNonStandardBodyWrites: boolean
}

/** An http.Server or https.Server of the engine. */
export interface EngineServer extends http.Server, PrivateServer {
  [kListener]: EngineListener
  /** Since Node 24. */
  keepAliveTimeoutBuffer?: number
  [kOptimizeEmptyRequests]: boolean
  [kOutgoingUniqueHeaders]: unknown
}

/** A handle that a server is to listen on. */
export interface BoundHandle extends ListenHandle {
  /** Its server listens from now on. */
  [kBegin]? (): void
  /** Node accepts on it from now on: 0 or a negative errno. */
  [kGiveToNode]? (): number
}

/** An EngineServer to lib/listen, which knows all of its Listener. */
export interface ListenServer extends EngineServer {
  [kListener]: Listener
}

/** An https.Server of the engine. */
export type ListenHttpsServer = ListenServer & PrivateTlsServer & { [kListener]: { tls: ServerTls } }

/** http.Server as the base of the class whose objects are ListenServers. */
export interface ListenServerBase extends Omit<typeof http.Server, 'prototype'> {
  new (options?: http.ServerOptions, requestListener?: http.RequestListener): ListenServer
  readonly prototype: ListenServer
}

/** The same of https.Server. */
export interface ListenHttpsServerBase extends Omit<typeof https.Server, 'prototype'> {
  new (options?: https.ServerOptions, requestListener?: http.RequestListener): ListenHttpsServer
  readonly prototype: ListenHttpsServer
}

/** The socket of a connection of the engine, or of a stream of HTTP/2 (lib/http/socket.js). The symbols are those of lib/http/symbols.js. */
export interface EngineSocket extends net.Socket, PrivateSocket {
  [kLane]: Lane
  [kSlot]: number
  /** Bits of State (lib/http/socket-state.js). */
  [kState]: number
  [kRemote]: Addresses
  /** Requests that are not answered so far, in their order. */
  [kIncoming]: EngineRequest | EngineRequest[] | null
  /** Whose body is being received. */
  [kReceiving]: EngineRequest | null
  /** Responses whose turn has not come. */
  [kOutgoing]: EngineResponse[] | null
  [kUnsent]: number
  [kUnacknowledged]: number
  [kHeldWrite]: SocketWrite | null
  [kRead]: number
  [kWritten]: number
  [kRequestCount]: number
  [kOutgoingData]: number
  [kOnClosed]?: (() => void) | undefined
  [kEndsIn]: RunThere | null
  [kUnref]: boolean
  [kHoldsLoop]: boolean
  [kRefusal]?: Error & { code: string }
  [kChannel]?: SocketChannel
  [kErrorListener]?: ((error: Error) => void) | undefined
  [kParent]?: EngineSocket
  /** These two: not 0 on the socket of a stream alone. */
  [kTaken]: number
  [kShared]: number
  [kStreamAnswer]?: EngineResponse | null
  [kStreamCredit]?: StreamCredit
  [kTls]?: TlsFacts | ForeignFacts
  [kTlsError]?: Error
  [kOnCertificate]?: ((status: number | null) => void) | undefined
  /** Undefined where a connection came too late for its server: then it is destroyed, and has no requests. */
  server: EngineServer
  /** Null while net.Socket destroys one that its server does not count. */
  _server: EngineServer | null
  _httpMessage: EngineResponse | null | undefined
  readableFlowing: boolean | null
  /** The second argument is Node's own, undocumented one. */
  destroy (error?: Error, callback?: (error?: Error | null) => void): this
}

/** What makes them: lib/http/socket.js, and secure-socket.js. */
export interface EngineSocketConstructor {
  /** No server: it was closed, and the connection is. No addresses: of a socket that is only looked at. */
  new (lane: Lane, slot: number, server: EngineServer | undefined, remote: Addresses | null): EngineSocket
  readonly prototype: EngineSocket
}

/** net.Socket as the base of the class whose objects are EngineSockets. */
export interface EngineSocketBase extends Omit<typeof net.Socket, 'prototype'> {
  new (options?: net.SocketConstructorOpts): EngineSocket
  readonly prototype: EngineSocket
}

/** The socket of a connection with TLS, with the face of a tls.TLSSocket (lib/http/secure-socket.js). */
export interface EngineSecureSocket extends EngineSocket, Pick<tls.TLSSocket, 'getX509Certificate'> {
  [kTls]: TlsFacts | ForeignFacts
  readonly authorizationError: string | null
}

/** What a socket may be that an application gives to one of our servers: `[kLane]` tells. */
export type AnySocket = net.Socket & Partial<Pick<EngineSocket, typeof kLane | typeof kState>>

/** A piece that a stream was given to write. */
export interface PendingChunk {
  chunk: string | Uint8Array
  encoding: BufferEncoding
}

/** A write in flight: held until everything is published, which may need credits, and its blocks have left. */
export interface SocketWrite {
  socket: EngineSocket
  chunks: PendingChunk[]
  /** Index of the first chunk that was not published. */
  next: number
  /** The last block in flight, or kNoBlock. */
  block: number
  callback: (error?: Error | null) => void
}

/** Somebody else who waits until a block has left. */
export interface BlockOwner {
  done (): void
  /** It could not be sent: a positive errno, and the bytes of a file that have left. */
  failed?: (errno: number, sent: number) => void
}

/** A WebSocketChannel (lib/websocket), as far as lib/http uses it: lib/websocket is above lib/http. */
export interface SocketChannel {
  /** Itself: while nobody uses the socket, the channel has its place in Lane.sockets. */
  readonly [kChannel]: SocketChannel
  keep (socket: EngineSocket): EngineSocket
  /** The socket, which is kept from now on. */
  keepSocket (): EngineSocket
  useAsStream (socket: EngineSocket): void
  onMessage (words: Int32Array, bytes: Buffer, at: number): void
  onRecord (words: Int32Array, bytes: Buffer, at: number): void
  onCredit (bytes: number): void
  onEnd (): void
  onClosed (): void
}

/** A request of the engine's own class, or of the application's. */
export interface BodyLimit {
  bytes: number
  received: number
  hasBegun: boolean
  isRefused: boolean
  read: http.IncomingMessage['read']
  isBelow (bytes: number): boolean
}

export interface EngineRequest extends http.IncomingMessage, PrivateRequest {
  [kResource]: AsyncResource | null
  [kResourceEnded]: boolean
  /** Taken off `url`, where no `baseUrl` says so. */
  [kStripped]?: string
  [kEndHeld]: boolean
  [kBodyLimit]?: BodyLimit
  [kDetachAbortSignal] (): void
  urlPrefix?: string
  urlPrefixPath?: string
  /** With stripPrefix, as below a router. */
  originalUrl?: string
  baseUrl?: string
}

/** http.IncomingMessage as the base of EngineIncomingMessage. */
export interface EngineRequestBase extends Omit<typeof http.IncomingMessage, 'prototype'> {
  new (socket: net.Socket): EngineRequest
  readonly prototype: EngineRequest
}

/** A response of the engine's own class, or of the application's. */
export interface EngineResponse extends http.ServerResponse<EngineRequest>, PrivateResponse {
  [kCachePolicy]?: { readonly policy: number, readonly seconds: number } | null
  cacheDuration?: unknown
  [kEnded]: boolean
  /** The file that a lane reads for it, if it is about to end. */
  [kPipedFile]?: { answerForFd (): void }
  [kOlder]?: EngineResponse | null | undefined
  [kNewer]?: EngineResponse | null
  [kCorked]: number
  [kEndCallbacks]: ((error: null) => void)[] | null
  [kNeedDrain]: boolean
  [kOutHeaders]: Record<string, [name: string, value: unknown]> | null
  [kOutgoingUniqueHeaders]: unknown
  [kRejectNonStandardBodyWrites]: boolean
  [kShapeMode]: boolean
  [kWritableFinished]: boolean
  socket: EngineSocket | null
}

/** http.ServerResponse as the base of EngineServerResponse. */
export interface EngineResponseBase extends Omit<typeof http.ServerResponse, 'prototype'> {
  new (req: EngineRequest, options?: Partial<ResponseOptions>): EngineResponse
  readonly prototype: EngineResponse
}
