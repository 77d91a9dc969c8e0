'use strict'

// Reads tables of the kernel below /proc.

const fs = require('node:fs')
const { Buffer } = require('node:buffer')

// A hundred thousand sockets; what lies behind is not looked at.
const kProcBytesMax = 16 * 1024 * 1024

/**
 * @param {string} file of unknown length, as those of /proc are
 * @param {(piece: string) => boolean} [isEnough] whether what follows a piece need not be read
 * @returns {string} its beginning, as latin1
 */
function readStart (file, isEnough = () => false) {
  const fd = fs.openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(64 * 1024)
    let text = ''
    while (text.length < kProcBytesMax) {
      const piece = buffer.toString('latin1', 0, fs.readSync(fd, buffer))
      text += piece
      if (piece === '' || isEnough(piece)) break
    }
    return text
  } finally {
    fs.closeSync(fd)
  }
}

module.exports = { readStart }
