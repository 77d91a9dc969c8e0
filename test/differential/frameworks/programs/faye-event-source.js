'use strict'
// faye-websocket's EventSource writes a whole answer to the socket of a response, past the response itself.
// covers: 15, 20, 39
// breaks: write-past-response-lost

const EventSource = require('faye-websocket').EventSource
const http = require('node:http')
const { answer, dial, listen, log, logged, message, play, program, within } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    if (!EventSource.isEventSource(req)) return res.end('page')
    const source = new EventSource(req, res, { ping: 0, retry: 7, headers: { 'X-Extra': '1' } })
    source.on('open', () => log('open', source.url, source.lastEventId))
    source.on('close', () => log('close', res.headersSent))
    source.send('one')
    source.send('two', { event: 'named', id: '9' })
    req.resume()
  })
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /', ['Accept: text/event-stream', 'Last-Event-ID: 5']), { event: 'open' }])
  await within(wire.until(/two\r\n\r\n/))
  wire.socket.end()
  await within(logged('close'))
  answer(wire.text)
  wire.destroy()
})
