'use strict'
// createServer() is given classes for requests and responses; Restify and others add methods so.
// covers: 2
// breaks: request-class-ignored, response-class-ignored

const http = require('node:http')
const { dial, listen, message, play, program, talk } = require('../../kit')

class Request extends http.IncomingMessage {
  #reads = 0
  get path () {
    this.#reads++
    return this.url.split('?')[0]
  }

  get reads () { return this.#reads }
}

class Response extends http.ServerResponse {
  constructor (...args) {
    super(...args)
    this.setHeader('X-Made', 'here')
  }

  json (value) { return this.setHeader('Content-Type', 'application/json').end(JSON.stringify(value)) }
}

program(async () => {
  const server = http.createServer({ IncomingMessage: Request, ServerResponse: Response }, (req, res) => {
    res.json({ path: req.path, again: req.path, reads: req.reads, by: [req.constructor.name, res.constructor.name] })
  })
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /a?b', []), /}/])
  await talk(wire, message('GET /c?d'))
})
