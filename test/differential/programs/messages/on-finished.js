'use strict'
// on-finished asks msg.finished, socket.writable, msg.complete, msg.readable and msg.upgrade; morgan logs
// by its answer.
// covers: 33
// breaks: complete-untold

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

/** @param {any} msg @returns {boolean | undefined} */
function isFinished (msg) {
  const { socket } = msg
  if (typeof msg.finished === 'boolean') return Boolean(msg.finished || (socket && !socket.writable))
  if (typeof msg.complete === 'boolean') return Boolean(msg.upgrade || !socket || !socket.readable || (msg.complete && !msg.readable))
}

program(async () => {
  const server = http.createServer((req, res) => {
    const look = (when) => log(req.url, when, isFinished(req), isFinished(res), req.readable, req.complete, Boolean(res.socket))
    look('request')
    req.on('end', () => look('end'))
    req.on('close', () => look('close'))
    res.on('finish', () => look('finish'))
    res.on('close', () => look('response close'))
    if (req.url === '/reads') req.resume()
    if (req.url === '/leaves') return req.socket.on('close', () => look('socket close'))
    setImmediate(() => {
      look('immediate')
      res.end('ok')
      look('ended')
    })
  })
  server.on('upgrade', (req, socket) => {
    log('upgrade', isFinished(req), req.complete, req.readable)
    socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  })
  const port = await listen(server)
  await talk(port, message('GET /plain'))
  await logged('/plain response close')
  await talk(port, message('POST /reads', ['Connection: close', 'Content-Length: 4'], 'body'))
  await logged('/reads response close')
  const wire = await dial(port)
  await play(wire, [message('GET /leaves', []), { event: '/leaves request' }])
  wire.destroy()
  await logged('/leaves close')
  await talk(port, message('GET /', ['Connection: Upgrade', 'Upgrade: x']))
})
