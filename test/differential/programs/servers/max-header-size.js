'use strict'
// Long cookies and tokens need a larger maxHeaderSize, given as an option or set later for the connections to come.
// covers: 28, 24
// breaks: header-size-of-the-start, header-size-of-the-process

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const long = (bytes) => message('GET /', [`Cookie: ${'x'.repeat(bytes)}`, 'Connection: close'])
  const serve = (options) => http.createServer(options, (req, res) => {
    log('request', req.headers.cookie.length)
    res.end()
  })
  const small = serve({ maxHeaderSize: 1000 })
  log(small.maxHeaderSize, http.maxHeaderSize)
  const port = await listen(small)
  await talk(port, long(800))
  await talk(port, long(1200))
  small.maxHeaderSize = 3000
  await talk(port, long(1200))
  const large = await listen(serve({ maxHeaderSize: 100_000 }))
  await talk(large, long(60_000))
  const usual = await listen(serve({}))
  await talk(usual, long(15_000))
  await talk(usual, long(17_000))
  for (const wrong of [-1, 'x', 1.5, null]) {
    try {
      log(wrong, http.createServer({ maxHeaderSize: wrong }).maxHeaderSize)
    } catch (error) {
      log(error.code, error.message)
    }
  }
})
