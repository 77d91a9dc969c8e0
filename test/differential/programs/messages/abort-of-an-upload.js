'use strict'
// raw-body, multer and hapi clean up when a client leaves in the middle of an upload: 'aborted', an error,
// 'close', and the request's flags.
// covers: 31, r13
// breaks: abort-without-error, open-request-forgotten

const http = require('node:http')
const { dial, listen, log, logged, message, play, program } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const look = (...words) => log(req.url, ...words, req.aborted, req.destroyed, req.complete, req.readableAborted, req.readableEnded, req.errored?.code)
    look('request')
    req.on('data', (piece) => look('data', String(piece)))
    req.on('end', () => look('end'))
    req.on('aborted', () => look('aborted'))
    req.on('error', (error) => look('error', error.message, error.code))
    req.on('close', () => {
      look('close')
      log(`${req.url} gone`)
    })
    res.on('close', () => log('response close', res.writableEnded, res.writableFinished, res.destroyed))
  })
  const port = await listen(server)
  for (const [url, leave] of [['/end', (socket) => socket.end()], ['/reset', (socket) => socket.resetAndDestroy()]]) {
    const wire = await dial(port)
    await play(wire, [message(`POST ${url}`, ['Content-Length: 10']), 'abc', { event: `${url} data` }])
    leave(wire.socket)
    await logged(`${url} gone`)
  }
})
