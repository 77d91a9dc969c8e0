'use strict'
// Hono builds its Request from req.rawHeaders, and answers with text, JSON, streams, several cookies; HEAD and bodies.
// covers: 10, 11, 30
// breaks: raw-headers-left-out

const { serve } = require('@hono/node-server')
const { getConnInfo } = require('@hono/node-server/conninfo')
const { once } = require('node:events')
const { Hono } = require('hono')
const { listening, message, program, talk } = require('../../kit')

program(async () => {
  const app = new Hono()
  app.get('/text', (c) => c.text('h\u00e9'))
  app.get('/info', (c) => c.json({ url: c.req.url, headers: c.req.header(), address: getConnInfo(c).remote.address, family: getConnInfo(c).remote.addressType }))
  app.post('/echo', async (c) => c.json(await c.req.json(), 201))
  app.get('/stream', (c) => c.body(new ReadableStream({ start (controller) { for (const piece of ['a', 'b']) controller.enqueue(Buffer.from(piece)); controller.close() } })))
  app.get('/cookies', (c) => {
    c.header('Set-Cookie', 'a=1', { append: true })
    c.header('Set-Cookie', 'b=2', { append: true })
    return c.body(null, 204)
  })
  app.get('/away', (c) => c.redirect('/text', 303))
  app.get('/fails', () => { throw new Error('hidden') })
  app.onError((error, c) => c.text(`caught ${error.message}`, 500))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  if (!server.listening) await once(server, 'listening')
  const port = listening(server)
  const close = 'Connection: close'
  await talk(port, message('GET /info?q=1', ['X-Twice: a', 'x-twice: b', 'Cookie: a=1', close]))
  for (const path of ['text', 'stream', 'cookies', 'away', 'fails', 'none']) await talk(port, message(`GET /${path}`))
  await talk(port, message('HEAD /text'))
  await talk(port, message('POST /echo', ['Content-Type: application/json', 'Content-Length: 7', close], '{"a":1}'))
})
