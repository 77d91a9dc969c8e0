'use strict'

// A client whose network is gone says nothing, not even goodbye: whoever has not answered a ping by the next one is cut off.

const kBeatMs = 30_000

/**
 * @param {import('ws').WebSocketServer} wss
 */
function heartbeat (wss) {
  /** @type {WeakSet<import('ws').WebSocket>} */
  const alive = new WeakSet()
  wss.on('connection', (socket) => {
    alive.add(socket)
    socket.on('pong', () => alive.add(socket))
  })
  setInterval(() => {
    for (const socket of wss.clients) {
      if (!alive.delete(socket)) socket.terminate()
      else socket.ping()
    }
  }, kBeatMs).unref()
}

module.exports = { heartbeat }
