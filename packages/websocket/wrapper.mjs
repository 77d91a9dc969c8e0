import WebSocket from './index.js'

export default WebSocket
export const {
  attach, createWebSocketStream, extension, PerMessageDeflate, Receiver, Sender, subprotocol, WebSocketServer
} = WebSocket
export { WebSocket }
