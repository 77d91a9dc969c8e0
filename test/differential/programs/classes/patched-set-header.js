'use strict'
// A security module wraps setHeader() of http.OutgoingMessage's prototype when it loads.
// covers: 12
// breaks: set-header-of-load

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

const { setHeader } = http.OutgoingMessage.prototype
http.OutgoingMessage.prototype.setHeader = function (name, value) {
  log('set', name, value)
  return setHeader.call(this, name, name === 'X-Powered-By' ? 'nobody' : value)
}

program(async () => {
  const server = http.createServer((req, res) => {
    res.setHeader('X-Powered-By', 'somebody')
    res.setHeader('Vary', 'Accept')
    log(res.getHeaders())
    res.end()
  })
  await talk(await listen(server), message('GET /'))
})
