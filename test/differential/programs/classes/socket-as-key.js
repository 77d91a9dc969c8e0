'use strict'
// fastify and hapi keep sets and maps of sockets, and notes on the sockets themselves.
// covers: 15
// breaks: socket-per-request

const http = require('node:http')
const { dial, listen, log, message, play, program } = require('../../kit')

program(async () => {
  const known = new WeakMap()
  const all = new Set()
  const server = http.createServer((req, res) => {
    const { socket } = req
    all.add(socket)
    const count = (known.get(socket) ?? 0) + 1
    known.set(socket, count)
    socket.notes ??= []
    socket.notes.push(req.url)
    log(all.size, count, socket.notes, res.socket === socket, req.connection === socket)
    res.end(`${count}.`)
  })
  const port = await listen(server)
  const wires = [await dial(port), await dial(port)]
  for (const n of [1, 2, 3]) {
    for (const wire of wires) await play(wire, [message(`GET /${n}`, []), new RegExp(`${n}\\.$`)])
  }
})
