'use strict'
// The same with chunks, where the client's end comes in the middle of one: the server hears 'clientError' too.
// covers: 31, 24
// breaks: end-of-a-body-unnoticed

const http = require('node:http')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch(req.url, req, ['aborted', 'error', 'end', 'close'])
    watch(req.url, res, ['finish', 'close'])
    req.on('data', (piece) => log(req.url, 'data', String(piece)))
    req.socket.on('close', (hadError) => log(req.url, 'gone', hadError))
  })
  server.on('clientError', (error, socket) => {
    log('clientError', error.code, error.bytesParsed, error.rawPacket?.toString(), socket.writable)
    socket.destroy()
  })
  const port = await listen(server)
  for (const [url, bytes] of [['/between', '3\r\nabc\r\n'], ['/within', '9\r\nabc']]) {
    await talk(port, [message(`POST ${url}`, ['Transfer-Encoding: chunked']), bytes, { event: `${url} data` }, null])
    await logged(`${url} gone`)
  }
})
