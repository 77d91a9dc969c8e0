'use strict'
// A client ends an idle keep-alive connection: the socket hears 'end', then 'close'.
// covers: r3, 16, r8
// breaks: idle-end-unheard

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end('a'))
  server.on('connection', (socket) => {
    for (const type of ['end', 'close']) socket.on(type, (...args) => log(type, args, socket.readable, socket.writable))
  })
  await talk(await listen(server), [message('GET /', []), /\r\n\r\na/, null])
  await logged('close')
})
