'use strict'

// An application that is replaced while it serves: README.md.
//
//   node examples/302-zero-drop-restart/app.js <version> [URL prefix]

const { execFile } = require('node:child_process')
const http = require('@httpsys/core-native')

// Longest time that the old instance takes for what it has begun; longer than the slowest request.
const kGraceMs = 20_000

const [version = '1', prefix = 'http://*:8080/'] = process.argv.slice(2)

const server = http.createServer((req, res) => {
  // A request takes a while, so that a restart always meets some.
  setTimeout(() => res.end(`version ${version}, process ${process.pid}\n`), 20)
})

server.on('error', (error) => {
  console.error(error.message)
  process.exitCode = 1
})

// Both instances have one queue: whoever is there takes the requests.
server.listen({ prefix, queueName: 'zero-drop', queueMode: 'createOrAttach' }, () => {
  console.log(`Version ${version}, process ${process.pid}. Listening on ${prefix}`)
  // systemd goes on with "stop the old one" when this one serves.
  if (process.env.NOTIFY_SOCKET) execFile('systemd-notify', ['--ready'])
})

// Requests that were begun are answered; idle connections move to the other instance; if there is none yet, new
// requests wait for it as long as another process has the port open.
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    server.close({ restart: true })
    setTimeout(() => server.closeAllConnections(), kGraceMs).unref()
  })
}
