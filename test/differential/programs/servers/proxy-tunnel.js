'use strict'
// An HTTP proxy pipes the socket of CONNECT to another server and back (http-proxy, proxy-chain).
// covers: 39, 21
// breaks: upgraded-bytes-wait, upgraded-end-lost

const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const { dial, listen, listening, log, logged, play, program, talk } = require('../../kit')

program(async () => {
  const echo = net.createServer({ allowHalfOpen: true }, (socket) => {
    let bytes = 0
    socket.on('data', (data) => { bytes += data.length })
    socket.on('end', () => socket.end(`got ${bytes}`))
  })
  echo.listen(0, '127.0.0.1')
  await once(echo, 'listening')
  listening(echo)
  const proxy = http.createServer((req, res) => res.writeHead(405).end())
  proxy.on('connect', (req, client, head) => {
    const upstream = net.connect({ port: echo.address().port, host: '127.0.0.1', allowHalfOpen: true }, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      upstream.write(head)
      client.pipe(upstream).pipe(client)
    })
    client.on('close', () => log('client closed', upstream.bytesWritten, upstream.bytesRead > 0))
  })
  const wire = await dial(await listen(proxy))
  await play(wire, ['CONNECT echo:7 HTTP/1.1\r\nHost: echo:7\r\n\r\n', /Established\r\n\r\n/])
  wire.write(Buffer.alloc(1_000_000, 'x'))
  await talk(wire, [null])
  await logged('client closed')
})
