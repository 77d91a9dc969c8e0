'use strict'

// Two processes on one port: each takes the requests of its own URL prefix. Neither knows of the other, and there
// is no proxy between them: a connection is handed to the process that its request is for.
//
//   node examples/103-two-prefixes.js shop [port]
//   node examples/103-two-prefixes.js blog [port]     in a second terminal
//   curl http://localhost:8080/shop/shoes http://localhost:8080/blog/today
//
// Starting "shop" twice is refused; the message names the process that has it.

const http = require('@httpsys/core-native')
const { closeOnSignals } = require('./lib/shutdown')

const [area = 'shop', port = '8080'] = process.argv.slice(2)
const prefix = `http://*:${port}/${area}/`

const server = http.createServer((req, res) => {
  res.end(`${area}, process ${process.pid}: ${req.url}\n`)
})

server.on('error', (error) => {
  console.error(error.message)
  process.exitCode = 1
})
server.listen(prefix, () => console.log(`Listening on ${prefix}`))
closeOnSignals(server)
