'use strict'
// A response hears of its socket by overriding assignSocket() in its class, or detachSocket() for
// itself.
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

program(async () => {
  const detached = (req, res) => {
    const { detachSocket } = res
    res.detachSocket = function (socket) {
      log('detach', req.url, socket._httpMessage === this)
      detachSocket.call(this, socket)
    }
  }
  for (const [options, prepare] of [[{ ServerResponse: Assigned }, () => {}], [{}, detached]]) {
    const server = http.createServer(options, (req, res) => {
      prepare(req, res)
      log(req.url, res.socket === req.socket)
      res.on('finish', () => log('finish', req.url, res.socket))
      res.end('answered')
    })
    const wire = await dial(await listen(server))
    await play(wire, [message('GET /a', []), /answered$/])
    await talk(wire, message('GET /b'))
  }
})
