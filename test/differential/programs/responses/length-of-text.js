'use strict'
// Pages in other languages are longer in bytes than in characters.
// covers: 11
// breaks: length-in-characters

const http = require('node:http')
const { dial, listen, message, play, program, talk } = require('../../kit')

program(async () => {
  const texts = { latin: 'caf\u00e9', greek: '\u03b1\u03b2\u03b3', smile: '\u{1f600}!', lone: 'a\ud800b', ascii: 'plain' }
  const server = http.createServer((req, res) => {
    const text = texts[req.url.slice(1)]
    res.setHeader('Content-Type', 'text/plain; charset=utf-8')
    res.end(text, req.headers.encoding)
  })
  const port = await listen(server)
  const wire = await dial(port)
  for (const name of Object.keys(texts)) await play(wire, [message(`GET /${name}`, [], ''), { wait: 0 }])
  await talk(wire, message('GET /ascii', ['Connection: close', 'Encoding: utf8']))
})
