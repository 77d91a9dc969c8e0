// Express, WebSockets, HTTPS and two processes on a port in TypeScript. everything.mts has the same text, so that one is compiled to
// CommonJS and the other to a module.

import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import https from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createServer } from '@httpsys/core-native'
import { createAdapter } from '@httpsys/express-adapter'
import { WebSocket, WebSocketServer } from '@httpsys/websocket'
import express from 'express'

function serve (name: string): void {
  const server = createServer((req, res) => { res.end(`${name} ${process.pid}`) })
  server.listen(`http://*:18080/${name}/`, () => process.send?.('listening'))
  process.on('disconnect', () => server.close())
}

async function twoProcesses (): Promise<void> {
  const children = ['a', 'b'].map((name) => ({ name, process: fork(process.argv[1], [name]) }))
  await Promise.all(children.map((child) => once(child.process, 'message')))
  for (const { name, process: { pid } } of children) {
    assert.equal(await (await fetch(`http://127.0.0.1:18080/${name}/`)).text(), `${name} ${pid}`)
  }
  for (const child of children) {
    child.process.disconnect()
    assert.deepEqual(await once(child.process, 'exit'), [0, null])
  }
}

async function expressAndWebSockets (): Promise<void> {
  const app = express()
  app.get('/shop/', (req, res) => { res.json({ url: req.url }) })
  const adapter = createAdapter(app)
  const server = adapter.listen('http://*:18081/shop/')
  const wss = new WebSocketServer({ server })
  wss.on('connection', (socket) => { socket.on('message', (data, binary) => { socket.send(data, { binary }) }) })
  await once(server, 'listening')
  assert.deepEqual(await (await fetch('http://127.0.0.1:18081/shop/?a')).json(), { url: '/shop/?a' })
  const client = new WebSocket('ws://127.0.0.1:18081/shop/')
  await once(client, 'open')
  client.send('an echo')
  assert.equal(String((await once(client, 'message'))[0]), 'an echo')
  client.close()
  await once(client, 'close')
  adapter.close()
}

async function tls (): Promise<void> {
  const adapter = createAdapter((req, res) => { res.end(req.method) })
  const server = adapter.listen('https://localhost:18443/', { devCert: true })
  await once(server, 'listening')
  const port = (server.address() as AddressInfo).port
  const [response] = await once(https.get({ port, rejectUnauthorized: false, agent: false }), 'response') as [IncomingMessage]
  assert.equal(await text(response), 'GET')
  adapter.close()
}

async function main (): Promise<void> {
  await expressAndWebSockets()
  await tls()
  await twoProcesses()
}

if (process.argv[2] === undefined) void main()
else serve(process.argv[2])
