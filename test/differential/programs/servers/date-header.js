'use strict'
// restify and caches rely on Date being this very second, in the format of HTTP, also on a connection that has been idle.
// covers: 29
// breaks: date-of-the-first-answer

const http = require('node:http')
const { dial, listen, log, message, play, program } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end(req.url))
  const wire = await dial(await listen(server))
  let before = ''
  for (const path of ['/1', '/2', '/3']) {
    const from = Math.floor(Date.now() / 1000)
    await play(wire, [message(`GET ${path}`, []), new RegExp(`${path}$`)])
    const [date] = /(?<=Date: ).*(?=\r\n[^]*$)/.exec(wire.text.slice(wire.text.lastIndexOf('HTTP/1.1')))
    const seconds = Date.parse(date) / 1000
    log(path, new Date(date).toUTCString() === date, seconds >= from && seconds <= Math.floor(Date.now() / 1000), date !== before)
    before = date
    // Time is the subject: another second.
    await play(wire, [{ wait: 2100 }])
  }
})
