'use strict'
// tRPC's standalone server: a query, a batch, a mutation, an error; a client that leaves aborts the procedure's signal.
// covers: 10, 31
// breaks: only-first-piece-of-many-written

const { initTRPC } = require('@trpc/server')
const { createHTTPServer } = require('@trpc/server/adapters/standalone')
const { dial, listen, log, logged, message, play, program, talk, within } = require('../../kit')

program(async () => {
  const t = initTRPC.context().create({ isDev: false })
  const router = t.router({
    hello: t.procedure.query(({ ctx, input }) => `hello ${ctx.agent}`),
    add: t.procedure.input((value) => value).mutation(({ input }) => input.a + input.b),
    fails: t.procedure.query(() => { throw new Error('told') }),
    waits: t.procedure.query(({ signal }) => new Promise((resolve) => {
      log('waiting', signal?.aborted)
      signal?.addEventListener('abort', () => {
        log('aborted')
        resolve(null)
      })
    })),
  })
  const server = createHTTPServer({ router, createContext: ({ req }) => ({ agent: req.headers['user-agent'] }), onError: ({ error, path }) => log('error', path, error.code) })
  const port = await listen(server)
  const close = ['User-Agent: test', 'Connection: close']
  await talk(port, message('GET /hello', close))
  await talk(port, message('GET /hello,fails?batch=1&input=%7B%7D', close))
  await talk(port, message('POST /add', [...close, 'Content-Type: application/json', 'Content-Length: 13'], '{"a":1,"b":2}'))
  await talk(port, message('GET /none', close))
  const wire = await dial(port)
  await play(wire, [message('GET /waits', close), { event: 'waiting' }])
  wire.destroy()
  await within(logged('aborted'))
})
