'use strict'
// A test double's habit: 'close' emitted on a socket that is open. Its requests are given up, and no more are read.
// covers: 31
// breaks: close-emitted-unheard

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { dial, listen, log, logged, message, play, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { url, socket } = req
    watch(url, req, ['aborted', 'error', 'end', 'close'])
    watch(url, res, ['finish', 'error', 'close'])
    log(url, socket.emit('close'))
    log(url, req.aborted, req.destroyed, res.destroyed, socket.destroyed)
    setImmediate(() => setImmediate(() => {
      log(url, 'later', req.aborted, req.destroyed, res.destroyed, res.writableEnded, socket.destroyed)
      socket.destroy()
    }))
  })
  const port = await listen(server)
  for (const [line, headers] of [['GET /short', []], ['POST /long', ['Content-Length: 4']]]) {
    const wire = await dial(port)
    await play(wire, [message(line, headers)])
    await logged(`${line.split(' ')[1]} later`)
    await talk(wire, [])
  }
  // Node's close() stumbles over what is left here: nobody calls it.
  const called = http.createServer((req, res) => {
    for (const listener of req.socket.listeners('close')) listener.call(req)
    setImmediate(() => setImmediate(() => req.socket.destroy()))
  })
  called.unref()
  await new Promise((resolve) => called.listen(0, '127.0.0.1', resolve))
  await talk(called.address().port, message('GET /called', []))
})
