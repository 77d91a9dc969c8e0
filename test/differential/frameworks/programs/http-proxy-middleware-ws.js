'use strict'
// http-proxy-middleware listens to 'upgrade' on req.socket.server, from the first ordinary request on: an upgrade before it is none.
// covers: 14, 21, 22
// breaks: upgrade-listeners-remembered

const connect = require('connect')
const { once } = require('node:events')
const http = require('node:http')
const { createProxyMiddleware } = require('http-proxy-middleware')
const WebSocket = require('ws')
const { answer, listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const backend = http.createServer((req, res) => res.end('backend'))
  const sockets = new WebSocket.WebSocketServer({ server: backend })
  sockets.on('connection', (ws, req) => {
    log('connection', req.url, req.headers['x-forwarded-for'], req.headers['x-forwarded-proto'])
    ws.on('message', (data) => ws.send(`echo ${data}`))
    ws.on('close', (code) => log('backend close', code))
  })
  const target = `http://127.0.0.1:${await listen(backend)}`
  const app = connect()
  app.use((req, res, next) => {
    log('front', req.url, req.socket.server === front)
    if (req.headers.upgrade === undefined) return next()
    res.statusCode = 426
    res.end()
  })
  app.use(createProxyMiddleware({ target, ws: true, xfwd: true }))
  const front = http.createServer(app)
  const port = await listen(front)
  const attempt = async () => {
    const client = new WebSocket(`ws://127.0.0.1:${port}/chat?x=1`)
    const first = await once(client, 'open').then(() => 'open', (error) => error.message)
    answer(first)
    if (first !== 'open') return
    client.send('hi')
    answer(String((await once(client, 'message'))[0]))
    client.close(4000)
    answer((await once(client, 'close'))[0])
  }
  await attempt()
  await talk(port, message('GET /page'))
  await attempt()
  sockets.close()
})
