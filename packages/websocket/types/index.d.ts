import type { EventEmitter } from 'node:events'
import type { Agent, ClientRequest, IncomingMessage, OutgoingHttpHeaders, RequestOptions, Server as HttpServer } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex, DuplexOptions } from 'node:stream'
import type { ZlibOptions } from 'node:zlib'

/** What `send()` takes; a Blob is read first, an array is one of bytes. Wide enough for whatever 'message' brings, as the types of `ws` are. */
type Data = string | number | Buffer | ArrayBuffer | NodeJS.ArrayBufferView | Blob | readonly any[]
/** What 'message' brings: a Buffer, unless `binaryType` says otherwise and the message is binary. */
type RawData = Buffer | ArrayBuffer | Buffer[] | Blob
type SendCallback = (error?: Error) => void

interface PerMessageDeflateOptions {
  serverNoContextTakeover?: boolean
  clientNoContextTakeover?: boolean
  serverMaxWindowBits?: number
  clientMaxWindowBits?: number
  /** Bytes below which messages that stand alone are not compressed; default 1024. */
  threshold?: number
  concurrencyLimit?: number
  zlibDeflateOptions?: ZlibOptions
  zlibInflateOptions?: ZlibOptions
}

interface SendOptions {
  binary?: boolean
  compress?: boolean
  fin?: boolean
  mask?: boolean
}

interface ClientOptions extends RequestOptions {
  followRedirects?: boolean
  handshakeTimeout?: number
  maxPayload?: number
  maxRedirects?: number
  origin?: string
  perMessageDeflate?: boolean | PerMessageDeflateOptions
  protocolVersion?: number
  skipUTF8Validation?: boolean
  agent?: Agent | false
  [option: string]: any
}

interface BroadcastOptions extends SendOptions {
  /** Only clients for which it returns true. */
  filter?: (client: WebSocket) => boolean
}

interface ServerOptions {
  allowSynchronousEvents?: boolean
  autoPong?: boolean
  backlog?: number | null
  clientTracking?: boolean
  closeTimeout?: number
  handleProtocols?: ((protocols: Set<string>, request: IncomingMessage) => string | false) | null
  host?: string | null
  maxBufferedChunks?: number
  maxFragments?: number
  maxPayload?: number
  maxPendingAutoPongs?: number
  noServer?: boolean
  path?: string | null
  perMessageDeflate?: boolean | PerMessageDeflateOptions
  port?: number | null
  server?: HttpServer | HttpsServer | null
  skipUTF8Validation?: boolean
  verifyClient?:
    | ((info: { origin: string, secure: boolean, req: IncomingMessage }) => boolean)
    | ((
      info: { origin: string, secure: boolean, req: IncomingMessage },
      callback: (verified: boolean, code?: number, message?: string, headers?: OutgoingHttpHeaders) => void
    ) => void)
    | null
  WebSocket?: typeof WebSocket
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

  constructor (address: string | URL, options?: ClientOptions)
  constructor (address: string | URL, protocols?: string | string[], options?: ClientOptions)

  binaryType: 'nodebuffer' | 'arraybuffer' | 'fragments' | 'blob'
  /** Bytes given to `send()` that have not been accepted for sending, or that are sent by reference (above 64 KiB). */
  readonly bufferedAmount: number
  readonly extensions: string
  readonly isPaused: boolean
  readonly protocol: string
  readonly readyState: 0 | 1 | 2 | 3
  readonly url: string
  onopen: ((event: any) => void) | null
  onerror: ((event: any) => void) | null
  onclose: ((event: any) => void) | null
  onmessage: ((event: any) => void) | null

  send (data: Data, callback?: SendCallback): void
  /** A piece of more than 64 KiB must not change before the callback. */
  send (data: Data, options: SendOptions, callback?: SendCallback): void
  ping (data?: any, mask?: boolean, callback?: SendCallback): void
  pong (data?: any, mask?: boolean, callback?: SendCallback): void
  close (code?: number, data?: string | Buffer): void
  terminate (): void
  pause (): void
  resume (): void
  addEventListener (type: 'open' | 'message' | 'close' | 'error', listener: ((event: any) => void) | { handleEvent (event: any): void }, options?: { once?: boolean }): void
  removeEventListener (type: 'open' | 'message' | 'close' | 'error', listener: ((event: any) => void) | { handleEvent (event: any): void }): void

  on (event: 'message', listener: (this: WebSocket, data: RawData, isBinary: boolean) => void): this
  on (event: 'close', listener: (this: WebSocket, code: number, reason: Buffer) => void): this
  on (event: 'error', listener: (this: WebSocket, error: Error) => void): this
  on (event: 'ping' | 'pong', listener: (this: WebSocket, data: Buffer) => void): this
  on (event: 'open', listener: (this: WebSocket) => void): this
  on (event: 'upgrade', listener: (this: WebSocket, response: IncomingMessage) => void): this
  on (event: 'unexpected-response', listener: (this: WebSocket, request: ClientRequest, response: IncomingMessage) => void): this
  on (event: string | symbol, listener: (...args: any[]) => void): this
}

/** `WebSocketServer` of `ws`, with its documentation, and `broadcast()`. With `port` it makes a server of the engine. */
declare class WebSocketServer extends EventEmitter {
  constructor (options?: ServerOptions, callback?: () => void)
  readonly options: ServerOptions
  readonly clients: Set<WebSocket>
  address (): AddressInfo | string | null
  close (callback?: (error?: Error) => void): void
  shouldHandle (request: IncomingMessage): boolean
  handleUpgrade (request: IncomingMessage, socket: Duplex, head: Buffer, callback: (client: WebSocket, request: IncomingMessage) => void): void
  /**
   * Sends the same to all clients that are open: framed, and compressed, once.
   *
   * @returns how many clients
   */
  broadcast (data: Data, options?: BroadcastOptions): number

  on (event: 'connection', listener: (this: WebSocketServer, client: WebSocket, request: IncomingMessage) => void): this
  on (event: 'error' | 'wsClientError', listener: (this: WebSocketServer, error: Error, ...rest: any[]) => void): this
  on (event: 'headers', listener: (this: WebSocketServer, headers: string[], request: IncomingMessage) => void): this
  on (event: 'close' | 'listening', listener: (this: WebSocketServer) => void): this
  on (event: string | symbol, listener: (...args: any[]) => void): this
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
    WebSocketServer as Server, BroadcastOptions, ClientOptions, Data, PerMessageDeflateOptions, RawData, SendOptions,
    ServerOptions, UpgradeHandler
  }
}
export = WebSocket
