'use strict'
// A forced shutdown (fastify's forceCloseConnections: true) ends requests in the middle; uploads and answers hear of it.
// covers: 27, 31
// breaks: close-all-spares, upgraded-still-counted-as-http

const http = require('node:http')
const { dial, listen, log, logged, message, play, program } = require('../../kit')

program(async () => {
  // The order among connections is nobody's business.
  const heard = { '/begun': [], '/upload': [], '/idle': [] }
  const hear = (url, name, emitter, types) => {
    for (const type of types) emitter.on(type, (error) => heard[url].push(`${name} ${type} ${error?.code}`))
  }
  const server = http.createServer((req, res) => {
    hear(req.url, 'req', req, ['aborted', 'error', 'close', 'end'])
    hear(req.url, 'res', res, ['finish', 'error', 'close'])
    if (req.url === '/begun') res.write('begun')
    else if (req.url === '/idle') res.end('idle')
    log('request', req.url)
  })
  server.on('upgrade', (req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    socket.on('data', (data) => socket.end(data))
  })
  server.on('close', () => log('close'))
  const port = await listen(server)
  const wires = {}
  for (const name of ['begun', 'upload', 'idle']) {
    wires[name] = await dial(port)
    await play(wires[name], [name === 'upload' ? message('POST /upload', ['Content-Length: 6'], 'abc') : message(`GET /${name}`, []), { event: `request /${name}` }])
  }
  await wires.idle.until(/idle$/)
  const upgraded = await dial(port)
  await play(upgraded, [message('GET /', ['Connection: Upgrade', 'Upgrade: x']), /101/])
  server.close(() => log('closed'))
  server.closeAllConnections()
  log('closeAllConnections returned')
  for (const wire of Object.values(wires)) await wire.untilClosed()
  for (const [url, events] of Object.entries(heard)) log(url, events)
  await play(upgraded, ['still there', /still there/, null])
  await logged('closed')
})
