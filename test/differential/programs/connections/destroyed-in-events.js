'use strict'
// Applications destroy a connection from within any event; nothing more comes then, and the next one is served.
// covers: r15, 31
// breaks: open-request-forgotten

const http = require('node:http')
const { dial, listen, log, logged, message, play, program } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const step = (name, emitter, type) => {
      emitter.on(type, () => {
        log(req.url, name)
        if (req.url !== `/${name}`) return
        req.socket.destroy()
        log(req.url, req.destroyed, res.destroyed, req.socket.destroyed)
      })
    }
    step('data', req, 'data')
    step('end', req, 'end')
    step('finish', res, 'finish')
    step('closed', req, 'close')
    res.on('close', () => log(req.url, 'response close'))
    req.socket.on('close', () => log(`${req.url} gone`))
    req.on('error', (error) => log(req.url, error.code))
    req.on('end', () => res.end('answer'))
    log(req.url, 'request')
    if (req.url === '/request') req.socket.destroy()
  })
  const port = await listen(server)
  for (const url of ['/request', '/data', '/end', '/finish', '/closed', '/none']) {
    const wire = await dial(port)
    await play(wire, [message(`POST ${url}`, ['Connection: close', 'Content-Length: 4'])])
    await play(wire, url === '/request' ? [] : [{ event: `${url} request` }, 'ab', { event: `${url} data` }, 'cd'])
    await wire.untilClosed()
    await logged(`${url} gone`)
  }
})
