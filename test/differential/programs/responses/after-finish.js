'use strict'
// What "finish" and "close" find: the socket let go, the states of the response, in this order.
// covers: r11, 13, 32
// breaks: response-keeps-socket, message-cleared-late, finish-queued-late

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { socket } = req
    const tell = (when) => log(when, res.socket === socket, res.socket === null, res.writableEnded, res.writableFinished, res.finished,
      res.destroyed, res.writable, socket._httpMessage === res, req.complete)
    log('request', res.socket === socket, res.connection === socket, socket._httpMessage === res, res.writable)
    for (const event of ['prefinish', 'finish', 'close']) res.on(event, () => tell(event))
    res.on('prefinish', () => process.nextTick(() => log('tick of prefinish')))
    res.end('text')
    process.nextTick(() => log('tick'))
    setImmediate(() => log('immediate', res.destroyed))
  })
  const port = await listen(server)
  await talk(port, [message('GET /', []), /text$/, { event: 'immediate' }, message('GET /last')])
})
