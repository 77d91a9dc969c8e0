'use strict'
// A client leaves a stream of events: the response is closed without having finished, later writes fail
// with an error of their own and hurt nobody.
// covers: 31, 32
// breaks: open-answer-kept

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch('request', req, ['aborted', 'error', 'end', 'close'])
    watch('response', res, ['finish', 'error', 'close'])
    res.write('data: 1\n\n')
    res.on('close', () => {
      log(res.writableEnded, res.writableFinished, res.destroyed, res.headersSent, res.errored)
      setImmediate(() => {
        log('write', res.write('data: 2\n\n', (error) => log('written', error?.code)))
        res.end(() => log('ended'))
        setImmediate(() => log('over', res.writableEnded, res.writableFinished))
      })
    })
  })
  const port = await listen(server)
  await talk(port, message('GET /', []), /data: 1/)
  await logged('over')
})
