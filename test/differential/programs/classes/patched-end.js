'use strict'
// Agents that measure (APM) wrap end() and write() of http.ServerResponse's prototype.
// covers: 9, 12
// breaks: patched-end-bypassed

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

for (const name of ['end', 'write']) {
  const stock = http.ServerResponse.prototype[name]
  http.ServerResponse.prototype[name] = function (...args) {
    log(name, args.length, this.headersSent)
    if (name === 'end' && !this.headersSent) this.setHeader('Server-Timing', 'app;dur=1')
    return stock.apply(this, args)
  }
}

program(async () => {
  const server = http.createServer((req, res) => {
    if (req.url === '/write') res.write('a')
    if (req.url === '/empty') res.end()
    else res.end('b')
  })
  const port = await listen(server)
  for (const path of ['/end', '/write', '/empty']) await talk(port, message(`GET ${path}`))
})
