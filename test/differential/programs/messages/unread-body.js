'use strict'
// An answer without a look at the body (a failed login): the rest is thrown away and the connection goes on.
// covers: 32, r11
// breaks: unread-body-kept, first-piece-late

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch(req.url, req, ['end', 'close'])
    res.on('finish', () => log(req.url, 'finish', req.complete, req._dumped, req.readableEnded))
    res.on('close', () => {
      log(req.url, 'response close', req.readableFlowing, req.readableDidRead)
      setImmediate(() => log(`${req.url} later`, req._dumped))
    })
    res.end(`${req.url};`)
  })
  const big = 'x'.repeat(400_000)
  await talk(await listen(server), [
    message('POST /whole', ['Content-Length: 4'], 'body'), { event: '/whole later' },
    message('POST /rest', ['Content-Length: 6'], 'abc'), { event: '/rest later' }, 'def',
    message('POST /large', [`Content-Length: ${big.length}`]), { event: '/large later' }, big,
    message('GET /last')
  ])
})
