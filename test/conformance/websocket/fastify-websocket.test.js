'use strict'

// Goal: @fastify/websocket works unmodified on a server that fastify gets from its serverFactory.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const fastify = require('fastify')
const websocket = require('@fastify/websocket')
const { http } = require('../../helpers/backend')
const { request } = require('../../helpers/client')
const { ask, atEnd, closing, dial, open, refusal } = require('./kit')

/**
 * @param {import('node:test').TestContext} t
 * @param {(app: any) => void} routes
 * @param {object} [options] of @fastify/websocket
 */
async function start (t, routes, options = {}) {
  const app = fastify({ forceCloseConnections: true, serverFactory: (handler) => http.createServer(handler) })
  app.register(websocket, options)
  app.register(async (scope) => routes(scope))
  t.after(async () => {
    for (const client of app.websocketServer.clients) client.terminate()
    await app.close()
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, port: /** @type {any} */ (app.server.address()).port }
}

/** @param {any} socket */
const echo = (socket) => socket.on('message', (/** @type {any} */ data, /** @type {boolean} */ isBinary) => socket.send(data, { binary: isBinary }))

test('a route with { websocket: true } beside plain ones, and one that is both', async (t) => {
  const { port } = await start(t, (app) => {
    app.get('/plain', () => 'plain')
    app.get('/echo/:name', { websocket: true }, (/** @type {any} */ socket, /** @type {any} */ req) => {
      socket.send(`${req.params.name} ${req.query.x} ${req.ip}`)
      echo(socket)
    })
    app.route({ method: 'GET', url: '/both', handler: () => 'page', wsHandler: echo })
  })
  const client = dial(t, port, '/echo/a?x=1')
  assert.equal((await once(client, 'message'))[0].toString(), 'a 1 127.0.0.1')
  assert.equal(await ask(client, 'hello'), 'hello')
  assert.equal(await ask(await open(t, port, '/both'), 'both'), 'both')
  assert.equal((await request({ port, path: '/both' })).body, 'page')
  assert.equal((await request({ port, path: '/plain' })).body, 'plain')
  assert.equal((await request({ port, path: '/echo/a' })).status, 404)
})

test('hooks and schemas refuse a handshake with any status and a body', async (t) => {
  const { port } = await start(t, (app) => {
    app.addHook('preValidation', async (/** @type {any} */ req, /** @type {any} */ reply) => {
      if (req.query.status !== undefined) await reply.header('x-why', 'hook').code(Number(req.query.status)).send({ refused: true })
    })
    app.get('/', { websocket: true, schema: { querystring: { type: 'object', properties: { n: { type: 'integer' } } } } }, echo)
  })
  for (const status of [401, 403, 404, 429, 503]) {
    const refused = await refusal(t, port, `/?status=${status}`)
    assert.deepEqual([refused.status, refused.headers['x-why'], refused.body], [status, 'hook', '{"refused":true}'])
  }
  assert.equal((await refusal(t, port, '/?n=many')).status, 400)
  assert.equal((await refusal(t, port, '/nowhere')).status, 404)
  assert.equal(await ask(await open(t, port, '/?n=1'), 'in'), 'in')
})

test('verifyClient, maxPayload and subprotocols are those of ws', async (t) => {
  const { port } = await start(t, (app) => app.get('/', { websocket: true }, echo), {
    options: {
      maxPayload: 1000,
      verifyClient: (/** @type {any} */ { req }, /** @type {any} */ done) => done(req.headers['x-token'] === 'secret', 403, 'no'),
      handleProtocols: () => 'v2'
    },
    errorHandler: (/** @type {any} */ reason, /** @type {any} */ socket) => socket.terminate()
  })
  assert.equal((await refusal(t, port)).status, 403)
  const client = await open(t, port, '/', ['v1', 'v2'], { headers: { 'x-token': 'secret' } })
  assert.equal(client.protocol, 'v2')
  const closed = closing(client)
  client.send('x'.repeat(1001))
  assert.ok([1006, 1009].includes((await closed)[0]))
})

test('a handler that throws ends its WebSocket only', async (t) => {
  const errors = /** @type {string[]} */ ([])
  const { port } = await start(t, (app) => {
    app.get('/throws', { websocket: true }, async () => { throw new Error('in the handler') })
    app.get('/echo', { websocket: true }, echo)
  }, {
    errorHandler: (/** @type {any} */ error, /** @type {any} */ socket) => {
      errors.push(error.message)
      socket.terminate()
    }
  })
  const other = await open(t, port, '/echo')
  const client = dial(t, port, '/throws')
  client.on('error', () => {})
  assert.equal((await closing(client))[0], 1006)
  assert.deepEqual(errors, ['in the handler'])
  assert.equal(await ask(other, 'still here'), 'still here')
})

test('close() of the application says goodbye to its WebSockets', async (t) => {
  const { app, port } = await start(t, (scope) => scope.get('/', { websocket: true }, echo))
  const client = await open(t, port)
  atEnd(t, () => client.terminate())
  const closed = closing(client)
  await app.close()
  assert.equal((await closed)[0], 1005)
})
