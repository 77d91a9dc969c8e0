import type { EventEmitter } from 'node:events'
import type {
  Agent, ClientRequest, ClientRequestArgs, IncomingMessage, OutgoingHttpHeaders, Server as HttpServer
} from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { createConnection, AddressInfo as NetAddressInfo } from 'node:net'
import type { Duplex, DuplexOptions } from 'node:stream'
import type { SecureContextOptions } from 'node:tls'
import type { ZlibOptions } from 'node:zlib'

// These types need nothing but @types/node. Their names and shapes are those of @types/ws, so that a program or a library
// written for either takes the other's objects.

/** What `send()` takes. A Blob is read first, an array is one of bytes. */
type Sendable = string | number | Buffer | ArrayBuffer | SharedArrayBuffer | NodeJS.ArrayBufferView | Blob | readonly any[] |
  { valueOf (): ArrayBuffer } | { valueOf (): SharedArrayBuffer } | { valueOf (): Uint8Array } | { valueOf (): readonly number[] } |
  { valueOf (): string } | { [Symbol.toPrimitive] (hint: string): string }
/** What a 'message' listener gets: a Buffer, unless `binaryType` says otherwise and the message is binary. */
type RawData = Buffer | ArrayBuffer | Buffer[]
/** What a MessageEvent has: a string for text. */
type Data = string | Buffer | ArrayBuffer | Buffer[]
type SendCallback = (error?: Error) => void
/** There is no error when the ping or pong was sent: the parameter is what @types/ws has. */
type PingCallback = (error: Error) => void
type CertMeta = string | string[] | Buffer | Buffer[]

type VerifyClientCallbackSync<Request extends IncomingMessage = IncomingMessage> =
  (info: { origin: string, secure: boolean, req: Request }) => boolean
type VerifyClientCallbackAsync<Request extends IncomingMessage = IncomingMessage> = (
  info: { origin: string, secure: boolean, req: Request },
  callback: (verified: boolean, code?: number, message?: string, headers?: OutgoingHttpHeaders) => void
) => void
type FinishRequestCallback = (request: ClientRequest, webSocket: WebSocket) => void

interface PerMessageDeflateOptions {
  serverNoContextTakeover?: boolean | undefined
  clientNoContextTakeover?: boolean | undefined
  serverMaxWindowBits?: number | undefined
  clientMaxWindowBits?: number | undefined
  /** Bytes below which messages that stand alone are not compressed; default 1024. */
  threshold?: number | undefined
  concurrencyLimit?: number | undefined
  zlibDeflateOptions?: {
    flush?: number | undefined
    finishFlush?: number | undefined
    chunkSize?: number | undefined
    windowBits?: number | undefined
    level?: number | undefined
    memLevel?: number | undefined
    strategy?: number | undefined
    dictionary?: Buffer | Buffer[] | DataView | undefined
    info?: boolean | undefined
  } | undefined
  zlibInflateOptions?: ZlibOptions | undefined
}

interface SendOptions {
  binary?: boolean | undefined
  compress?: boolean | undefined
  fin?: boolean | undefined
  mask?: boolean | undefined
}

interface ClientOptions extends SecureContextOptions {
  agent?: Agent | undefined
  allowSynchronousEvents?: boolean | undefined
  autoPong?: boolean | undefined
  checkServerIdentity? (servername: string, cert: CertMeta): boolean
  closeTimeout?: number | undefined
  createConnection?: typeof createConnection | undefined
  family?: number | undefined
  finishRequest?: FinishRequestCallback | undefined
  followRedirects?: boolean | undefined
  generateMask? (mask: Buffer): void
  handshakeTimeout?: number | undefined
  headers?: { [key: string]: string } | undefined
  host?: string | undefined
  localAddress?: string | undefined
  maxBufferedChunks?: number | undefined
  maxFragments?: number | undefined
  maxPayload?: number | undefined
  maxPendingAutoPongs?: number | undefined
  maxRedirects?: number | undefined
  origin?: string | undefined
  perMessageDeflate?: boolean | PerMessageDeflateOptions | undefined
  protocol?: string | undefined
  protocolVersion?: number | undefined
  rejectUnauthorized?: boolean | undefined
  skipUTF8Validation?: boolean | undefined
}

interface BroadcastOptions extends SendOptions {
  /** Only clients for which it returns true. */
  filter?: ((client: WebSocket) => boolean) | undefined
}

/** A class that extends `WebSocket`. */
type WebSocketClass = new (...args: any[]) => WebSocket

interface ServerOptions<
  Client extends WebSocketClass = typeof WebSocket,
  Request extends typeof IncomingMessage = typeof IncomingMessage
> {
  allowSynchronousEvents?: boolean | undefined
  autoPong?: boolean | undefined
  backlog?: number | undefined
  clientTracking?: boolean | undefined
  closeTimeout?: number | undefined
  handleProtocols? (protocols: Set<string>, request: InstanceType<Request>): string | false
  host?: string | undefined
  maxBufferedChunks?: number | undefined
  maxFragments?: number | undefined
  maxPayload?: number | undefined
  maxPendingAutoPongs?: number | undefined
  noServer?: boolean | undefined
  path?: string | undefined
  perMessageDeflate?: boolean | PerMessageDeflateOptions | undefined
  port?: number | undefined
  server?: HttpServer<Request> | HttpsServer<Request> | undefined
  skipUTF8Validation?: boolean | undefined
  /** Returns a boolean, or calls back: one type for both, by which their parameters have types. */
  verifyClient?: ((
    ...args: Parameters<VerifyClientCallbackAsync<InstanceType<Request>>>
  ) => ReturnType<VerifyClientCallbackSync> | ReturnType<VerifyClientCallbackAsync>) | undefined
  WebSocket?: Client | undefined
}

interface AddressInfo {
  address: string
  family: string
  port: number
}

interface Event {
  type: string
  target: WebSocket
}

interface ErrorEvent extends Event {
  error: any
  message: string
}

interface CloseEvent extends Event {
  wasClean: boolean
  code: number
  reason: string
}

interface MessageEvent extends Event {
  data: Data
}

interface WebSocketEventMap {
  open: Event
  error: ErrorEvent
  close: CloseEvent
  message: MessageEvent
}

interface EventListenerOptions {
  once?: boolean | undefined
}

/** Events of a WebSocket, with the arguments of their listeners. */
interface Events {
  close: [code: number, reason: Buffer]
  error: [error: Error]
  message: [data: RawData, isBinary: boolean]
  open: []
  ping: [data: Buffer]
  pong: [data: Buffer]
  redirect: [url: string, request: ClientRequest]
  'unexpected-response': [request: ClientRequest, response: IncomingMessage]
  upgrade: [response: IncomingMessage]
}

/** Events of a WebSocketServer, with the arguments of their listeners. */
interface ServerEvents<Client, Request> {
  close: []
  connection: [client: Client, request: Request]
  error: [error: Error]
  headers: [headers: string[], request: Request]
  listening: []
  wsClientError: [error: Error, socket: Duplex, request: Request]
}

/**
 * `WebSocket` of `ws`, with its documentation. Those of a server on the engine have their frames read and written by
 * the I/O threads; all others, and clients, run the code of `ws`.
 */
declare class WebSocket extends EventEmitter {
  static readonly CONNECTING: 0
  static readonly OPEN: 1
  static readonly CLOSING: 2
  static readonly CLOSED: 3
  readonly CONNECTING: 0
  readonly OPEN: 1
  readonly CLOSING: 2
  readonly CLOSED: 3

  constructor (address: null)
  constructor (address: string | URL, options?: ClientOptions | ClientRequestArgs)
  constructor (address: string | URL, protocols?: string | string[], options?: ClientOptions | ClientRequestArgs)

  /** With 'blob' a binary message is a Blob, of which the types of listeners do not tell, like those of `ws`. */
  get binaryType (): 'nodebuffer' | 'arraybuffer' | 'fragments'
  set binaryType (type: 'nodebuffer' | 'arraybuffer' | 'fragments' | 'blob')
  /** Bytes given to `send()` that have not been accepted for sending, or that are sent by reference (above 64 KiB). */
  readonly bufferedAmount: number
  readonly extensions: string
  readonly isPaused: boolean
  readonly protocol: string
  readonly readyState: 0 | 1 | 2 | 3
  readonly url: string
  onopen: ((event: Event) => void) | null
  onerror: ((event: ErrorEvent) => void) | null
  onclose: ((event: CloseEvent) => void) | null
  onmessage: ((event: MessageEvent) => void) | null

  send (data: Sendable, callback?: SendCallback): void
  /** A piece of more than 64 KiB must not change before the callback. */
  send (data: Sendable, options: SendOptions, callback?: SendCallback): void
  ping (data?: any, mask?: boolean, callback?: PingCallback): void
  pong (data?: any, mask?: boolean, callback?: PingCallback): void
  close (code?: number, data?: string | Buffer): void
  terminate (): void
  pause (): void
  resume (): void
  addEventListener<Type extends keyof WebSocketEventMap> (
    type: Type,
    listener: ((event: WebSocketEventMap[Type]) => void) | { handleEvent (event: WebSocketEventMap[Type]): void },
    options?: EventListenerOptions
  ): void
  removeEventListener<Type extends keyof WebSocketEventMap> (
    type: Type,
    listener: ((event: WebSocketEventMap[Type]) => void) | { handleEvent (event: WebSocketEventMap[Type]): void }
  ): void

  on<Name extends keyof Events> (event: Name, listener: (this: WebSocket, ...args: Events[Name]) => void): this
  on (event: string | symbol, listener: (this: WebSocket, ...args: any[]) => void): this
  once<Name extends keyof Events> (event: Name, listener: (this: WebSocket, ...args: Events[Name]) => void): this
  once (event: string | symbol, listener: (this: WebSocket, ...args: any[]) => void): this
  off<Name extends keyof Events> (event: Name, listener: (this: WebSocket, ...args: Events[Name]) => void): this
  off (event: string | symbol, listener: (this: WebSocket, ...args: any[]) => void): this
  addListener<Name extends keyof Events> (event: Name, listener: (this: WebSocket, ...args: Events[Name]) => void): this
  addListener (event: string | symbol, listener: (this: WebSocket, ...args: any[]) => void): this
  removeListener<Name extends keyof Events> (event: Name, listener: (this: WebSocket, ...args: Events[Name]) => void): this
  removeListener (event: string | symbol, listener: (this: WebSocket, ...args: any[]) => void): this
  prependListener<Name extends keyof Events> (event: Name, listener: (this: WebSocket, ...args: Events[Name]) => void): this
  prependListener (event: string | symbol, listener: (this: WebSocket, ...args: any[]) => void): this
  prependOnceListener<Name extends keyof Events> (event: Name, listener: (this: WebSocket, ...args: Events[Name]) => void): this
  prependOnceListener (event: string | symbol, listener: (this: WebSocket, ...args: any[]) => void): this
}

/** `WebSocketServer` of `ws`, with its documentation, and `broadcast()`. With `port` it makes a server of the engine. */
declare class WebSocketServer<
  Client extends WebSocketClass = typeof WebSocket,
  Request extends typeof IncomingMessage = typeof IncomingMessage
> extends EventEmitter {
  constructor (options?: ServerOptions<Client, Request>, callback?: () => void)
  options: ServerOptions<Client, Request>
  path: string
  clients: Set<InstanceType<Client>>
  address (): NetAddressInfo | string | null
  close (callback?: (error?: Error) => void): void
  shouldHandle (request: InstanceType<Request>): boolean | Promise<boolean>
  handleUpgrade (
    request: InstanceType<Request>, socket: Duplex, head: Buffer,
    callback: (client: InstanceType<Client>, request: InstanceType<Request>) => void
  ): void
  /**
   * Sends the same to all clients that are open: framed, and compressed, once.
   *
   * @returns how many clients
   */
  broadcast (data: Sendable, options?: BroadcastOptions): number

  on<Name extends keyof ServerEvents<any, any>> (event: Name, listener: (this: WebSocketServer<Client>, ...args: ServerEvents<InstanceType<Client>, InstanceType<Request>>[Name]) => void): this
  on (event: string | symbol, listener: (this: WebSocketServer<Client>, ...args: any[]) => void): this
  once<Name extends keyof ServerEvents<any, any>> (event: Name, listener: (this: WebSocketServer<Client>, ...args: ServerEvents<InstanceType<Client>, InstanceType<Request>>[Name]) => void): this
  once (event: string | symbol, listener: (this: WebSocketServer<Client>, ...args: any[]) => void): this
  off<Name extends keyof ServerEvents<any, any>> (event: Name, listener: (this: WebSocketServer<Client>, ...args: ServerEvents<InstanceType<Client>, InstanceType<Request>>[Name]) => void): this
  off (event: string | symbol, listener: (this: WebSocketServer<Client>, ...args: any[]) => void): this
  addListener<Name extends keyof ServerEvents<any, any>> (event: Name, listener: (this: WebSocketServer<Client>, ...args: ServerEvents<InstanceType<Client>, InstanceType<Request>>[Name]) => void): this
  addListener (event: string | symbol, listener: (this: WebSocketServer<Client>, ...args: any[]) => void): this
  removeListener<Name extends keyof ServerEvents<any, any>> (event: Name, listener: (this: WebSocketServer<Client>, ...args: ServerEvents<InstanceType<Client>, InstanceType<Request>>[Name]) => void): this
  removeListener (event: string | symbol, listener: (this: WebSocketServer<Client>, ...args: any[]) => void): this
  prependListener<Name extends keyof ServerEvents<any, any>> (event: Name, listener: (this: WebSocketServer<Client>, ...args: ServerEvents<InstanceType<Client>, InstanceType<Request>>[Name]) => void): this
  prependListener (event: string | symbol, listener: (this: WebSocketServer<Client>, ...args: any[]) => void): this
  prependOnceListener<Name extends keyof ServerEvents<any, any>> (event: Name, listener: (this: WebSocketServer<Client>, ...args: ServerEvents<InstanceType<Client>, InstanceType<Request>>[Name]) => void): this
  prependOnceListener (event: string | symbol, listener: (this: WebSocketServer<Client>, ...args: any[]) => void): this
}

/** What `attach()` uses of a `WebSocketServer` made with `{ noServer: true }`, ours or that of `ws`. */
interface UpgradeHandler extends EventEmitter {
  handleUpgrade (req: IncomingMessage, socket: Duplex, head: Buffer, done: (socket: any, req: IncomingMessage) => void): void
  options?: { noServer?: boolean | undefined, [option: string]: any }
}

/**
 * Sends the upgrades of a server whose path lies at or below a prefix to a WebSocket server. The longest of several
 * prefixes wins. An upgrade that none takes is refused with 404, unless the server has other `'upgrade'` listeners.
 *
 * @param prefix a path (`/chat/`), compared with `req.url`, or a URL prefix, compared with what the client asked for
 *   (with `stripPrefix` these differ); default `/`
 * @returns takes the attachment back; open WebSockets stay. Closing the WebSocket server does so, too.
 * @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE for what is no such server
 * @throws ERR_HTTPSYS_PREFIX_SYNTAX
 * @throws EADDRINUSE when the server has that prefix already
 */
declare function attach (
  webSocketServer: UpgradeHandler,
  adapterOrServer: HttpServer | { readonly server: HttpServer },
  prefix?: string
): () => void

/** Of `ws`. */
declare function createWebSocketStream (webSocket: WebSocket, options?: DuplexOptions): Duplex

declare const extension: { parse (header: string): any, format (extensions: any): string }
declare const subprotocol: { parse (header: string): Set<string> }
/** Parts of `ws`, as it exports them. */
declare const PerMessageDeflate: any
declare const Receiver: any
declare const Sender: any

declare namespace WebSocket {
  export {
    attach, createWebSocketStream, extension, subprotocol, PerMessageDeflate, Receiver, Sender, WebSocket, WebSocketServer,
    WebSocketServer as Server, AddressInfo, BroadcastOptions, CertMeta, ClientOptions, CloseEvent, Data, ErrorEvent, Event,
    EventListenerOptions, FinishRequestCallback, MessageEvent, PerMessageDeflateOptions, RawData, SendOptions, ServerOptions,
    UpgradeHandler, VerifyClientCallbackAsync, VerifyClientCallbackSync, WebSocketEventMap
  }
}
export = WebSocket
