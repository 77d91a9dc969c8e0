'use strict'
// The client leaves during an upload: multer fails and removes what it has stored.
// covers: 31, r13
// breaks: abort-untold

const express = require('express')
const fs = require('node:fs')
const http = require('node:http')
const multer = require('multer')
const { dial, listen, log, logged, message, play, program, within } = require('../../kit')

program(async () => {
  const storage = multer.diskStorage({
    destination: process.cwd(),
    filename: (req, file, done) => {
      log('storing')
      done(null, 'stored')
    }
  })
  const app = express()
  app.post('/', multer({ storage }).single('file'), (req, res) => res.end('stored'))
  app.use((error, req, res, next) => log('error', error.message, fs.existsSync('stored')))
  const wire = await dial(await listen(http.createServer(app)))
  await play(wire, [message('POST /', ['Content-Type: multipart/form-data; boundary=B', 'Content-Length: 900']),
    '--B\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf of it', { event: 'storing' }])
  wire.destroy()
  await within(logged('error'))
})
