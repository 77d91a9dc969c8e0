'use strict'
// Requests that come before the answers to earlier ones: answered in any order, sent in theirs.
// covers: 35
// breaks: turns-ignored

const http = require('node:http')
const { dial, listen, log, message, play, program, talk } = require('../../kit')

program(async () => {
  const waiting = []
  const server = http.createServer((req, res) => {
    log('request', req.url)
    res.on('finish', () => log('finish', req.url))
    res.on('close', () => log('close', req.url))
    waiting.push([req, res])
    if (waiting.length < 4) return
    for (const [{ url }, answer] of waiting.reverse()) {
      if (url === '/2') answer.write('streamed ')
      log('answer', url, answer.socket !== null, answer.headersSent, answer.end(`answer ${url};`) === answer, answer.writableFinished)
    }
  })
  const wire = await dial(await listen(server))
  for (const url of ['/1', '/2', '/3']) await play(wire, [message(`GET ${url}`, []), { event: `request ${url}` }])
  await talk(wire, message('GET /4'))
})
