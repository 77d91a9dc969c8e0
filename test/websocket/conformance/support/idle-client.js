'use strict'

// Holds many WebSockets open, in a process of its own because of the limit on descriptors.

const net = require('node:net')
const { handshake } = require('./handshake')
const { text } = require('./frames')

/** Connections being opened at a time: within every listen backlog. */
const kOpeningMax = 100

/** @param {number} port @param {number} count @param {(message: any) => void} report */
async function run (port, count, report) {
  /** @type {net.Socket[]} */
  const open = []
  let started = 0
  let closed = 0
  let answers = 0
  const openOne = () => new Promise((resolve, reject) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(handshake('/')))
    let received = ''
    socket.on('data', (piece) => {
      received += piece.toString('latin1')
      if (!received.includes('\r\n\r\n')) return
      socket.removeAllListeners('data')
      socket.on('data', () => {
        if (++answers === count) report({ answers })
      })
      open.push(socket)
      resolve(null)
    })
    socket.on('error', reject)
    socket.on('close', () => { closed++ })
  })
  const worker = async () => {
    while (started < count) {
      started++
      await openOne()
    }
  }
  process.on('message', (message) => {
    if (message === 'count') report({ count: { open: open.length, closed } })
    if (message === 'speak') for (const socket of open) socket.write(text('awake'))
  })
  await Promise.all(Array.from({ length: kOpeningMax }, worker))
  report({ opened: open.length })
}

module.exports = { run }
