'use strict'

const { Readable, pipeline } = require('node:stream')

const kPieceBytes = 64 * 1024
const kPieces = 16

/** @type {import('../lib/types').Scenario} */
module.exports = {
  name: 'stream-1mb',
  title: '1 MB response streamed in pieces of 64 KB',
  unit: 'byte sent',
  implementations: ['node', 'httpsys'],
  connections: 64,
  load: ['get'],
  target: { process: 0.9, thread: 0.6 },
  application () {
    const piece = Buffer.alloc(kPieceBytes, 'x')
    return {
      listener (req, res) {
        let left = kPieces
        const source = new Readable({
          read () { this.push(left-- > 0 ? piece : null) },
        })
        pipeline(source, res, () => {})
      },
    }
  },
  probe: { method: 'GET', status: 200, response: kPieceBytes * kPieces },
}
