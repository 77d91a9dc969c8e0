/** The WebSockets of the I/O threads, for packages/websocket. */

export interface WebSocketSettings {
  /** Longest message in bytes; 0 = no limit. */
  maxPayload: number
  /** Most fragments of a message, most arrivals of a frame; 0 = any. */
  maxFragments: number
  maxBufferedChunks: number
  /** Pings are answered by the I/O thread; a peer that has not read this many answers is cut off (0 = never). */
  autoPong: boolean
  maxPendingAutoPongs: number
  skipUTF8Validation: boolean
  /** False: one event a turn of the event loop. */
  allowSynchronousEvents: boolean
  /** null: permessage-deflate was not negotiated. */
  deflate: null | {
    serverNoContextTakeover: boolean
    clientNoContextTakeover: boolean
    serverMaxWindowBits: number
    clientMaxWindowBits: number
    /** Shorter messages are not compressed when each stands alone. */
    threshold: number
    level: number
    memLevel: number
    strategy: number
  }
}

/** What an owner is told, in the peer's order. After close and error only end and closed come. */
export interface WebSocketHandlers<Owner = any> {
  /** The socket is the owner's from now on; also one that was made again in place of one that nobody used. */
  adopt (owner: Owner, socket: any): void
  message (owner: Owner, data: Buffer, isBinary: boolean): void
  ping (owner: Owner, data: Buffer): void
  pong (owner: Owner, data: Buffer): void
  /** code 1005: the close frame had none. */
  close (owner: Owner, code: number, reason: Buffer): void
  /** `kind` is a websocket::ReadError; the I/O thread reads no further. */
  error (owner: Owner, kind: number, detail: number, zlibCode: number, zlibText: string): void
  /** The peer has ended its direction. */
  end (owner: Owner): void
  /** The connection is gone. The last one, in a tick of its own. */
  closed (owner: Owner): void
}

export type SendCallback = (error?: Error | null) => void

export interface WebSocketChannel {
  /** Bytes that the I/O thread has not accepted, or that are sent by reference. */
  readonly buffered: number
  /** The connection's net.Socket. */
  keepSocket (): any
  send (flags: number, data: string | Uint8Array, callback?: SendCallback): void
  pause (): void
  resume (): void
  /** Ends this direction behind everything that was sent. */
  end (): void
  /** Closes at once. */
  destroy (): void
}
