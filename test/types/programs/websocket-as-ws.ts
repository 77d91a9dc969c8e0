// A program or a library that is typed by @types/ws takes ours, and the other way round.
import * as ours from '@httpsys/websocket'
import * as ws from 'ws'
import { useServer } from 'graphql-ws/use/ws'
import { GraphQLSchema } from 'graphql'

declare const socket: ours.WebSocket
declare const server: ours.WebSocketServer
declare const data: ours.RawData
const theirSocket: ws.WebSocket = socket
const theirServer: ws.WebSocketServer = server
const theirData: ws.RawData = data
const theirOptions: ws.ServerOptions = {} as ours.ServerOptions
const theirClientOptions: ws.ClientOptions = {} as ours.ClientOptions

// Each type that @types/ws has, and the same of it.
declare const events: [ours.MessageEvent, ours.CloseEvent, ours.ErrorEvent, ours.Event]
const theirEvents: [ws.MessageEvent, ws.CloseEvent, ws.ErrorEvent, ws.Event] = events
const ourData: ours.RawData = {} as ws.RawData
const ourMessage: ours.Data = {} as ws.Data
const verifySync: ours.VerifyClientCallbackSync = {} as ws.VerifyClientCallbackSync
const verifyAsync: ours.VerifyClientCallbackAsync = {} as ws.VerifyClientCallbackAsync

useServer({ schema: new GraphQLSchema({}) }, new ours.WebSocketServer({ port: 8080 }))
ours.attach(new ws.WebSocketServer({ noServer: true }), { server: {} as import('node:http').Server })
export { ourData, ourMessage, theirClientOptions, theirData, theirEvents, theirOptions, theirServer, theirSocket, verifyAsync, verifySync }
