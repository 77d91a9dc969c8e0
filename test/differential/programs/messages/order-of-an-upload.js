'use strict'
// A body that is read: data, end, then what the answer causes; from one segment and from several.
// covers: 32, 34
// breaks: no-tick-before-the-end

const http = require('node:http')
const { listen, log, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch(req.url, req, ['end', 'close'])
    watch(req.url, res, ['finish', 'close'])
    log(req.url, 'request', req.complete, req.readableEnded)
    req.on('data', (piece) => {
      log(req.url, 'data', String(piece), req.complete)
      process.nextTick(() => log(req.url, 'tick'))
    })
    req.on('end', () => {
      log(req.url, 'complete', req.complete, req.readableEnded)
      res.end('ok;')
    })
  })
  const port = await listen(server)
  const lines = ['Content-Length: 4']
  await talk(port, [
    message('POST /one', lines, 'body'), { event: '/one close' },
    message('POST /two', lines), { event: '/two request' }, 'bo', { event: '/two data bo' }, 'dy', { event: '/two close' },
    message('POST /chunks', ['Transfer-Encoding: chunked'], '2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n'), { event: '/chunks close' },
    message('POST /three', ['Connection: close', ...lines], 'body')
  ])
})
