'use strict'

// Goal: express-ws works unmodified, with each Express and as part of an adapter.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const express = require('express')
const express4 = require('express4')
const expressWs = require('express-ws')
const { createAdapter } = require('@httpsys/express-adapter')
const { http } = require('../../helpers/backend')
const { request } = require('../../helpers/client')
const { ask, atEnd, closing, open, serve } = require('./kit')

/** @typedef {{ express: any, serverOf: (t: import('node:test').TestContext, app: any) => any }} Kind */
/** @type {Record<string, Kind>} */
const kKinds = {
  'Express 5': { express, serverOf: (t, app) => http.createServer(app) },
  'Express 4': { express: express4, serverOf: (t, app) => http.createServer(app) },
  'Express 5 on an adapter': {
    express,
    serverOf: (t, app) => {
      const adapter = createAdapter(app)
      t.after(() => adapter.uninstall())
      return adapter.server
    }
  }
}

/** @param {any} socket */
const echo = (socket) => socket.on('message', (/** @type {any} */ text) => socket.send(text))

for (const [name, { express, serverOf }] of Object.entries(kKinds)) {
  test(`${name}: routes, parameters, middleware and routers`, async (t) => {
    const app = express()
    const server = serverOf(t, app)
    const { applyTo, getWss } = expressWs(app, server, { wsOptions: { maxPayload: 1000 } })
    app.use((/** @type {any} */ req, /** @type {any} */ res, /** @type {() => void} */ next) => {
      req.seen = `seen ${req.method}`
      next()
    })
    app.get('/page', (/** @type {any} */ req, /** @type {any} */ res) => { res.send(`${req.seen} ${req.ip}`) })
    app.ws('/echo', echo)
    app.ws('/room/:name', (/** @type {any} */ socket, /** @type {any} */ req) => {
      socket.on('message', () => socket.send(JSON.stringify([req.params.name, req.query.x, req.seen, req.ip])))
    })
    const router = express.Router()
    applyTo(router)
    router.ws('/deep', (/** @type {any} */ socket, /** @type {any} */ req) => socket.on('message', () => socket.send(req.baseUrl)))
    app.use('/area', router)
    const port = await serve(t, server)
    assert.equal(await ask(await open(t, port, '/echo'), 'hello'), 'hello')
    assert.deepEqual(JSON.parse(await ask(await open(t, port, '/room/blue?x=1'), '')), ['blue', '1', 'seen GET', '127.0.0.1'])
    assert.equal(await ask(await open(t, port, '/area/deep'), ''), '/area')
    assert.equal((await request({ port, path: '/page' })).body, 'seen GET 127.0.0.1')
    assert.equal(getWss().clients.size, 3)
    const limited = await open(t, port, '/echo')
    const closed = closing(limited)
    for (const socket of getWss().clients) socket.on('error', () => {})
    limited.send('x'.repeat(1001))
    assert.equal((await closed)[0], 1009)
  })

  test(`${name}: a route that is not there, or a middleware that refuses, closes the WebSocket`, async (t) => {
    const app = express()
    const server = serverOf(t, app)
    expressWs(app, server)
    app.use('/secret', (/** @type {any} */ req, /** @type {any} */ res) => { res.status(403).end() })
    app.ws('/secret/room', echo)
    const port = await serve(t, server)
    for (const path of ['/nowhere', '/secret/room']) {
      const client = await open(t, port, path)
      atEnd(t, () => client.terminate())
      assert.equal((await closing(client))[0], 1005, path)
    }
    assert.equal((await request({ port, path: '/nowhere' })).status, 404)
  })
}

test('getWss() broadcasts to everybody', async (t) => {
  const app = express()
  const server = http.createServer(app)
  const { getWss } = expressWs(app, server)
  app.ws('/all', (/** @type {any} */ socket) => socket.on('message', (/** @type {any} */ text) => {
    for (const client of getWss().clients) client.send(text)
  }))
  const port = await serve(t, server)
  const clients = await Promise.all(Array.from({ length: 20 }, () => open(t, port, '/all')))
  const heard = Promise.all(clients.map((client) => new Promise((resolve) => client.once('message', (data) => resolve(data.toString())))))
  clients[3].send('to all')
  assert.deepEqual(new Set(await heard), new Set(['to all']))
})
