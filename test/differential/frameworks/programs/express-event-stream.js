'use strict'
// Server-sent events: the head is flushed, pieces follow, and 'close' of the response tells that the browser has left.
// covers: 31, 38, 20
// breaks: response-close-untold-when-cut

const express = require('express')
const http = require('node:http')
const { answer, dial, listen, log, logged, message, play, program, watch, within } = require('../../kit')

program(async () => {
  const app = express()
  app.get('/events', (req, res) => {
    req.socket.setTimeout(0).setNoDelay(true).setKeepAlive(true)
    watch('res', res, ['close', 'finish'])
    res.on('close', () => log('left', res.writableEnded, res.destroyed))
    res.set({ 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' }).flushHeaders()
    res.write('data: one\n\n', () => res.write('id: 2\ndata: two\n\n'))
  })
  const wire = await dial(await listen(http.createServer(app)))
  await play(wire, [message('GET /events', ['Accept: text/event-stream']), /two\n\n/])
  answer(wire.text)
  wire.destroy()
  await within(logged('left'))
})
