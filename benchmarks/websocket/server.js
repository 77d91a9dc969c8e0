'use strict'

// A process under measurement in the scenario websocket.
//
//   server.js <side> echo|broadcast plain|deflate

const { kSides } = require('./sides')

const [, , side, what, compression] = process.argv
const { createServer, WebSocketServer } = kSides[side].load()

const server = createServer()
const wss = new WebSocketServer({ server, perMessageDeflate: compression === 'deflate' })

const kOpen = 1

wss.on('connection', (/** @type {any} */ socket) => {
  if (what === 'echo') {
    socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => socket.send(data, { binary: isBinary }))
  } else {
    socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => {
      for (const client of wss.clients) {
        if (client.readyState === kOpen) client.send(data, { binary: isBinary })
      }
    })
  }
})

async function collect () {
  // Finalizers and weak callbacks of one collection make garbage for the next.
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  process.send?.({ rss: process.memoryUsage.rss() })
}

process.on('message', (message) => {
  if (message === 'collect') collect()
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: /** @type {import('node:net').AddressInfo} */ (server.address()).port })
})
