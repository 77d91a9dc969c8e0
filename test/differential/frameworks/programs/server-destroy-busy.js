'use strict'
// server-destroy keeps each connection by its address and destroys all of them, busy or not.
// covers: 16, 17
// breaks: connection-event-missing

const http = require('node:http')
const enableDestroy = require('server-destroy')
const { answer, dial, listen, log, message, play, program, watch, within } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log('busy')
    watch('req', req, ['aborted', 'close'])
    watch('res', res, ['close'])
    res.write('begun')
  })
  enableDestroy(server)
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /', []), /begun/])
  answer(await within(new Promise((resolve) => server.destroy(() => resolve('destroyed'))), 'still open'))
  answer(await within(wire.untilClosed(), 'still open'))
})
