'use strict'

// One server, several URL prefixes. The engine finds the prefix that owns a request; what no prefix owns it
// answers by itself, with 404.
//
//   node examples/102-prefix.js [port]
//   curl http://localhost:8080/shop/shoes
//   curl http://localhost:8080/admin
//   curl -i http://localhost:8080/elsewhere

const http = require('@httpsys/core-native')
const { closeOnSignals } = require('./lib/shutdown')

const [port = '8080'] = process.argv.slice(2)
const prefixes = [`http://localhost:${port}/shop/`, `http://localhost:${port}/admin/`]

const server = http.createServer((req, res) => {
  // req.url is what the client sent, prefix included.
  const [, area, ...rest] = new URL(req.url, 'http://localhost').pathname.split('/')
  res.end(`${area}: /${rest.join('/')}\n`)
})

server.listen(prefixes, () => console.log(`Listening on ${prefixes.join(' and ')}`))
closeOnSignals(server)
