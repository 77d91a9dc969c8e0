'use strict'
// The client leaves during a download: the callback of res.sendFile() gets ECONNABORTED.
// covers: r3, 16, 31
// breaks: socket-close-unheard

const express = require('express')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { dial, listen, log, logged, message, play, program, watch } = require('../../kit')

program(async () => {
  const file = path.join(process.cwd(), 'large')
  fs.writeFileSync(file, Buffer.alloc(16_000_000, 'x'))
  const app = express()
  app.get('/', (req, res) => {
    watch('socket', req.socket, ['close'])
    res.sendFile(file, (error) => log('callback', error?.code ?? 'none', res.headersSent, res.writableFinished))
  })
  const wire = await dial(await listen(http.createServer(app)))
  await play(wire, [message('GET /'), /xxxx/])
  wire.destroy()
  await Promise.race([logged('callback'), new Promise((resolve) => setTimeout(resolve, 5000).unref())])
  await Promise.race([logged('socket close'), new Promise((resolve) => setTimeout(resolve, 5000).unref())])
})
