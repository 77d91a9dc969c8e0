'use strict'

// The files that the scenario "files" serves.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { hashOf, textOf } = require('./content')

/** By name: bytes. */
const kFiles = { '13.txt': 13, '35k.txt': 35 * 1024, '1m.txt': 2 ** 20 }
/** Without any block on the disk. */
const kSparse = '1g.bin'
const kSparseBytes = 2 ** 30
/** Where slow files are mounted. */
const kSlow = 'slow'
/** Many different files, larger than what a client takes that stands still. */
const kMany = 300
const kManyBytes = 128 * 1024

/** @typedef {{ bytes: number, hash: string }} Body of a response */

class Files {
  /** @type {Map<string, Body>} */
  #bodies = new Map()

  constructor () {
    this.folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-bench-files-'))
    // nginx' worker is another user.
    fs.chmodSync(this.folder, 0o755)
    for (const [name, bytes] of Object.entries(kFiles)) this.#write(name, bytes)
    for (const name of manyNames()) this.#write(name, kManyBytes)
    fs.mkdirSync(path.join(this.folder, kSlow))
    const sparse = path.join(this.folder, kSparse)
    fs.writeFileSync(sparse, '')
    fs.truncateSync(sparse, kSparseBytes)
  }

  /** @param {string} name @param {number} bytes */
  #write (name, bytes) {
    const content = textOf(bytes, name)
    fs.writeFileSync(path.join(this.folder, name), content)
    this.#bodies.set(name, { bytes, hash: hashOf(content) })
  }

  /** @param {string} name @returns {Body} what must arrive */
  body (name) {
    return /** @type {Body} */ (this.#bodies.get(name))
  }

  remove () {
    fs.rmSync(this.folder, { recursive: true, force: true })
  }
}

/** @returns {string[]} */
function manyNames () {
  return Array.from({ length: kMany }, (_, index) => `one-of-many-${index}.txt`)
}

module.exports = { Files, kManyBytes, kSlow, kSparse, manyNames }
