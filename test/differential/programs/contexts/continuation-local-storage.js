'use strict'
// cls-hooked and older tracers keep a map from asyncId to context with init hooks; the resources of requests are made and destroyed.
// covers: 36
// breaks: requests-without-resource, resources-not-destroyed

const http = require('node:http')
const { createHook, executionAsyncId } = require('node:async_hooks')
const { clearInterval, setInterval, setTimeout } = require('node:timers')
const { listen, log, logged, message, program, talk, within } = require('../../kit')

const contexts = new Map()
const requests = new Set()
let destroyed = 0
createHook({
  init (id, type, trigger) {
    if (type === 'HTTPINCOMINGMESSAGE') requests.add(id)
    const current = executionAsyncId()
    if (contexts.has(current)) contexts.set(id, contexts.get(current))
  },
  destroy (id) {
    contexts.delete(id)
    if (requests.has(id)) destroyed++
  }
}).enable()

program(async () => {
  const server = http.createServer((req, res) => {
    log('request', req.url, requests.has(executionAsyncId()), contexts.get(executionAsyncId()))
    contexts.set(executionAsyncId(), req.url)
    setTimeout(() => {
      log('timer', contexts.get(executionAsyncId()))
      Promise.resolve().then(() => {
        log('promise', contexts.get(executionAsyncId()))
        res.end()
      })
    }, 1)
    res.on('close', () => log('close', req.url))
  })
  const port = await listen(server)
  for (const path of ['/1', '/2', '/3']) {
    await talk(port, message(`GET ${path}`))
    await logged(`close ${path}`)
  }
  // They are destroyed when their memory is collected, which no event tells of.
  const looks = setInterval(() => { if (destroyed === requests.size) log('all destroyed') }, 5)
  await within(logged('all destroyed'))
  clearInterval(looks)
  log('destroyed', requests.size, destroyed)
})
