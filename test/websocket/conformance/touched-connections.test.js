'use strict'

// A connection becomes a WebSocket that gets its messages, whatever was done before with its socket, in 'connection' or by
// the handlers of earlier requests.

const { after, before, describe, it } = require('node:test')
const { http, backend } = require('../../helpers/backend')
const { Wire, listen } = require('../../helpers/client')
const { kEarlierRequests, kRequestTouches, kSocketTouches } = require('../../differential/touches')
const { play } = require('../../differential/kit')
const { WebSocketServer } = require('@httpsys/websocket')

const kUpgrade = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
/** A text message "hello", masked with zeros. */
const kHello = '\x81\x85\0\0\0\0hello'

describe('a WebSocket on a connection that was used before', { skip: backend === 'node' && 'its WebSockets are those of ws' }, () => {
  /** @type {((socket: any) => void) | undefined} */
  let onConnection
  /** @type {((req: any, res: any) => void) | undefined} */
  let onRequest
  let port = 0
  const server = http.createServer((req, res) => {
    onRequest?.(req, res)
    req.on('end', () => res.end(`plain ${req.url?.[1]}.`))
    setImmediate(() => req.resume())
  })
  server.on('connection', (socket) => onConnection?.(socket))
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (/** @type {any} */ socket) => socket.on('message', (/** @type {Buffer} */ data) => socket.send(`echo ${data}`)))

  before(async () => { port = await listen(server) })
  after(() => {
    server.closeAllConnections()
    server.close()
  })

  /** @param {any[]} earlier steps of a conversation @param {boolean} isWithHead whether the first message comes with the head */
  async function echoes (earlier, isWithHead) {
    const wire = new Wire({ port, host: '127.0.0.1' })
    try {
      await play(wire, [...earlier, ...isWithHead ? [kUpgrade + kHello] : [kUpgrade, /101[^]*\r\n\r\n/, kHello], /echo hello/])
    } finally {
      wire.destroy()
    }
  }

  for (const [name, touch] of [['nothing', undefined], ...Object.entries(kSocketTouches)]) {
    it(`gets its messages after ${name} in 'connection'`, { timeout: 20_000 }, async () => {
      onConnection = /** @type {any} */ (touch)
      onRequest = undefined
      for (const isWithHead of [false, true]) {
        await echoes([], isWithHead)
        for (const request of Object.values(kEarlierRequests)) await echoes([...request('/1'), /plain 1\./, ...request('/2'), /plain 2\./], isWithHead)
      }
    })
  }

  for (const [name, touch] of Object.entries(kRequestTouches)) {
    it(`gets its messages after ${name} in a request`, { timeout: 20_000 }, async () => {
      onConnection = undefined
      onRequest = touch
      for (const isWithHead of [false, true]) {
        for (const request of Object.values(kEarlierRequests)) await echoes([...request('/1'), /plain 1\./], isWithHead)
      }
    })
  }
})
