'use strict'
// An echo that answers first and reads on: the body still arrives after the response is finished.
// covers: 32
// breaks: answered-body-lost, first-piece-late

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    let body = ''
    req.on('data', (piece) => {
      body += piece
      log(req.url, 'data', String(piece), res.writableFinished)
    })
    req.on('end', () => log(req.url, 'end', body))
    req.on('close', () => log(`${req.url} closed`))
    res.on('close', () => log(req.url, 'response close'))
    res.end(`${req.url};`)
  })
  await talk(await listen(server), [
    message('POST /1', ['Content-Length: 6'], 'abc'), { event: '/1 response close' }, 'def', { event: '/1 closed' },
    message('GET /2')
  ])
})
