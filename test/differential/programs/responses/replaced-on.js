'use strict'
// compression replaces on() of a response to hear who waits for "drain"; a large stream goes on only by
// that event.
// covers: 9
// breaks: drain-lost

const http = require('node:http')
const { answer, dial, listen, log, message, play, program } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { on } = res
    res.on = function (type, listener) {
      log('on', type)
      return on.call(this, type, listener)
    }
    let pieces = 0
    const next = () => {
      while (pieces < 6) {
        pieces++
        const goesOn = res.write(Buffer.alloc(pieces === 1 ? 100 : 40_000, 48 + pieces))
        log('write', pieces, goesOn, res.writableNeedDrain)
        if (!goesOn) return
      }
      res.end()
    }
    res.on('drain', () => {
      log('drain', res.writableNeedDrain)
      next()
    })
    next()
  })
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /')])
  const text = await wire.untilClosed()
  answer(text.replace(/(\d)\1{99,}/g, (run) => `${run[0]} times ${run.length}`))
})
