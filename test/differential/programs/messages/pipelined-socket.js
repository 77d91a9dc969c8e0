'use strict'
// on-finished waits for 'socket': a response behind another one has none until its turn, then that of the request.
// covers: 35, 33
// breaks: socket-untold

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  let first
  const server = http.createServer((req, res) => {
    log('request', req.url, res.socket === null, res.connection === null, req.socket._httpMessage === res, res.writable, res.writableLength)
    res.on('socket', (socket) => log('socket', req.url, socket === req.socket, socket._httpMessage === res))
    res.on('finish', () => log('finish', req.url, res.socket !== null))
    first ??= res
    if (first === res) return
    res.end('2;')
    log('ended', res.writableEnded, res.writableFinished, res.writableLength, res.socket === null)
    first.end('1;')
  })
  await talk(await listen(server), [message('GET /1', []), { event: 'request /1' }, message('GET /2')])
})
