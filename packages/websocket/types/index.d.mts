import WebSocket = require('./index.js')
export import attach = WebSocket.attach
export import createWebSocketStream = WebSocket.createWebSocketStream
export import extension = WebSocket.extension
export import subprotocol = WebSocket.subprotocol
export import PerMessageDeflate = WebSocket.PerMessageDeflate
export import Receiver = WebSocket.Receiver
export import Sender = WebSocket.Sender
export import WebSocketServer = WebSocket.WebSocketServer
export import AddressInfo = WebSocket.AddressInfo
export import BroadcastOptions = WebSocket.BroadcastOptions
export import CertMeta = WebSocket.CertMeta
export import ClientOptions = WebSocket.ClientOptions
export import CloseEvent = WebSocket.CloseEvent
export import Data = WebSocket.Data
export import ErrorEvent = WebSocket.ErrorEvent
export import Event = WebSocket.Event
export import EventListenerOptions = WebSocket.EventListenerOptions
export import FinishRequestCallback = WebSocket.FinishRequestCallback
export import MessageEvent = WebSocket.MessageEvent
export import PerMessageDeflateOptions = WebSocket.PerMessageDeflateOptions
export import RawData = WebSocket.RawData
export import SendOptions = WebSocket.SendOptions
export import ServerOptions = WebSocket.ServerOptions
export import UpgradeHandler = WebSocket.UpgradeHandler
export import VerifyClientCallbackAsync = WebSocket.VerifyClientCallbackAsync
export import VerifyClientCallbackSync = WebSocket.VerifyClientCallbackSync
export import WebSocketEventMap = WebSocket.WebSocketEventMap
/** The type alone, as in @types/ws: the class is `WebSocketServer`. */
export type Server<
  Client extends new (...args: any[]) => WebSocket = typeof WebSocket,
  Request extends typeof import('node:http').IncomingMessage = typeof import('node:http').IncomingMessage
> = WebSocket.Server<Client, Request>
export { WebSocket }
export default WebSocket
