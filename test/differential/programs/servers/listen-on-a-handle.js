'use strict'
// A parent sends its net.Server to a child (the pattern of the documentation of child_process), where an http.Server listens on it.
// covers: 26, 42
// breaks: engine-handles-only

const { fork } = require('node:child_process')
const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const { log, listening, message, program, talk } = require('../../kit')

if (process.argv[2] === 'child') {
  const server = http.createServer((req, res) => {
    res.end(`${req.url} of the child`)
    if (req.url === '/last') server.close(() => process.disconnect())
  })
  process.on('message', (text, holder) => {
    server.listen(holder, () => process.send(`${text} listening ${server.address().family}`))
  })
  process.on('disconnect', () => process.exit())
  process.send('ready')
} else {
  program(async () => {
    const child = fork(__filename, ['child'])
    const ended = once(child, 'exit')
    child.on('message', (text) => log('child', text))
    await once(child, 'message')
    const holder = net.createServer()
    holder.listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const port = listening(holder)
    child.send('holder', holder, () => holder.close())
    await once(child, 'message')
    for (const path of ['/', '/second', '/last']) await talk(port, message(`GET ${path}`))
    log('exit', ...await ended)
  })
}
