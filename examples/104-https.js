'use strict'

// One server with and without TLS. Without files it has a certificate for development, which browsers warn of.
//
//   node examples/104-https.js [port] [https port] [key file] [certificate file]
//   curl -k https://localhost:8443/

const fs = require('node:fs')
const http = require('@httpsys/core-native')
const { closeOnSignals } = require('./lib/shutdown')

const [port = '8080', securePort = '8443', key, cert] = process.argv.slice(2)
const prefixes = [`http://localhost:${port}/`, `https://localhost:${securePort}/`]
const certificate = key === undefined ? { devCert: true } : { key: fs.readFileSync(key), cert: fs.readFileSync(cert) }

const server = http.createServer((req, res) => {
  const { socket } = req
  res.setHeader('Content-Type', 'text/plain')
  if (socket.encrypted) {
    res.end(`Hello, this is ${socket.getProtocol()} with ${socket.getCipher().name}.\n`)
  } else {
    res.end(`Hello, everybody can read this. https://localhost:${securePort}/ is for us alone.\n`)
  }
})

server.listen(prefixes, certificate, () => console.log(`Listening on ${prefixes.join(' and ')}`))
closeOnSignals(server)
