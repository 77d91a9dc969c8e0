'use strict'
// Event streams flush their head before there is anything to say (Nest's SSE, koa); the rest follows in pieces or not at all.
// covers: 38
// breaks: flushed-heads-come-again, flush-waits

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, within } = require('../../kit')

program(async () => {
  const open = {}
  const server = http.createServer((req, res) => {
    open[req.url] = res
    if (req.url === '/length') res.setHeader('Content-Length', 5)
    if (req.url === '/events') res.setHeader('Content-Type', 'text/event-stream')
    res.flushHeaders()
    log('request', req.url, res.headersSent, res.writableLength, res.finished)
    res.flushHeaders()
  })
  const port = await listen(server)
  for (const path of ['/length', '/events', '/empty']) {
    const wire = await dial(port)
    await within(play(wire, [message(`GET ${path}`), /\r\n\r\n$/]))
    log('head', wire.text.replace(/Date: .*/, ''))
    if (path === '/events') {
      open[path].write('data: 1\n\n')
      await wire.until(/data: 1/)
      open[path].write('data: 2\n\n')
      await wire.until(/data: 2/)
    }
    open[path].end(path === '/length' ? 'later' : undefined)
    await wire.untilClosed()
    log('all', wire.text.replace(/Date: .*/, ''))
  }
  await logged('all')
})
