import WebSocket = require('./index.js')
export import attach = WebSocket.attach
export import createWebSocketStream = WebSocket.createWebSocketStream
export import extension = WebSocket.extension
export import subprotocol = WebSocket.subprotocol
export import PerMessageDeflate = WebSocket.PerMessageDeflate
export import Receiver = WebSocket.Receiver
export import Sender = WebSocket.Sender
export import WebSocketServer = WebSocket.WebSocketServer
export type BroadcastOptions = WebSocket.BroadcastOptions
export type ClientOptions = WebSocket.ClientOptions
export type Data = WebSocket.Data
export type PerMessageDeflateOptions = WebSocket.PerMessageDeflateOptions
export type RawData = WebSocket.RawData
export type SendOptions = WebSocket.SendOptions
export type ServerOptions = WebSocket.ServerOptions
export type UpgradeHandler = WebSocket.UpgradeHandler
export { WebSocket }
export default WebSocket
