'use strict'
// A port check connects and leaves: it sees its connection end when the server has heard of it, not before.
// covers: 16, 31
// breaks: unheard-of-connection-ended

const { once } = require('node:events')
const http = require('node:http')
const { Worker } = require('node:worker_threads')
const { listen, log, logged, program, watch } = require('../../kit')

/** How long the server's thread hears nothing: the silence is what is tested. The client needs a hundredth of it. */
const kDeafMs = 300

program(async () => {
  const ended = new Int32Array(new SharedArrayBuffer(4))
  const server = http.createServer(() => log('request'))
  server.on('connection', (socket) => {
    log('connection')
    watch('socket', socket, ['end', 'close'])
  })
  const port = await listen(server)
  const client = new Worker(`
    const { ended, port } = require('node:worker_threads').workerData
    const socket = require('node:net').connect(port, '127.0.0.1', () => socket.end())
    socket.resume().on('end', () => {
      Atomics.store(ended, 0, 1)
      Atomics.notify(ended, 0)
    })`, { eval: true, workerData: { ended, port } })
  const left = once(client, 'exit')
  log('ended unheard', Atomics.wait(ended, 0, 0, kDeafMs))
  await logged('socket close')
  await left
  log('ended', Atomics.load(ended, 0))
})
