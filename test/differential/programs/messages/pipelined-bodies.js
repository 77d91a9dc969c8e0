'use strict'
// Uploads behind each other, the later ones whole before the first is answered: each keeps its own body.
// covers: 35, 30
// breaks: turns-ignored

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const open = []
  const server = http.createServer((req, res) => {
    let body = ''
    req.on('data', (piece) => { body += piece })
    req.on('end', () => {
      log('end', req.url, body)
      open.push(() => res.end(`${req.url} ${body};`))
      if (open.length === 3) for (const answerIt of open.reverse()) answerIt()
    })
  })
  await talk(await listen(server), [
    message('POST /1', ['Content-Length: 3'], 'one'), { event: 'end /1' },
    message('POST /2', ['Transfer-Encoding: chunked'], '2\r\ntw\r\n'), '1\r\no\r\n0\r\n\r\n', { event: 'end /2' },
    message('POST /3', ['Content-Length: 5', 'Connection: close'], 'three')
  ])
})
