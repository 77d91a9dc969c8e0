'use strict'
// A slow client's head comes in pieces, cut within names, values and line ends.
// covers: 30
// breaks: split-head-forgotten

const http = require('node:http')
const { dial, listen, log, message, play, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.method, req.url, req.rawHeaders)
    res.end(`${req.url};`)
  })
  const wire = await dial(await listen(server))
  const text = message('GET /split', ['X-Name: value', 'Cookie: a=b'])
  for (const cut of [2, 9, 18, 25, 27, 38, text.length - 3, text.length - 1]) {
    await play(wire, [text.slice(0, cut)])
    const before = wire.text.split('/split;').length
    await play(wire, [text.slice(cut)])
    await wire.until('/split;', before)
  }
  await talk(wire, message('GET /last'))
})
