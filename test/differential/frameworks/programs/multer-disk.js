'use strict'
// An upload of some megabytes with multer's disk storage: the request pauses and resumes as the file is written.
// covers: 34, r6
// breaks: read-window-not-opened-by-resume

const express = require('express')
const fs = require('node:fs')
const http = require('node:http')
const multer = require('multer')
const { listen, log, program, talk } = require('../../kit')

program(async () => {
  const storage = multer.diskStorage({ destination: process.cwd(), filename: (req, file, done) => done(null, `stored-${file.fieldname}`) })
  const app = express()
  app.post('/', (req, res, next) => {
    // A slow disk.
    req.pause()
    setTimeout(() => next(), 50)
  }, multer({ storage, limits: { fileSize: 3_000_000 } }).fields([{ name: 'one' }, { name: 'two' }]), (req, res) => {
    for (const [{ originalname, mimetype, size, filename }] of Object.values(req.files)) log(originalname, mimetype, size, fs.statSync(filename).size)
    res.json(req.body)
  })
  app.use((error, req, res, next) => res.status(400).json({ code: error.code, field: error.field }))
  const port = await listen(http.createServer(app))
  const part = (name, more, content) => `--B\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`
  const upload = (size) => {
    const body = `${part('word', '', 'w\u00f6rd')}${part('one', '; filename="a.bin"\r\nContent-Type: image/png', 'x'.repeat(size))}${part('two', '; filename="b.txt"', 'small')}--B--\r\n`
    return talk(port, `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  }
  await upload(10)
  await upload(2_500_000)
})
