'use strict'
// http-shutdown adds withShutdown() to http.Server.prototype, marks sockets as idle or busy, and destroys them one by one.
// covers: 3, 15, 16
// breaks: connection-event-missing

const http = require('node:http')
require('http-shutdown').extend()
const { answer, dial, listen, log, message, play, program, within } = require('../../kit')

program(async () => {
  for (const how of ['shutdown', 'forceShutdown']) {
    let finish
    const server = http.createServer((req, res) => {
      log(how, req.socket._isIdle, req.socket._connectionId)
      finish = () => res.end('finished')
    }).withShutdown()
    const port = await listen(server)
    const silent = await dial(port)
    const busy = await dial(port)
    await play(busy, [message('GET /', []), { event: how }])
    const done = new Promise((resolve) => server[how](() => resolve('done')))
    answer('silent', await within(silent.untilClosed(), 'still open'))
    if (how === 'shutdown') finish?.()
    answer('busy', await within(busy.untilClosed(), 'still open'), await within(done, 'still open'))
    silent.destroy()
    busy.destroy()
  }
})
