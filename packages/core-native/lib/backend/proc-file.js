'use strict'

// Reads tables of the kernel below /proc.

const fs = require('node:fs')
const { Buffer } = require('node:buffer')

// Maximum number of bytes read from a table: about a hundred thousand sockets. The rest is ignored.
const kProcBytesMax = 16 * 1024 * 1024

/**
 * @param {string} file of unknown length, like all files of /proc
 * @param {(piece: string) => boolean} [isEnough] gets each piece that was read; true: stop reading
 * @returns {string} the file's beginning, as latin1
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
