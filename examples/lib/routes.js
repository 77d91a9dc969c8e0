'use strict'

// The routes of the example application. Nothing in here knows where it is mounted.

const { createHash } = require('node:crypto')
const path = require('node:path')
const { Readable } = require('node:stream')
const { pipeline } = require('node:stream/promises')
const { setTimeout: delay } = require('node:timers/promises')
const express = require('express')
const multer = require('multer')

// An upload is kept in memory: enough for a photograph, little enough for a hundred at once.
const kUploadBytesMax = 10 * 1024 * 1024
const kStreamLinesMax = 1000
const kStreamPauseMs = 100

function routes () {
  const router = express.Router()
  const upload = multer({ storage: multer.memoryStorage(), limits: { fileSize: kUploadBytesMax } })

  router.get('/text', (req, res) => {
    res.type('text').send('Hello from Express.\n')
  })

  router.get('/json', (req, res) => {
    res.json({ url: req.originalUrl, mountedAt: req.baseUrl || '/', query: req.query, headers: req.headers })
  })

  router.post('/form', express.urlencoded({ extended: false }), express.json(), (req, res) => {
    res.json({ type: req.headers['content-type'] ?? null, received: req.body ?? null })
  })

  router.post('/upload', upload.single('file'), (req, res) => {
    if (req.file === undefined) return res.status(400).json({ error: 'The form has no file named "file"' })
    const { originalname: name, mimetype: type, size: bytes, buffer } = req.file
    res.json({ name, type, bytes, sha256: createHash('sha256').update(buffer).digest('hex') })
  })

  router.get('/stream', async (req, res) => {
    const lines = Math.min(Number(req.query.lines) || 20, kStreamLinesMax)
    res.type('text')
    // A reader who leaves ends the pipeline; that is no error of ours.
    await pipeline(Readable.from(clock(lines)), res).catch((error) => {
      if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
    })
  })

  router.use(express.static(path.join(__dirname, '..', 'public')))
  router.use(answerError)
  return router
}

/** @param {number} lines */
async function * clock (lines) {
  for (let i = 1; i <= lines; i++) {
    if (i > 1) await delay(kStreamPauseMs)
    yield `${String(i).padStart(4)}  ${new Date().toISOString()}\n`
  }
}

// Express knows an error handler by its four parameters.
/** @param {any} error @param {any} req @param {any} res @param {any} next */
function answerError (error, req, res, next) {
  if (res.headersSent) return next(error)
  const tooLarge = error.code === 'LIMIT_FILE_SIZE'
  const status = tooLarge ? 413 : error.status ?? (error.name === 'MulterError' ? 400 : 500)
  if (status >= 500) console.error(error)
  res.status(status).json({ error: tooLarge ? `The file is larger than ${kUploadBytesMax} bytes` : error.message })
}

module.exports = { kUploadBytesMax, routes }
