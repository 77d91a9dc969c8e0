'use strict'
// pause() and resume() of a connection are heard by who listens, and stop an upload in between.
// covers: r6
// breaks: pause-unheard

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { socket } = req
    watch('socket', socket, ['pause', 'resume'])
    socket.pause()
    log('paused', socket.isPaused())
    req.on('data', (piece) => log('data', piece.toString()))
    req.on('end', () => res.end('ok'))
    setImmediate(() => {
      socket.resume()
      log('resumed', socket.isPaused())
    })
  })
  await talk(await listen(server), [message('POST /', ['Connection: close', 'Content-Length: 4']), { event: 'resumed' }, 'body'])
})
