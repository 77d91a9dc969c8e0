'use strict'
// Applications ask what they hold: a connection is a net.Socket, a Duplex and an EventEmitter, by class
// and by name.
// covers: r2
// breaks: socket-class-name

const http = require('node:http')
const net = require('node:net')
const stream = require('node:stream')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { socket } = req
    log(socket instanceof net.Socket, socket instanceof stream.Duplex, socket instanceof stream.Writable)
    log(socket.constructor.name, Object.prototype.toString.call(socket), typeof socket.ref, typeof socket.destroySoon)
    log(socket.connecting, socket.pending, socket.readyState, socket.allowHalfOpen, socket.autoSelectFamilyAttemptedAddresses)
    res.end()
  })
  await talk(await listen(server), message('GET /'))
})
