'use strict'
// Express puts prototypes of its own under each request and response. More requests of one connection
// than may wait for their answers, in an encoding of its own, show that each is known to be answered.
// covers: 1, r1
// breaks: end-told-by-method

const http = require('node:http')
const { dial, listen, log, message, play, program, talk } = require('../../kit')

const app = {
  request: Object.create(http.IncomingMessage.prototype, { shout: { get () { return this.url.toUpperCase() } } }),
  response: Object.create(http.ServerResponse.prototype, {
    send: { value (text) { return this.setHeader('X-Sent', '1').end(text, 'latin1') } },
  }),
}

program(async () => {
  const server = http.createServer((req, res) => {
    Object.setPrototypeOf(req, app.request)
    Object.setPrototypeOf(res, app.response)
    if (req.url.endsWith('0')) log(req.shout, req instanceof http.IncomingMessage, res instanceof http.ServerResponse)
    res.send(`this is ${req.url}.`)
  })
  const wire = await dial(await listen(server))
  for (let i = 0; i < 40; i++) await play(wire, [message(`GET /a${i}`, []), new RegExp(`this is /a${i}\\.`)])
  await talk(wire, message('GET /last'))
})
