'use strict'
// Since Node 24 a handler gives req.signal to what it waits for: it aborts when the client leaves, not when the answer is out.
// covers: 31
// breaks: destroy-keeps-the-connection

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { dial, listen, log, logged, message, play, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { url } = req
    // Who asks for it when the answer is out gets one that never aborts.
    const signal = url === '/late' ? undefined : req.signal
    log(url, typeof signal, signal?.aborted)
    if (signal) signal.onabort = () => log(url, 'abort', req.aborted, req.complete)
    watch(url, req, ['aborted', 'error'])
    watch(url, res, ['finish'])
    req.socket.on('close', () => setImmediate(() => setImmediate(() => log(url, 'gone', signal?.aborted, req.signal?.aborted))))
    res.on('close', () => log(url, 'closed', signal?.aborted))
    req.resume()
    if (url === '/destroyed') res.destroy()
    else if (url !== '/left') req.on('end', () => res.end('done'))
  })
  const port = await listen(server)
  await talk(port, message('GET /answered'))
  await logged('/answered gone')
  await talk(port, message('GET /late'))
  await logged('/late gone')
  await talk(port, message('POST /body', ['Connection: close', 'Content-Length: 4'], 'body'))
  await logged('/body gone')
  await talk(port, [message('GET /first', []), { event: '/first closed' }, message('GET /second')])
  await logged('/second gone')
  await talk(port, message('GET /destroyed', []))
  await logged('/destroyed gone')
  const wire = await dial(port)
  await play(wire, [message('GET /left', []), { event: '/left' }])
  wire.destroy()
  await logged('/left gone')
})
