'use strict'
// Applications of Express 4 and 5 answer in the usual ways, over one connection.
// covers: 1, r1
// breaks: requests-of-their-own-chain

const http = require('node:http')
const express4 = require('express4')
const express5 = require('express')
const { dial, listen, log, message, play, program, talk } = require('../../kit')

program(async () => {
  for (const express of [express4, express5]) {
    const app = express()
    app.use((req, res, next) => {
      if (req.url.length < 12) log(req.url, req instanceof http.IncomingMessage, req.app === app, res.req === req, req.res === res)
      next()
    })
    app.get('/json', (req, res) => res.json({ a: 1 }))
    app.get('/send', (req, res) => res.status(201).type('text').append('X-A', ['1', '2']).send('text'))
    app.get('/status', (req, res) => res.sendStatus(404))
    app.get('/go', (req, res) => res.redirect('/there'))
    app.get('/cookie', (req, res) => res.cookie('a', 'b', { httpOnly: true }).set('ETag', '"x"').end())
    app.get('/again/:n', (req, res) => res.send(`again ${req.params.n}.`))
    const wire = await dial(await listen(http.createServer(app)))
    for (let i = 0; i < 34; i++) await play(wire, [message(`GET /again/${i}`, []), new RegExp(`again ${i}\\.`)])
    wire.text = ''
    await play(wire, [message('GET /json', []), /"a":1/, message('GET /send', []), /\n\r\ntext/, message('GET /status', []), /Not Found$/])
    await play(wire, [message('GET /go', []), /to \/there/, message('HEAD /send', []), /\n\r\n$/])
    await talk(wire, message('GET /cookie', ['Connection: close', 'If-None-Match: "y"']))
  }
})
