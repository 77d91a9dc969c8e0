'use strict'
// res.sendFile() of Express: whole, ranges, a range too far, If-Range, HEAD; send pipes the file into the response.
// covers: 33, 1
// breaks: light-socket-not-writable

const express = require('express')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const file = path.join(process.cwd(), 'letters.txt')
  fs.writeFileSync(file, 'abcdefghij'.repeat(20_000))
  fs.utimesSync(file, 1_600_000_000, 1_600_000_000)
  const app = express()
  app.use((req, res) => {
    res.sendFile(file, { etag: false }, (error) => {
      log(req.headers.range ?? 'whole', error?.message ?? 'sent')
      if (error && !res.headersSent) res.status(error.status).set(error.headers).end()
    })
  })
  const port = await listen(http.createServer(app))
  const close = 'Connection: close'
  await talk(port, message('GET /'))
  await talk(port, message('HEAD /', ['Range: bytes=0-3', close]))
  for (const range of ['bytes=0-3', 'bytes=-4', 'bytes=199998-', 'bytes=0-1,4-5', 'bytes=900000-', 'lines=1-2']) {
    await talk(port, message('GET /', [`Range: ${range}`, close]))
  }
  await talk(port, message('GET /', ['Range: bytes=0-3', 'If-Range: Sun, 13 Sep 2020 12:26:40 GMT', close]))
  await talk(port, message('GET /', ['Range: bytes=0-0', 'If-Unmodified-Since: Sun, 13 Sep 2015 12:26:40 GMT', close]))
})
