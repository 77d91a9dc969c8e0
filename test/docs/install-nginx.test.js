'use strict'

// The configuration of nginx that docs/install.md shows, but for its two ports, before a server of ours.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const { WebSocket, WebSocketServer } = require('ws')
const { http } = require('../helpers/backend')
const { request, serve } = require('../helpers/client')
const { blocksOf } = require('../helpers/docs')
const { freePort } = require('../helpers/free-port')
const { makeProxyFolder, nginxArgs, nginxWith, startProxy } = require('../helpers/proxies')
const { findNginx } = require('../../tools/lib/packages')

// Ends what hangs; a conversation takes milliseconds.
const kMs = 20_000

const nginx = findNginx()

/** @param {import('node:test').TestContext} t @param {number} upstream @returns {Promise<number>} the port of nginx */
async function startNginx (t, upstream) {
  const port = await freePort()
  const [block] = blocksOf('docs/install.md', 'nginx')
  const own = block.replace('server 127.0.0.1:8080;', `server 127.0.0.1:${upstream};`).replace('listen 80;', `listen ${port};`)
  assert.ok(own.includes(String(upstream)) && own.includes(String(port)), 'the page has the ports 80 and 8080')
  const folder = makeProxyFolder()
  const file = path.join(folder, 'config')
  fs.writeFileSync(file, nginxWith(folder, own))
  await startProxy(t, /** @type {string} */ (nginx), nginxArgs(file, folder), folder, { port, host: '127.0.0.1' })
  return port
}

describe('behind nginx, configured as docs/install.md shows', { skip: nginx === null && 'nginx is not installed', timeout: kMs * 2 }, () => {
  it('the server sees the Host of the client, and requests that follow on a connection that nginx keeps', { timeout: kMs }, async (t) => {
    /** @type {Set<import('node:net').Socket>} */
    const connections = new Set()
    const server = http.createServer((req, res) => {
      connections.add(req.socket)
      assert.equal(req.headers.upgrade, undefined)
      assert.deepEqual([req.headers['x-forwarded-for'], req.headers['x-forwarded-proto']], ['127.0.0.1', 'http'])
      req.pipe(res.setHeader('X-Host', String(req.headers.host)))
    })
    const port = await startNginx(t, await serve(t, server))
    for (const body of ['one', 'two', 'three']) {
      const answer = await request({ port, method: 'POST', headers: { Host: 'shop.example', 'Content-Length': body.length } }, body)
      assert.deepEqual([answer.status, answer.body, answer.headers['x-host']], [200, body, 'shop.example'])
    }
    assert.equal(connections.size, 1)
  })

  it('a WebSocket carries messages both ways', { timeout: kMs }, async (t) => {
    const server = http.createServer()
    new WebSocketServer({ server }).on('connection', (socket) => socket.on('message', (data) => socket.send(`echo ${data}`)))
    const port = await startNginx(t, await serve(t, server))
    const client = new WebSocket(`ws://127.0.0.1:${port}/`)
    try {
      await once(client, 'open')
      client.send('hello')
      const [message] = await once(client, 'message', { signal: t.signal })
      assert.equal(String(message), 'echo hello')
    } finally {
      client.terminate() // An upgraded connection keeps its server open.
    }
  })
})
