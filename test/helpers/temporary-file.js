'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after } = require('node:test')

/**
 * A file for all tests of the calling one, in a folder of its own.
 *
 * @param {Buffer} content
 */
function temporaryFile (content) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-files-'))
  const file = path.join(folder, 'content')
  fs.writeFileSync(file, content)
  // Windows has a file until the last handle of it is closed.
  after(() => fs.promises.rm(folder, { recursive: true, maxRetries: 10 }))
  return { folder, file }
}

module.exports = { temporaryFile }
