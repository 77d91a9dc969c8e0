/** What lib/ uses of `ws`, in place of @types/ws, whose accessors are properties. Not published: types/index.d.ts stands by itself. */
declare module 'ws' {
  import { EventEmitter } from 'node:events'

  export class WebSocket extends EventEmitter {
    constructor (address: any, protocols?: any, options?: any)
    static readonly OPEN: 1
    readonly readyState: 0 | 1 | 2 | 3
    get bufferedAmount (): number
    send (data: any, options?: any, callback?: any): void
    ping (data?: any, mask?: any, callback?: any): void
    pong (data?: any, mask?: any, callback?: any): void
    close (code?: number, data?: any): void
    terminate (): void
    pause (): void
    resume (): void
    /** Not documented: see ws-internals.d.ts. */
    setSocket (socket: any, head: Buffer, options: any): void
    emitClose (): void
  }

  export class WebSocketServer extends EventEmitter {
    constructor (options?: any, callback?: () => void)
    options: any
    clients: Set<WebSocket>
  }
}
declare module 'ws/package.json' {
  export const version: string
}
