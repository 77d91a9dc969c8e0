'use strict'
// A response class hears of its socket by overriding assignSocket() or detachSocket().
// covers: 2, r1
// breaks: assign-past-the-method, detach-past-the-method

const http = require('node:http')
const { dial, listen, log, message, play, program, talk } = require('../../kit')

class Assigned extends http.ServerResponse {
  assignSocket (socket) {
    log('assign', socket._httpMessage === null || socket._httpMessage === undefined)
    super.assignSocket(socket)
  }
}

class Detached extends http.ServerResponse {
  detachSocket (socket) {
    log('detach', socket._httpMessage === this)
    super.detachSocket(socket)
  }
}

program(async () => {
  for (const ServerResponse of [Assigned, Detached]) {
    const server = http.createServer({ ServerResponse }, (req, res) => {
      log(req.url, res.socket === req.socket)
      res.on('finish', () => log('finish', req.url, res.socket))
      res.end(ServerResponse.name)
    })
    const wire = await dial(await listen(server))
    await play(wire, [message('GET /a', []), new RegExp(`${ServerResponse.name}$`)])
    await talk(wire, message('GET /b'))
  }
})
