'use strict'

// Runs beside each test file below Wine. The http.sys of Wine 10 has one event for all its sockets and may miss one
// when many connections are made; any other activity wakes it again. So: a request every 20 ms on one connection.

const { randomInt } = require('node:crypto')
const nodeHttp = require('node:http')
const http = require('../../packages/core-native')

const kIntervalMs = 20

const server = http.createServer((req, res) => res.end())
const agent = new nodeHttp.Agent({ keepAlive: true, maxSockets: 1 })

// It compares ports without their last digit: others are given ports up to 60999.
const listen = () => server.listen(randomInt(61_000, 65_536), '127.0.0.1')

server.on('error', listen)
server.on('listening', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const tick = () => {
    const again = () => setTimeout(tick, kIntervalMs)
    nodeHttp.get({ port, host: '127.0.0.1', agent }, (res) => res.resume().on('end', again)).on('error', again)
  }
  tick()
})
listen()
