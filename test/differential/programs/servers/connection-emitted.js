'use strict'
// Tunnels, TLS terminators and tests give a server connections of their own with emit("connection", duplex).
// covers: 40
// breaks: engine-handles-only

const http = require('node:http')
const { Duplex } = require('node:stream')
const { answer, listen, log, logged, message, program, talk } = require('../../kit')

function pair () {
  const ends = [null, null].map((_, i) => new Duplex({
    read () {},
    write (chunk, encoding, callback) {
      ends[1 - i].push(chunk)
      callback()
    },
    final (callback) {
      ends[1 - i].push(null)
      callback()
    }
  }))
  return ends
}

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.url, req.socket === far, req.socket.remoteAddress, res.socket === req.socket)
    req.on('data', (data) => log(String(data))).on('end', () => res.end(`${req.url} served`))
  })
  server.on('connection', (socket) => log('connection', socket === far))
  const [near, far] = pair()
  server.emit('connection', far)
  let text = ''
  near.on('data', (data) => { text += data }).on('end', () => log('near end'))
  near.write(message('POST /1', ['Content-Length: 3'], 'abc'))
  await logged('abc')
  near.write(message('GET /2'))
  await logged('near end')
  answer(text)
  await talk(await listen(server), message('GET /over-the-wire'))
})
