'use strict'

const http2 = require('node:http2')
const { once } = require('node:events')
const core = require('@httpsys/core-native')
const { expect, served } = require('./kit.cjs')

const server = core.createServer((req, res) => { res.end(req.httpVersion) })
served(server.listen('https://localhost:18443/', { devCert: true }), async () => {
  const session = http2.connect('https://localhost:18443/', { rejectUnauthorized: false })
  const stream = session.request({ ':path': '/' }).setEncoding('utf8')
  const [text] = await once(stream, 'data')
  expect(text, '2.0')
  session.close()
  server.close()
})
