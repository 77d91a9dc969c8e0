'use strict'
// hono and fastify send hints and progress ahead of an answer: they arrive before it, in order, while it is being made.
// covers: 38
// breaks: informational-dropped

const http = require('node:http')
const { dial, listen, log, message, program, talk } = require('../../kit')

program(async () => {
  let finish
  const server = http.createServer((req, res) => {
    res.setHeader('X-Final', '1')
    res.writeContinue(() => log('continue sent'))
    res.writeProcessing()
    res.writeEarlyHints({ link: ['</a.css>; rel=preload; as=style', '</b.js>; rel=preload; as=script'], 'x-trace': 'id' }, () => log('hints sent'))
    res.writeEarlyHints({ link: '</c.css>; rel=preload' })
    log(res.headersSent, res._header, res.statusCode)
    for (const wrong of [null, {}, { link: 'x' }, { link: [] }]) {
      try {
        res.writeEarlyHints(wrong)
        log(wrong, 'accepted')
      } catch (error) {
        log(wrong, error.code)
      }
    }
    finish = () => res.end('final')
  })
  const port = await listen(server)
  const wire = await dial(port)
  const answered = talk(wire, [message('GET /')])
  await wire.until(/c\.css[^]*\r\n\r\n/)
  log('hints arrived', /final/.test(wire.text))
  finish()
  await answered
})
