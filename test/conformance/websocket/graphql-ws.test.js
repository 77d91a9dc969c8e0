'use strict'

// Goal: graphql-ws works unmodified, on ws and on @fastify/websocket, with its own client.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fastify = require('fastify')
const fastifyWebsocket = require('@fastify/websocket')
const { GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString } = require('graphql')
const { CloseCode, GRAPHQL_TRANSPORT_WS_PROTOCOL, createClient } = require('graphql-ws')
const { makeHandler } = require('graphql-ws/use/@fastify/websocket')
const { useServer } = require('graphql-ws/use/ws')
const { WebSocket, WebSocketServer } = require('ws')
const { http } = require('../../helpers/backend')
const { atEnd, closing, echo, ask, open, serve } = require('./kit')

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: { who: { type: GraphQLString, resolve: (source, args, { extra }) => extra.request.socket.remoteAddress } }
  }),
  subscription: new GraphQLObjectType({
    name: 'Subscription',
    fields: {
      count: {
        type: GraphQLInt,
        args: { to: { type: new GraphQLNonNull(GraphQLInt) } },
        subscribe: async function * (source, { to }) {
          for (let i = 1; i <= to; i++) {
            yield { count: i }
            await new Promise((resolve) => setImmediate(resolve))
          }
        }
      }
    }
  })
})

// A client that answers later is cut off: long enough for a busy machine.
const kPingMs = 5000

const context = (/** @type {any} */ connection) => connection

/** @param {import('node:test').TestContext} t @param {number} port @param {object} [options] */
function clientOf (t, port, options = {}) {
  const client = createClient({ url: `ws://127.0.0.1:${port}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0, ...options })
  atEnd(t, () => client.dispose())
  return client
}

/** @param {any} client @param {string} query @returns {Promise<any[]>} every answer */
async function all (client, query) {
  const answers = []
  for await (const { data, errors } of client.iterate({ query })) answers.push(errors ?? data)
  return answers
}

/** @type {Record<string, (t: import('node:test').TestContext, options: object) => Promise<number>>} */
const kWays = {
  'ws, { server, path }': async (t, options) => {
    const server = http.createServer()
    const disposable = useServer({ schema, context, ...options }, new WebSocketServer({ server, path: '/graphql' }), kPingMs)
    atEnd(t, () => disposable.dispose())
    return serve(t, server)
  },
  'ws, split by path from an echo': async (t, options) => {
    const server = http.createServer()
    const [graphql, plain] = [new WebSocketServer({ noServer: true }), echo(new WebSocketServer({ noServer: true }))]
    const disposable = useServer({ schema, context, ...options }, graphql)
    atEnd(t, () => disposable.dispose())
    server.on('upgrade', (req, socket, head) => {
      const wss = req.url === '/graphql' ? graphql : plain
      wss.handleUpgrade(req, socket, head, (client) => wss.emit('connection', client, req))
    })
    const port = await serve(t, server)
    assert.equal(await ask(await open(t, port, '/echo'), 'beside'), 'beside')
    return port
  },
  '@fastify/websocket': async (t, options) => {
    const app = fastify({ forceCloseConnections: true, serverFactory: (handler) => http.createServer(handler) })
    app.register(fastifyWebsocket, { options: { handleProtocols: () => GRAPHQL_TRANSPORT_WS_PROTOCOL } })
    app.register(async (scope) => { scope.get('/graphql', { websocket: true }, makeHandler({ schema, context, ...options })) })
    t.after(async () => {
      for (const client of app.websocketServer.clients) client.terminate()
      await app.close()
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return /** @type {any} */ (app.server.address()).port
  }
}

for (const [way, start] of Object.entries(kWays)) {
  test(`${way}: a query, subscriptions side by side, and a refusal`, async (t) => {
    const port = await start(t, {
      onConnect: (/** @type {any} */ { connectionParams }) => connectionParams?.token !== 'wrong'
    })
    const client = clientOf(t, port, { keepAlive: 30 })
    assert.deepEqual(await all(client, '{ who }'), [{ who: '127.0.0.1' }])
    const [three, hundred] = await Promise.all([all(client, 'subscription { count(to: 3) }'), all(client, 'subscription { count(to: 100) }')])
    assert.deepEqual(three.map(({ count }) => count), [1, 2, 3])
    assert.deepEqual(hundred.map(({ count }) => count), Array.from({ length: 100 }, (_, i) => i + 1))
    const [[error]] = await all(client, '{ nonsense }').catch((errors) => [errors])
    assert.match(error.message, /Cannot query field/)
    const refused = await all(clientOf(t, port, { connectionParams: { token: 'wrong' } }), '{ who }').catch((event) => event)
    assert.deepEqual([refused.code, refused.reason], [CloseCode.Forbidden, 'Forbidden'])
    await client.dispose()
  })
}

test('a client without the subprotocol, and one that says nothing, are closed with the protocol\'s codes', async (t) => {
  const port = await kWays['ws, { server, path }'](t, { connectionInitWaitTimeout: 50 })
  const plain = new WebSocket(`ws://127.0.0.1:${port}/graphql`)
  assert.equal((await closing(plain))[0], 4406)
  const silent = await open(t, port, '/graphql', [GRAPHQL_TRANSPORT_WS_PROTOCOL])
  assert.equal((await closing(silent))[0], CloseCode.ConnectionInitialisationTimeout)
})
