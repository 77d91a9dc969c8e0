'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { backend } = require('../helpers/backend')
const { readByPeer, until } = require('../helpers/waiting')

/**
 * Waits until what was written lies ready for a server whose JavaScript is busy: with the I/O threads, or on stock Node in the
 * kernel, which loopback puts it into at once.
 *
 * @param {import('../helpers/client').Wire[]} wires
 * @param {string} [name] of the server's backend
 */
async function haveCome (wires, name = backend) {
  const sockets = wires.map(({ socket }) => socket)
  if (name === 'node') await until(() => sockets.every((socket) => socket.writableLength === 0), 'the kernel has taken everything')
  else await readByPeer(...sockets)
}

/**
 * A name for a file that is made to tell something to a process whose JavaScript is busy.
 *
 * @param {import('node:test').TestContext} t
 * @returns {string}
 */
function signalFile (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-dispatch-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  return path.join(folder, 'signal')
}

module.exports = { haveCome, signalFile }
