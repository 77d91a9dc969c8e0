'use strict'

// The smallest server: the module stands in for node:http, the address is a URL prefix.
//
//   node examples/101-hello.js [URL prefix]

const http = require('@httpsys/core-native')
const { closeOnSignals } = require('./lib/shutdown')

const [prefix = 'http://localhost:8080/'] = process.argv.slice(2)

const server = http.createServer((req, res) => {
  res.setHeader('Content-Type', 'text/plain')
  res.end(`Hello, ${req.socket.remoteAddress}!\n`)
})

server.listen(prefix, () => console.log(`Listening on ${prefix}`))
closeOnSignals(server)
