'use strict'

const { Writable, pipeline } = require('node:stream')

/** @type {import('../lib/types').Scenario} */
module.exports = {
  name: 'upload-10mb',
  title: '10 MB upload piped to a counter',
  unit: 'byte received',
  implementations: ['node', 'httpsys'],
  connections: 64,
  load: ['upload', String(10 * 2 ** 20)],
  target: { process: 0.9, thread: 0.6 },
  application: (counter) => ({
    listener (req, res) {
      let bytes = 0
      const sink = new Writable({
        write (piece, encoding, done) {
          bytes += piece.length
          counter.bytes += piece.length
          done()
        },
      })
      pipeline(req, sink, (error) => {
        if (!error) res.end(String(bytes))
      })
    },
  }),
  probe: { method: 'POST', body: 'x'.repeat(1000), status: 200, response: '1000' },
}
