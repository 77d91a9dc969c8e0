'use strict'
// morgan, compression and sessions rely on the order: prefinish, finish, the callback of end(), then close;
// of a request, end before close.
// covers: 32
// breaks: response-closed-early

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch(req.url, req, ['end', 'close'])
    watch(req.url, res, ['prefinish', 'finish', 'close'])
    if (req.url === '/read') req.resume()
    if (req.url === '/written') res.write('a', () => log(req.url, 'write callback'))
    if (req.url === '/plain') res.end('b')
    else res.end('b', () => log(req.url, 'end callback'))
    log(req.url, 'ended', res.writableEnded, res.writableFinished, res.finished)
    process.nextTick(() => log(req.url, 'tick', res.writableFinished))
    Promise.resolve().then(() => log(req.url, 'microtask'))
    setImmediate(() => log(req.url, 'immediate', res.writableFinished, res.closed, req.closed))
  })
  const port = await listen(server)
  for (const url of ['/plain', '/called', '/written', '/read']) {
    await talk(port, [message(`GET ${url}`, []), { event: `${url} immediate` }, { event: `${url} close` }, message('GET /plain')])
  }
})
