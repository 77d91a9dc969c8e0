'use strict'
// raw-body and hapi look into a request's stream: encoding, length, flowing, whether it was read or has ended.
// covers: 34
// breaks: body-before-its-reader

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const look = (when) => {
      const state = req._readableState
      log(req.url, when, state.encoding, state.length, state.ended, state.endEmitted, state.flowing, state.resumeScheduled, state.readableListening)
      log(req.url, when, req.readable, req.readableDidRead, req.readableEnded, req.readableLength, req.readableObjectMode, req.listenerCount('data'), req._consuming)
    }
    look('request')
    process.nextTick(look, 'tick')
    setImmediate(() => {
      look('immediate')
      req.setEncoding('utf8')
      req.on('data', (piece) => look(typeof piece))
      look('listening')
      req.on('end', () => {
        look('end')
        res.end()
      })
    })
  })
  const port = await listen(server)
  await talk(port, message('GET /none'))
  await talk(port, message('POST /short', ['Connection: close', 'Content-Length: 4'], 'body'))
  await talk(port, message('POST /chunked', ['Connection: close', 'Transfer-Encoding: chunked'], '4\r\nbody\r\n0\r\n\r\n'))
})
