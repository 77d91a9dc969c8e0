'use strict'
// koa's ctxStorage and Nest's request scope: a store entered per request stays apart from those beside it on the same connections.
// covers: 36
// breaks: one-context-for-all

const http = require('node:http')
const { AsyncLocalStorage, executionAsyncId } = require('node:async_hooks')
const { setImmediate } = require('node:timers')
const { setTimeout: sleep } = require('node:timers/promises')
const { listen, log, message, program, talk } = require('../../kit')

const storage = new AsyncLocalStorage()

program(async () => {
  const seen = {}
  const server = http.createServer((req, res) => {
    const { url } = req
    const heard = seen[url] = [storage.getStore(), executionAsyncId() !== 0]
    storage.enterWith(url)
    const note = (what) => heard.push(`${what} ${storage.getStore()}`)
    req.on('data', (data) => note(`data ${data}`)).on('end', () => note('end')).on('close', () => note('req close'))
    res.on('finish', () => note('finish')).on('close', () => note('close'))
    log('request', url)
    process.nextTick(note, 'tick')
    setImmediate(() => {
      note('immediate')
      log('immediate', url)
    })
    req.once('data', () => sleep(1).then(() => {
      note('promise')
      setImmediate(() => log('waited', url))
      req.on('end', () => res.end(storage.getStore()))
      if (req.complete) res.end(storage.getStore())
    }))
  })
  const port = await listen(server)
  for (const path of ['/1', '/2', '/3']) {
    await talk(port, [message(`POST ${path}`, ['Content-Length: 4', 'Connection: close']), { event: `immediate ${path}` }, 'ab', { event: `waited ${path}` }, 'cd'])
  }
  for (const [path, heard] of Object.entries(seen)) log(path, heard)
})
