/** What this package uses of `ws` 8 beyond its documentation; lib/ws-internals.js looks for the names of lib/ws-members.js when the package loads. */

import type { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import type { ZlibOptions } from 'node:zlib'

/** A `WebSocket` of a server. */
export interface WebSocketState extends EventEmitter {
  _binaryType: 'nodebuffer' | 'arraybuffer' | 'fragments' | 'blob'
  _closeCode: number
  _closeFrameReceived: boolean
  _closeFrameSent: boolean
  _closeMessage: Buffer
  _closeTimer: NodeJS.Timeout | null | undefined
  _closeTimeout: number
  _errorEmitted: boolean
  _extensions: Record<string, PerMessageDeflate>
  _paused: boolean
  _readyState: 0 | 1 | 2 | 3
  _receiver: object | null
  _sender: { readonly _bufferedBytes: number } | null
  _socket: Duplex | null
  _isServer: boolean
  _autoPong?: boolean
  _maxPendingAutoPongs?: number
  _pendingAutoPongs: number
  _autoPongComplete: () => void
  emitClose (): void
}

/** ws' own class, whose functions find out themselves what they are given. */
export interface WsWebSocket extends WebSocketState {
  readonly bufferedAmount: number
  readonly readyState: 0 | 1 | 2 | 3
  close (code?: unknown, data?: unknown): void
  pause (): void
  ping (data?: unknown, mask?: unknown, callback?: unknown): void
  pong (data?: unknown, mask?: unknown, callback?: unknown): void
  resume (): void
  send (data: unknown, options?: unknown, callback?: unknown): void
  setSocket (socket: Duplex, head: Buffer, options: object): void
  terminate (): void
}

/** The class itself; an address of null makes a WebSocket of a server. */
export interface WsWebSocketBase {
  new (address: unknown, protocols?: unknown, options?: unknown): WsWebSocket
  readonly prototype: WsWebSocket
}

/** Options of a WebSocketServer, as ws completes them; what they are of, their users find out. */
export interface WsServerOptions {
  allowSynchronousEvents?: unknown
  autoPong?: unknown
  closeTimeout?: number
  maxBufferedChunks?: number
  maxFragments?: number
  maxPayload?: number
  maxPendingAutoPongs?: number
  skipUTF8Validation?: unknown
}

/** A WebSocketServer. */
export interface WsServer extends EventEmitter {
  /** Not with clientTracking: false. */
  clients?: Set<WsWebSocket>
  options: WsServerOptions
  /** close() was called, and 'close' is due. */
  _shouldEmitClose: boolean
  _state: number
  completeUpgrade (...args: unknown[]): void
}

export interface WsServerBase {
  new (options?: object, callback?: () => void): WsServer
  readonly prototype: WsServer
}

export interface PerMessageDeflate {
  params: {
    server_no_context_takeover?: true
    client_no_context_takeover?: true
    server_max_window_bits?: number
    client_max_window_bits?: number | true
  }
  _threshold: number
  _options: { zlibDeflateOptions?: ZlibOptions, zlibInflateOptions?: ZlibOptions }
  cleanup (): void
}
