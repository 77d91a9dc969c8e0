'use strict'
// A caching middleware replaces write() and end() of one response to keep what is sent; each piece
// comes past once.
// covers: 9, r1
// breaks: end-calls-write

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { write, end } = res
    const kept = []
    res.write = function (chunk, ...rest) {
      log('write', `${chunk}`)
      kept.push(chunk)
      return write.call(this, chunk, ...rest)
    }
    res.end = function (chunk, ...rest) {
      log('end', `${chunk}`)
      if (chunk) kept.push(chunk)
      this.setHeader('X-Kept', kept.length)
      return end.call(this, chunk, ...rest)
    }
    res.on('finish', () => log('finish', kept.map(String)))
    if (req.url === '/buffer') res.end(Buffer.from('buffer'))
    else if (req.url === '/empty') res.end()
    else res.end('text')
  })
  const port = await listen(server)
  for (const path of ['/text', '/buffer', '/empty']) await talk(port, message(`GET ${path}`))
})
