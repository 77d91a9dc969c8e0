'use strict'
// Since Node 24 optimizeEmptyRequests spares requests that announce no body the events of a stream that has none.
// covers: 28, 34
// breaks: complete-untold

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk, watch } = require('../../kit')

program(async () => {
  for (const optimizeEmptyRequests of [true, false, undefined]) {
    const server = http.createServer({ optimizeEmptyRequests }, (req, res) => {
      const { url } = req
      log(url, req._dumped, req.readableEnded, req.destroyed, req._consuming, req.complete)
      watch(url, req, ['data', 'end', 'close'])
      req.resume()
      res.on('close', () => log(url, 'answered', req._dumped, req.destroyed, req.complete, req.aborted))
      setImmediate(() => setImmediate(() => res.end(url)))
    })
    const port = await listen(server)
    await talk(port, message('GET /get'))
    await talk(port, message('HEAD /head'))
    await talk(port, [message(`DELETE /${optimizeEmptyRequests}`, []), { event: `/${optimizeEmptyRequests} answered` }, message('POST /behind')])
    await talk(port, message('GET /zero', ['Connection: close', 'Content-Length: 0']))
    await talk(port, message('POST /length', ['Connection: close', 'Content-Length: 4'], 'body'))
    await talk(port, message('POST /chunked', ['Connection: close', 'Transfer-Encoding: chunked'], '4\r\nbody\r\n0\r\n\r\n'))
    await talk(port, message('GET /refused-upgrade', ['Connection: close, Upgrade', 'Upgrade: other']))
  }
  for (const optimizeEmptyRequests of [null, 'yes']) {
    try {
      http.createServer({ optimizeEmptyRequests })
      log('no error')
    } catch (error) {
      log(error.code)
    }
  }
})
