'use strict'
// A proxy answers CONNECT and joins the client to another server; what came behind the head goes along.
// covers: 21, 22, r9
// breaks: head-lost

const http = require('node:http')
const net = require('node:net')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const echo = net.createServer((socket) => socket.on('data', (piece) => socket.write(`<${piece}>`)).on('end', () => socket.end('bye')))
  const target = await listen(echo)
  const server = http.createServer(() => log('request'))
  server.on('connect', (req, socket, head) => {
    log('connect', req.method, req.url === `127.0.0.1:${target}`, head.toString(), req.httpVersion)
    const upstream = net.connect(target, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      upstream.write(head)
      upstream.pipe(socket)
      socket.pipe(upstream)
    })
    watch('socket', socket, ['end', 'finish', 'close'])
  })
  const first = message(`CONNECT 127.0.0.1:${target}`, [], 'early')
  await talk(await listen(server), [first, /Established/, 'late', /late/, null])
  await logged('socket close')
})
