'use strict'

// Reads tables of the kernel below /proc.

const fs = require('node:fs')
const { Buffer } = require('node:buffer')

// A hundred thousand sockets; what lies behind is not looked at.
const kProcBytesMax = 16 * 1024 * 1024

/** @param {string} file of unknown length, as those of /proc are @returns {string} its beginning, as latin1 */
function readStart (file) {
  const fd = fs.openSync(file, 'r')
  try {
    /** @type {Buffer[]} */
    const pieces = []
    for (let length = 0; length < kProcBytesMax;) {
      const piece = Buffer.alloc(64 * 1024)
      const read = fs.readSync(fd, piece)
      if (read === 0) break
      pieces.push(piece.subarray(0, read))
      length += read
    }
    return Buffer.concat(pieces).toString('latin1')
  } finally {
    fs.closeSync(fd)
  }
}

module.exports = { readStart }
