'use strict'
// resume() without a listener takes what the client of an upgrade sends, and pause() keeps it from a listener that comes later,
// also where nothing else was done with the socket.
// covers: 21, r6
// breaks: light-resume, light-pause

const http = require('node:http')
const { setImmediate, setTimeout } = require('node:timers')
const { dial, listen, log, logged, message, play, program } = require('../../kit')

const kBytes = 2_000_000
// Silence: within it bytes come that were not to. On a slow machine fewer do.
const kStillMs = 50

/** @type {Record<string, (socket: any) => void>} */
const kUses = {
  resume: (socket) => {
    socket.resume()
    const look = () => socket.bytesRead < kBytes ? setImmediate(look) : finish(socket)
    look()
  },
  'pause, listen': (socket) => {
    socket.pause()
    listenLater(socket)
  },
  'pause, listen later': (socket) => {
    socket.pause()
    setImmediate(() => listenLater(socket))
  },
}

function finish (socket) {
  log(`${socket.test} done`, socket.readableFlowing)
  socket.destroy()
}

function listenLater (socket) {
  let isPaused = true
  let bytes = 0
  socket.on('data', (piece) => {
    bytes += piece.length
    if (isPaused) log('data though paused')
    isPaused = false
    if (bytes === kBytes) finish(socket)
  })
  log(socket.isPaused(), socket.readableFlowing)
  setTimeout(() => {
    isPaused = false
    socket.resume()
  }, kStillMs)
}

program(async () => {
  const server = http.createServer()
  server.on('upgrade', (req, socket) => {
    socket.test = `${req.headers.upgrade} ${use}`
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    kUses[use](socket)
  })
  const port = await listen(server)
  let use = ''
  for (use of Object.keys(kUses)) {
    for (const to of ['websocket', 'x']) {
      const wire = await dial(port)
      await play(wire, [message('GET /', ['Connection: Upgrade', `Upgrade: ${to}`]), /101[^]*\r\n\r\n/])
      wire.write(Buffer.alloc(kBytes, 'x'))
      await logged(`${to} ${use} done`)
      await wire.untilClosed()
    }
  }
})
