'use strict'
// multer and raw-body parse a body that comes in pieces: their events belong to the request, also in the last piece and after a pause.
// covers: 36, 34
// breaks: pieces-without-context, end-without-context

const http = require('node:http')
const { AsyncLocalStorage } = require('node:async_hooks')
const { Writable } = require('node:stream')
const { listen, log, message, program, talk } = require('../../kit')

const storage = new AsyncLocalStorage()

program(async () => {
  const server = http.createServer((req, res) => {
    storage.enterWith(req.url)
    log('request', req.url)
    const note = (what) => log(what, storage.getStore())
    if (req.url === '/pipe') {
      req.pipe(new Writable({ write: (chunk, encoding, callback) => { note(`write ${chunk}`); callback() } }))
        .on('finish', () => { note('finish'); res.end() })
    } else {
      req.on('data', (data) => note(`data ${data}`)).on('end', () => { note('end'); res.end() })
    }
    req.on('close', () => note('close'))
  })
  const port = await listen(server)
  await talk(port, [message('POST /data', ['Content-Length: 6', 'Connection: close'], 'abc'), { event: 'data abc' }, 'def'])
  await talk(port, [message('POST /pipe', ['Transfer-Encoding: chunked', 'Connection: close'], '3\r\nabc\r\n'), { event: 'write abc' }, '3\r\ndef\r\n', { event: 'write def' }, '0\r\n\r\n'])
})
