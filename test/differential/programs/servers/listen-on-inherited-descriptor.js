'use strict'
// systemd and process managers hand a program its listening socket as descriptor 3.
// covers: 26
// breaks: descriptor-ignored

const { spawn } = require('node:child_process')
const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const { log, listening, message, program, talk } = require('../../kit')

if (process.argv[2] === 'child') {
  const server = http.createServer((req, res) => {
    res.end(`${req.url} of the child`)
    if (req.url === '/last') server.close(() => console.log('child closed'))
  })
  process.stdin.on('end', () => process.exit()).resume().unref()
  server.on('error', ({ code }) => console.log('child', code))
  server.listen({ fd: 3 }, () => console.log('child listening', server.address().family, server.address().address))
} else {
  program(async () => {
    const holder = net.createServer()
    holder.listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const port = listening(holder)
    const child = spawn(process.execPath, [...process.execArgv, __filename, 'child'], { stdio: ['pipe', 'pipe', 'inherit', holder._handle.fd] })
    const ended = once(child, 'close')
    child.stdout.on('data', (text) => log(String(text).trim()))
    holder.close()
    const [said] = await once(child.stdout, 'data')
    if (/listening/.test(said)) {
      await talk(port, message('GET /'))
      await talk(port, message('GET /last'))
    } else {
      child.kill()
    }
    log('exit', ...await ended)
  })
}
