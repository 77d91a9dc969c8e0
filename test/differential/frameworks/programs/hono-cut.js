'use strict'
// The client leaves before Hono has answered: the signal of the Request aborts, and a stream of an answer is cancelled.
// covers: 31, r13
// breaks: abort-untold, response-close-untold-when-cut

const { serve } = require('@hono/node-server')
const { once } = require('node:events')
const { Hono } = require('hono')
const { dial, listening, log, logged, message, play, program, within } = require('../../kit')

program(async () => {
  const app = new Hono()
  app.get('/signal', (c) => {
    c.req.raw.signal.addEventListener('abort', () => log('aborted', String(c.req.raw.signal.reason)))
    log('waiting')
    return new Promise(() => {})
  })
  app.get('/stream', (c) => c.body(new ReadableStream({
    start (controller) { controller.enqueue(Buffer.from('begun')) },
    cancel (reason) { log('cancelled', reason?.message ?? reason) }
  })))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  if (!server.listening) await once(server, 'listening')
  const port = listening(server)
  for (const [path, step, event] of [['/signal', { event: 'waiting' }, 'aborted'], ['/stream', /begun/, 'cancelled']]) {
    const wire = await dial(port)
    await play(wire, [message(`GET ${path}`), step])
    wire.destroy()
    await within(logged(event))
  }
})
