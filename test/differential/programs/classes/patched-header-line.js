'use strict'
// Code that looks at header lines one by one wraps _addHeaderLine() of http.IncomingMessage's
// prototype.
// covers: 12
// breaks: patched-header-line-bypassed

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

const { _addHeaderLine } = http.IncomingMessage.prototype
http.IncomingMessage.prototype._addHeaderLine = function (field, value, headers) {
  log('line', field, value)
  return _addHeaderLine.call(this, field, field === 'X-Secret' ? '***' : value, headers)
}

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.headers)
    res.end()
  })
  await talk(await listen(server), message('GET /', ['X-Secret: a', 'Accept: b', 'Accept: c', 'Connection: close']))
})
