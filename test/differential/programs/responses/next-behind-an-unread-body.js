'use strict'
// A handler that refuses an upload answers without reading it; the next request of the connection is
// served.
// covers: r11, 32
// breaks: unread-body-stays

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log('request', req.method, req.url, req.headers['content-length'])
    res.on('close', () => log('close', req.url))
    req.on('close', () => log('request closed', req.url, req.complete))
    if (req.url === '/later') setImmediate(() => res.end('refused'))
    else res.end('refused')
  })
  const wire = await dial(await listen(server))
  const body = 'x'.repeat(300_000)
  for (const path of ['/now', '/later']) {
    await play(wire, [message(`POST ${path}`, [`Content-Length: ${body.length}`], body), { event: `close ${path}` }, { event: `request closed ${path}` }])
  }
  await talk(wire, message('GET /last'))
  await logged('request closed /last')
})
