/**
 * What lib/ uses of `ws`, in place of @types/ws, whose accessors are properties and which has nothing of what is not documented. Not
 * published: types/index.d.ts stands by itself.
 */
declare module 'ws' {
  export const WebSocket: import('./types/ws-internals').WsWebSocketBase
  export const WebSocketServer: import('./types/ws-internals').WsServerBase
  export const PerMessageDeflate: { new (options: object): import('./types/ws-internals').PerMessageDeflate, readonly extensionName: string }
  export const Sender: { new (socket: import('node:stream').Duplex): { _bufferedBytes: number } }
}
declare module 'ws/package.json' {
  export const version: string
}
