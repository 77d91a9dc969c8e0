'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

/**
 * A file of reservations that this process, and those it starts, have while a test runs. It is not there yet.
 *
 * @param {import('node:test').TestContext} t
 */
function ownUrlacl (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-urlacl-'))
  const before = process.env.HTTPSYS_URLACL
  const file = process.env.HTTPSYS_URLACL = path.join(folder, 'urlacl.json')
  t.after(() => {
    if (before === undefined) delete process.env.HTTPSYS_URLACL
    else process.env.HTTPSYS_URLACL = before
    fs.rmSync(folder, { recursive: true })
  })
  return file
}

module.exports = { ownUrlacl }
