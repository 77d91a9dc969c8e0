'use strict'
// graphql-ws: a client sends its first frame right behind the handshake, in the same segment; then a subscription.
// covers: 21, r9
// breaks: bytes-behind-upgrade-lost

const { GraphQLInt, GraphQLObjectType, GraphQLSchema, GraphQLString } = require('graphql')
const { useServer } = require('graphql-ws/use/ws')
const http = require('node:http')
const { WebSocketServer } = require('ws')
const { answer, dial, listen, log, logged, message, play, program, within } = require('../../kit')

const frame = (value) => {
  const text = JSON.stringify(value)
  return `\x81${String.fromCharCode(0x80 | text.length)}\0\0\0\0${text}`
}

program(async () => {
  const count = { type: GraphQLInt, args: { to: { type: GraphQLInt } }, subscribe: async function * (_, { to }) { for (let count = 1; count <= to; count++) yield { count } } }
  const schema = new GraphQLSchema({
    query: new GraphQLObjectType({ name: 'Query', fields: { hello: { type: GraphQLString, resolve: () => 'world' } } }),
    subscription: new GraphQLObjectType({ name: 'Subscription', fields: { count } }),
  })
  const server = http.createServer((req, res) => res.writeHead(426).end())
  const sockets = new WebSocketServer({ server, path: '/graphql' })
  useServer({ schema, onConnect: ({ connectionParams }) => log('connect', connectionParams), onDisconnect: (_, code) => log('disconnect', code) }, sockets)
  const wire = await dial(await listen(server))
  await play(wire, [
    message('GET /graphql', ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Protocol: graphql-transport-ws'],
      frame({ type: 'connection_init', payload: { token: 't' } })),
  ])
  await within(wire.until(/connection_ack/))
  if (/connection_ack/.test(wire.text)) {
    await play(wire, [frame({ id: '1', type: 'subscribe', payload: { query: 'subscription { count(to: 3) }' } }), /"id":"1","type":"complete"/])
    await play(wire, [frame({ id: '2', type: 'subscribe', payload: { query: '{ hello }' } }), /"id":"2","type":"complete"/])
    wire.write('\x88\x82\0\0\0\0\x03\xe8')
    await logged('disconnect')
  }
  answer(wire.text)
  wire.destroy()
  sockets.close()
})
