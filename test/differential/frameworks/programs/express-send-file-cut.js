'use strict'
// The client leaves during a download: the callback of res.sendFile() gets ECONNABORTED.
// covers: r3, 16, 31
// breaks: socket-close-unheard

const express = require('express')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { dial, listen, log, message, play, program, within } = require('../../kit')

program(async () => {
  const file = path.join(process.cwd(), 'large')
  fs.writeFileSync(file, Buffer.alloc(16_000_000, 'x'))
  const app = express()
  const ends = {}
  const closed = new Promise((resolve) => {
    app.get('/', (req, res) => {
      log('request')
      const called = new Promise((resolve) => {
        res.sendFile(file, (error) => resolve(ends.callback = [error?.code, res.headersSent, res.writableFinished]))
      })
      // Which comes first is up to whether a read or a write finds out.
      const left = new Promise((resolve) => req.socket.on('close', () => resolve(ends.socket = 'closed')))
      Promise.all([called, left]).then(resolve)
    })
  })
  const wire = await dial(await listen(http.createServer(app)))
  await play(wire, [message('GET /'), /xxxx/])
  // Leaving with bytes unread resets the connection: one error for both sides of it.
  wire.socket.pause()
  await play(wire, [{ wait: 200 }])
  wire.destroy()
  await within(closed)
  log(ends.callback, ends.socket)
})
