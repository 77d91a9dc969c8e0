'use strict'
// httpxy tells the backend how the client came (x-forwarded-*), and passes requests and WebSockets on.
// covers: 17, 18, 21
// breaks: plain-said-encrypted

const { once } = require('node:events')
const http = require('node:http')
const { createProxyServer } = require('httpxy')
const WebSocket = require('ws')
const { answer, listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const backend = http.createServer((req, res) => {
    log('backend', req.method, req.url, Object.fromEntries(Object.entries(req.headers).filter(([name]) => /forwarded|host/.test(name))))
    res.writeHead(207, 'Several', { 'X-Mixed-Case': '1', Location: 'http://127.0.0.1/moved' })
    req.pipe(res)
  })
  const sockets = new WebSocket.WebSocketServer({ server: backend })
  sockets.on('connection', (ws, req) => {
    log('ws', req.url, req.headers['x-forwarded-proto'])
    ws.on('message', (data) => ws.send(data))
  })
  const proxy = createProxyServer({ target: `http://127.0.0.1:${await listen(backend)}`, xfwd: true, ws: true })
  const front = http.createServer((req, res) => {
    proxy.web(req, res, req.url === '/dead' ? { target: 'http://127.0.0.1:1' } : {}).catch((error) => {
      log('error', error.code)
      res.writeHead(502).end()
    })
  })
  front.on('upgrade', (req, socket, head) => proxy.ws(req, socket, {}, head).catch((error) => log('ws error', error.code)))
  const port = await listen(front)
  await talk(port, message('POST /a/b?c', ['Content-Length: 4', 'X-Forwarded-For: 1.1.1.1', 'Connection: close'], 'body'))
  await talk(port, message('GET /dead'))
  const client = new WebSocket(`ws://127.0.0.1:${port}/live`)
  await once(client, 'open')
  client.send('x'.repeat(100_000))
  answer((await once(client, 'message'))[0].length)
  client.close()
  await once(client, 'close')
  sockets.close()
})
