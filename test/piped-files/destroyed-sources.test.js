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

test('a client that ends its direction and goes in the middle of a file is no error of the connection but EPIPE', { skip: backend === 'node' && 'stock Node tells of it as of one or of none' }, async (t) => {
  const server = http.createServer((_req, res) => fs.createReadStream(file).pipe(res))
  const port = await serve(t, server)
  /** @type {string[]} */
  const told = []
  server.on('clientError', (/** @type {any} */ error, socket) => {
    told.push(error.code)
    socket.destroy()
  })
  const wire = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  t.after(() => wire.destroy())
  wire.on('error', () => {}).pause()
  const requested = once(server, 'request')
  wire.write(get())
  const [{ socket }] = await requested
  const ended = once(socket, 'end')
  const closed = new Promise((resolve) => { socket.on('close', resolve) })
  wire.end()
  await ended
  wire.resetAndDestroy()
  await closed
  // None where the windows that were under way had left, as a write that has ended.
  assert.ok(told.length === 0 || String(told) === 'EPIPE', String(told))
})
