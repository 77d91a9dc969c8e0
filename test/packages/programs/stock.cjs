'use strict'

// Knows node:http only: run with --require @httpsys/core-native/register.

const http = require('node:http')
const { expect, served } = require('./kit.cjs')

const server = http.createServer((req, res) => { res.end('unmodified') })
expect('prefixes' in server, true)
served(server.listen(18080), async () => {
  expect(await (await fetch('http://127.0.0.1:18080/')).text(), 'unmodified')
  server.close()
})
