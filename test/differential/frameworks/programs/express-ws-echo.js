'use strict'
// express-ws routes WebSockets through the application with a response of its own; what is sent is not buffered here.
// covers: 2, 21, r7
// breaks: write-acknowledged-a-tick-later

const express = require('express4')
const expressWs = require('express-ws')
const { once } = require('node:events')
const WebSocket = require('ws')
const { answer, listening, log, logged, program } = require('../../kit')

program(async () => {
  const { app, getWss } = expressWs(express())
  app.use((req, res, next) => {
    log('middleware', req.url)
    next()
  })
  app.ws('/echo/:room', (ws, req) => {
    log('room', req.params.room, getWss().clients.size)
    ws.on('message', (data, isBinary) => {
      ws.send(data, { binary: isBinary })
      log('buffered', ws.bufferedAmount, ws._socket.writableLength)
    })
    ws.on('close', (code, reason) => log('close', code, String(reason)))
  })
  app.ws('/refused', (ws, req, next) => next(Object.assign(new Error('no'), { status: 403, expose: false })))
  app.use((error, req, res, next) => {
    log('error', error.message)
    next(error)
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = listening(server)
  const client = new WebSocket(`ws://127.0.0.1:${port}/echo/blue`)
  await once(client, 'open')
  for (const data of ['text', Buffer.alloc(5000, 1)]) {
    client.send(data)
    const [back, isBinary] = await once(client, 'message')
    answer(back.length, isBinary)
  }
  client.close(4001, 'done')
  await logged('close')
  const lost = new WebSocket(`ws://127.0.0.1:${port}/nowhere`)
  answer(await once(lost, 'close').then(([code]) => code))
})
