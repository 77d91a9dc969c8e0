'use strict'
// socket.io takes the server's 'request' listeners away, puts its own in their place and calls the old ones for other paths.
// covers: 6, 10
// breaks: listeners-captured-at-creation

const http = require('node:http')
const { Server } = require('socket.io')
const { answer, dial, listen, log, message, play, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.setHeader('X-By', 'application').end('page'))
  const io = new Server(server, { pingInterval: 60_000, cors: { origin: 'http://b' } })
  let ids = 0
  io.engine.generateId = () => `id${++ids}`
  io.on('connection', (socket) => {
    log('connected', socket.conn.transport.name, socket.handshake.address, socket.handshake.query.EIO)
    socket.on('say', (word, done) => done(word.toUpperCase()))
    socket.on('disconnect', (reason) => log('disconnect', reason))
  })
  const port = await listen(server)
  const close = ['Origin: http://b', 'Connection: close']
  const ask = async (line, body) => {
    const wire = await dial(port)
    await play(wire, [message(line, body === undefined ? close : [...close, 'Content-Type: text/plain', `Content-Length: ${body.length}`], body)])
    answer((await wire.untilClosed()).replace(/"sid":"[\w-]{20}"/, '"sid":"random"'))
  }
  await talk(port, message('GET /page'))
  const path = '/socket.io/?EIO=4&transport=polling'
  await ask(`GET ${path}`)
  await ask(`POST ${path}&sid=id1`, '40')
  await ask(`GET ${path}&sid=id1`)
  await ask(`POST ${path}&sid=id1`, '420["say","word"]')
  await ask(`GET ${path}&sid=id1`)
  await ask(`GET ${path}&sid=unknown`)
  await ask(`OPTIONS ${path}`)
  await ask('GET /socket.io/?EIO=4&transport=none')
  await ask(`POST ${path}&sid=id1`, '41')
  io.close()
})
