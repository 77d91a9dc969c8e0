'use strict'
// fastify and hapi keep connections in Sets and hang properties on them: one object for all requests of a
// connection, another one for the next connection.
// covers: 15, r2, 17
// breaks: socket-per-request

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const seen = new Map()
  const server = http.createServer((req, res) => {
    const { socket } = req
    if (!seen.has(socket)) seen.set(socket, `connection ${seen.size + 1}`)
    socket.uses = (socket.uses ?? 0) + 1
    log(seen.get(socket), socket.uses, req.connection === socket, res.socket === socket, Object.keys(socket).includes('uses'))
    res.on('finish', () => log('finish', res.socket === null, req.socket === socket))
    res.end('ok;')
  })
  const port = await listen(server)
  await talk(port, [message('GET /', []), /ok;/, message('GET /', []), /ok;[^]*ok;/, message('GET /')])
  await talk(port, message('GET /'))
})
