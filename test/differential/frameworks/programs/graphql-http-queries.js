'use strict'
// graphql-http writes its heads with a reason and ends in one call; queries in the URL and in bodies, refusals.
// covers: 10
// breaks: last-chunk-missing

const { GraphQLObjectType, GraphQLSchema, GraphQLString } = require('graphql')
const { createHandler } = require('graphql-http/lib/use/http')
const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const field = { type: GraphQLString, args: { name: { type: GraphQLString } }, resolve: (_, { name }, context) => `hello ${name ?? context.agent}` }
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { hello: field } }) })
  const port = await listen(http.createServer(createHandler({ schema, context: ({ headers }) => ({ agent: headers['user-agent'] }) })))
  const post = (body, ...more) => talk(port, message('POST /', ['User-Agent: test', `Content-Length: ${body.length}`, 'Connection: close', ...more], body))
  await post('{"query":"{ hello }"}', 'Content-Type: application/json')
  await post('{"query":"query ($n: String) { hello(name: $n) }","variables":{"n":"you"}}', 'Content-Type: application/json; charset=utf-8', 'Accept: application/graphql-response+json')
  await post('{"query":"{ nothing }"}', 'Content-Type: application/json')
  await post('{ hello }', 'Content-Type: text/plain')
  await talk(port, message('GET /?query=%7B+hello+%7D'))
  await talk(port, message('DELETE /'))
})
