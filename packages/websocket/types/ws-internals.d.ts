/** What this package uses of `ws` 8 beyond its documentation; lib/ws-internals.js checks it. */

import type { EventEmitter } from 'node:events'

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
  _extensions: Record<string, any>
  _paused: boolean
  _readyState: 0 | 1 | 2 | 3
  _receiver: any
  _sender: any
  _socket: any
  _isServer: boolean
  _autoPong?: boolean
  _maxPendingAutoPongs?: number
  _pendingAutoPongs: number
  _autoPongComplete: () => void
  /** Of EventEmitter: listeners by event. */
  _events: object
  emitClose (): void
}

export interface PerMessageDeflate {
  params: {
    server_no_context_takeover?: true
    client_no_context_takeover?: true
    server_max_window_bits?: number
    client_max_window_bits?: number | true
  }
  _threshold: number
  _options: { zlibDeflateOptions?: Record<string, any>, zlibInflateOptions?: Record<string, any> }
  cleanup (): void
}
