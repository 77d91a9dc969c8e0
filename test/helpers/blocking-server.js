'use strict'

// A server in a process of its own, which says on stdout what it does, and stands still in /block until it is told to go on.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')

const kBlock = 'GET /block HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

class BlockingServer {
  output = ''

  /**
   * @param {import('node:test').TestContext} t
   * @param {string} program says "port <number>" and "blocked", and reads a byte of stdin to go on
   * @param {object} given to the program, as JSON in process.argv[1]
   * @param {{ env?: NodeJS.ProcessEnv, stderr?: 'ignore' | 'inherit' }} [options]
   */
  constructor (t, program, given, { env, stderr = 'inherit' } = {}) {
    this.child = spawn(process.execPath, ['-e', program, JSON.stringify(given), program], {
      stdio: ['pipe', 'pipe', stderr], cwd: __dirname, env: { ...process.env, HTTPSYS_IO_THREADS: '1', ...env }
    })
    this.child.stdout.setEncoding('utf8').on('data', (text) => { this.output += text })
    t.after(() => this.child.kill('SIGKILL'))
  }

  /** @param {RegExp} pattern @returns {Promise<RegExpExecArray>} */
  async says (pattern) {
    for (;;) {
      const found = pattern.exec(this.output)
      if (found !== null) return found
      await once(this.child.stdout, 'data')
    }
  }

  async start () {
    this.port = Number((await this.says(/port (\w+)/))[1])
    return this
  }

  async block (connect = net.connect) {
    this.first = send(this, kBlock, connect)
    await this.says(/blocked/)
  }

  goOn () { this.child.stdin.write('.') }
}

/** @param {{ port?: number }} server @param {string} text @returns {Promise<string>} everything that comes until the end; an error's code */
function send ({ port }, text, connect = /** @type {any} */ (net.connect)) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
    let received = ''
    socket.setEncoding('latin1').on('data', (/** @type {string} */ data) => { received += data })
    socket.on('error', (/** @type {any} */ error) => resolve(error.code))
    socket.on('close', () => resolve(received))
    socket.write(text)
  })
}

module.exports = { BlockingServer, send }
