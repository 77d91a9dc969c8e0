'use strict'

// WebSockets through proxies that keep connections to their upstream: the upgrade comes on a connection that has carried
// requests with bodies, whose sockets the application has used.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const stockHttp = require('node:http')
const path = require('node:path')
const { describe, it } = require('node:test')
const { WebSocket, WebSocketServer } = require('ws')
const { http } = require('../../helpers/backend')
const { serve, request } = require('../../helpers/client')
const { makeProxyFolder, nginxArgs, nginxWith, startProxy } = require('../../helpers/proxies')
const { findHaproxy, findNginx } = require('../../../tools/lib/packages')

// Ends what hangs; a conversation takes milliseconds.
const kMs = 20_000

/** @typedef {(t: import('node:test').TestContext, upstream: number) => Promise<{ socketPath: string }>} Start */

/** @param {number} upstream @param {string} folder */
const nginxConfig = (upstream, folder) => nginxWith(folder, `
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  upstream application { server 127.0.0.1:${upstream}; keepalive 1; }
  server {
    listen unix:${folder}/socket;
    location / {
      proxy_pass http://application;
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
    }
  }
`)

/** @param {number} upstream @param {string} folder */
const haproxyConfig = (upstream, folder) => `
global
  maxconn 64
  nbthread 1
defaults
  mode http
  timeout connect 10s
  timeout client 30s
  timeout server 30s
  http-reuse always
frontend front
  bind unix@${folder}/socket
  default_backend back
backend back
  server application 127.0.0.1:${upstream} pool-max-conn 1
`

/**
 * @param {string | null} program
 * @param {(upstream: number, folder: string) => string} config
 * @param {(file: string, folder: string) => string[]} argsOf
 * @returns {Start}
 */
function proxy (program, config, argsOf) {
  return async (t, upstream) => {
    const folder = makeProxyFolder()
    const file = path.join(folder, 'config')
    const socketPath = path.join(folder, 'socket')
    fs.writeFileSync(file, config(upstream, folder))
    await startProxy(t, /** @type {string} */ (program), argsOf(file, folder), folder, { path: socketPath })
    return { socketPath }
  }
}

/** @type {Start} */
async function startHttpxy (t, upstream) {
  const { createProxyServer } = await import('httpxy')
  const agent = new stockHttp.Agent({ keepAlive: true, maxSockets: 1 })
  const front = createProxyServer({ target: `http://127.0.0.1:${upstream}`, agent, ws: true })
  const server = stockHttp.createServer((req, res) => { front.web(req, res) })
  server.on('upgrade', (req, socket, head) => { front.ws(req, /** @type {any} */ (socket), {}, head) })
  const folder = makeProxyFolder()
  const socketPath = path.join(folder, 'socket')
  await serve(t, server, socketPath)
  t.after(() => {
    agent.destroy()
    fs.rmSync(folder, { recursive: true, force: true })
  })
  return { socketPath }
}

const nginx = findNginx()
const haproxy = findHaproxy()
/** @type {Record<string, { start: Start, isThere: boolean }>} */
const kProxies = {
  nginx: { start: proxy(nginx, nginxConfig, nginxArgs), isThere: nginx !== null },
  HAProxy: { start: proxy(haproxy, haproxyConfig, (file) => ['-db', '-f', file]), isThere: haproxy !== null },
  httpxy: { start: startHttpxy, isThere: true },
}

describe('a WebSocket behind a proxy that keeps its connections', { timeout: kMs * 3 }, () => {
  for (const [name, { start, isThere }] of Object.entries(kProxies)) {
    it(`gets its messages through ${name}, on a connection that has carried uploads`, { skip: !isThere && 'it is not installed', timeout: kMs }, async (t) => {
      /** @type {Map<any, string[]>} what came over each connection */
      const connections = new Map()
      const server = http.createServer((req, res) => {
        connections.get(req.socket)?.push(String(req.method))
        req.socket.once('close', () => {})
        req.setTimeout(kMs)
        res.cork()
        req.pipe(res)
      })
      server.on('connection', (socket) => connections.set(socket, []))
      server.on('upgrade', (req) => connections.get(req.socket)?.push('upgrade'))
      const sockets = new WebSocketServer({ server })
      sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(`echo ${data}`)))
      const { socketPath } = await start(t, await serve(t, server))
      for (const [headers, body] of /** @type {[import('node:http').OutgoingHttpHeaders, string][]} */ ([
        [{ 'Transfer-Encoding': 'chunked' }, 'in chunks'],
        [{ Expect: '100-continue' }, 'asked before'],
        [{ 'Content-Length': 12 }, 'known length'],
      ])) {
        const answer = await request(/** @type {any} */ ({ host: undefined, socketPath, method: 'POST', path: '/', headers: { ...headers, Connection: 'keep-alive' } }), body)
        assert.equal(answer.body, body)
      }
      const client = new WebSocket(`ws+unix:${socketPath}:/`)
      try {
        await once(client, 'open')
        client.send('hello')
        const [message] = await once(client, 'message', { signal: t.signal })
        assert.equal(String(message), 'echo hello')
      } finally {
        client.terminate() // An upgraded connection keeps its server open.
      }
      const seen = [...connections.values()].find((events) => events.includes('upgrade'))
      assert.ok(seen !== undefined && seen.includes('POST'), `one connection of the proxy carried both: ${JSON.stringify([...connections.values()])}`)
    })
  }
})
