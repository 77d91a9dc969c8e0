'use strict'
// hapi answers the same to server.inject(), which subclasses http.ServerResponse, and over the wire.
// covers: 2, 7, 30
// breaks: last-header-line-lost

const Hapi = require('@hapi/hapi')
const { answer, listening, message, program, talk } = require('../../kit')

program(async () => {
  const server = Hapi.server({ port: 0, host: '127.0.0.1' })
  server.route([
    { method: 'GET', path: '/text', handler: () => 'h\u00e9' },
    { method: 'GET', path: '/object/{id?}', handler: ({ params, query }, h) => h.response({ ...params, ...query }).code(201).header('X-Case', 'kept').etag('tag') },
    { method: 'GET', path: '/stream', handler: () => require('node:stream').Readable.from([Buffer.from('a'), Buffer.from('b')]) },
    { method: 'POST', path: '/echo', handler: ({ payload }) => payload },
    { method: '*', path: '/any', handler: ({ method }, h) => h.response(method).type('text/plain') },
    { method: 'GET', path: '/fails', handler: () => { throw new Error('hidden') } },
  ])
  await server.start()
  const port = listening(server.listener)
  for (const url of ['/text', '/object/7?b=1', '/stream', '/fails', '/none']) {
    try {
      const { statusCode, headers, payload } = await server.inject(url)
      answer('inject', statusCode, { ...headers, date: undefined }, payload)
    } catch (error) {
      answer('inject', String(error))
    }
    await talk(port, message(`GET ${url}`))
  }
  await talk(port, message('GET /object', ['Connection: close', 'If-None-Match: "tag"']))
  await talk(port, message('POST /echo', ['Content-Type: application/json', 'Content-Length: 7', 'Connection: close'], '{"a":1}'))
  for (const method of ['PUT', 'HEAD', 'DELETE']) await talk(port, message(`${method} /any`))
})
