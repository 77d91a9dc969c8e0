'use strict'
// A service lives as long as its server listens, and no longer than its last connection; ref() takes unref() back.
// covers: 27
// breaks: listening-holds-nothing, connections-hold-nothing

const { spawn } = require('node:child_process')
const http = require('node:http')
const { setTimeout } = require('node:timers')
const { log, program } = require('../../kit')

// Its pauses are the silences in which this process would end, were there nothing to hold it.
// Another process, so that nothing of the client's keeps this one alive.
const kClient = `
const http = require('node:http')
const get = (path, then) => http.get({ host: '127.0.0.1', port: process.argv[1], path, agent: false, headers: { connection: 'close' } }, (res) => res.resume().on('end', then))
setTimeout(() => get('/first', () => setTimeout(() => get('/last', () => {}), 100)), 200)`

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.url)
    if (req.url === '/first') return res.end()
    server.close(() => log('closed'))
    // Only the connection keeps the process alive meanwhile.
    setTimeout(() => res.end(), 300).unref()
  })
  server.unref()
  server.listen(0, '127.0.0.1', () => {
    log(server.ref() === server)
    spawn(process.execPath, ['-e', kClient, String(server.address().port)], { stdio: 'ignore', detached: true }).unref()
  })
  process.prependListener('exit', () => log('exit', server.listening))
})
