'use strict'
// hono and fetch-like frameworks turn a request into a web stream: whole, and cut short by the client.
// covers: 34, 31
// breaks: abort-without-error

const http = require('node:http')
const stream = require('node:stream')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer(async (req, res) => {
    try {
      const text = await new Response(stream.Readable.toWeb(req)).text()
      log(req.url, text, req.readableEnded, req.complete)
      res.end(text)
    } catch (error) {
      log(req.url, 'failed', error.name, error.message, error.code)
    }
    res.on('close', () => log(`${req.url} close`))
    if (res.closed) log(`${req.url} close`)
  })
  const port = await listen(server)
  await talk(port, message('POST /whole', ['Connection: close', 'Content-Length: 5'], 'whole'))
  await logged('/whole close')
  await talk(port, [message('POST /short', ['Content-Length: 10']), 'short', null])
  await logged('/short close')
})
