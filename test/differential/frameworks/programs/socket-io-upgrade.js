'use strict'
// A socket.io client begins with polling and upgrades to WebSocket; messages, acknowledgements and binary go both ways.
// covers: 6, 21, 22
// breaks: only-upgrade-listener-overlooked

const http = require('node:http')
const { Server } = require('socket.io')
const { io: connect } = require('socket.io-client')
const { answer, listen, log, logged, program } = require('../../kit')

program(async () => {
  const server = http.createServer()
  const io = new Server(server)
  io.on('connection', (socket) => {
    log('connected by', socket.conn.transport.name)
    socket.conn.once('upgrade', (transport) => log('server upgraded to', transport.name))
    socket.on('echo', (value, done) => done(value))
    socket.on('disconnect', (reason) => log('disconnect', reason))
  })
  const client = connect(`http://127.0.0.1:${await listen(server)}`, { reconnection: false })
  const changed = new Promise((resolve) => {
    client.io.engine.once('upgrade', ({ name }) => resolve(`upgraded to ${name}`))
    client.io.engine.once('upgradeError', ({ message }) => resolve(`not upgraded: ${message}`))
  })
  answer(await changed)
  for (const value of ['text', { a: [1] }, Buffer.from([1, 2, 255]), 'x'.repeat(200_000)]) {
    const back = await client.emitWithAck('echo', value)
    answer(typeof back === 'string' ? back.length : back)
  }
  client.disconnect()
  await logged('disconnect')
  await new Promise((resolve) => io.close(resolve))
  answer('closed', server.listening)
})
