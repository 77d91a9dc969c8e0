'use strict'

// Goal: a stream of a file that ends before its file has been sent leaves nothing behind, and throws nothing.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const asyncHooks = require('node:async_hooks')
const fs = require('node:fs')
const nodeHttp = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const { backend, http } = require('../helpers/backend')
const { get, request, serve } = require('../helpers/client')
const { until } = require('../helpers/waiting')
const { temporaryFile } = require('../helpers/temporary-file')

const { file } = temporaryFile(Buffer.alloc(24 << 20, 'f'))

for (const isShared of [false, true]) {
  test(`a source that is destroyed when the head is made, ${isShared ? 'whose descriptor is shared' : 'with a descriptor of its own'}, leaves the body to the application`, async (t) => {
    const port = await serve(t, http.createServer((_req, res) => {
      const source = fs.createReadStream(file)
      if (!isShared) source.on('open', () => {})
      const { writeHead } = res
      res.writeHead = function (/** @type {any[]} */ ...args) {
        source.destroy()
        return Reflect.apply(writeHead, this, args)
      }
      source.on('close', () => res.end('late'))
      source.pipe(res)
    }))
    // On stock Node the first piece was read by then.
    for (let i = 0; i < 2; i++) assert.match((await request({ port })).body, /^f*late$/)
  })
}

test('a client that leaves in the middle of a file leaves no asynchronous resource behind', async (t) => {
  /** @type {Set<number>} */
  const live = new Set()
  const hook = asyncHooks.createHook({
    init: (id, type) => { if (type === 'FSREQCALLBACK') live.add(id) },
    destroy: (id) => { live.delete(id) }
  }).enable()
  t.after(() => hook.disable())
  let closed = 0
  const port = await serve(t, http.createServer((_req, res) => {
    const source = fs.createReadStream(file)
    source.on('close', () => { closed++ })
    res.on('close', () => source.destroy())
    source.pipe(res)
  }))
  const count = 20
  for (let i = 0; i < count; i++) {
    const client = nodeHttp.get({ port, host: '127.0.0.1', agent: false })
    client.on('error', () => {})
    const [res] = await once(client, 'response')
    res.on('error', () => {})
    await once(res, 'data')
    client.destroy()
  }
  await until(() => closed === count && live.size < count / 2, 'all resources end')
})

test('a client that ends its direction and goes in the middle of a file is an error of the connection: EPIPE', { skip: backend === 'node' && 'stock Node tells it or not' }, async (t) => {
  const server = http.createServer((_req, res) => fs.createReadStream(file).pipe(res))
  const port = await serve(t, server)
  const told = once(server, 'clientError')
  const wire = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.after(() => wire.destroy())
  wire.on('error', () => {}).pause()
  const requested = once(server, 'request')
  wire.write(get())
  const [req] = await requested
  const ended = once(req.socket, 'end')
  wire.end()
  await ended
  wire.resetAndDestroy()
  const [error, socket] = await told
  assert.equal(error.code, 'EPIPE')
  socket.destroy()
})
