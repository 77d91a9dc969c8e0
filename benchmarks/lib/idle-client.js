'use strict'

// Opens connections, sends one request on each, reads the answer and keeps them open. A process of its
// own, so that its sockets count neither against the server's memory nor against its descriptors.
//
//   idle-client.js <port> <connections>

const net = require('node:net')

const [port, wanted] = process.argv.slice(2).map(Number)

/** Connections being opened at a time: within every listen backlog. */
const kOpeningMax = 100

const kRequest = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`

/** @type {net.Socket[]} */
const open = []

/** @returns {Promise<void>} */
function openOne () {
  return new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(kRequest))
    let received = ''
    socket.on('data', (piece) => {
      received += piece.toString('latin1')
      if (received.includes('Hello, world!')) resolve()
    })
    socket.on('error', reject)
    socket.on('close', () => {
      console.error('An idle connection was closed')
      process.exit(1)
    })
    open.push(socket)
  })
}

async function worker () {
  while (open.length < wanted) await openOne()
}

Promise.all(Array.from({ length: kOpeningMax }, worker)).then(() => process.send?.({ connections: open.length }))
process.on('disconnect', () => process.exit())
