'use strict'
// Without a listener an exception in a handler ends the process, with its message and exit code; what was answered before has left.
// covers: 36
// breaks: thrown-into-nothing

const { spawn } = require('node:child_process')
const http = require('node:http')
const { once } = require('node:events')
const { clearTimeout, setTimeout } = require('node:timers')
const { log, message, program, talk } = require('../../kit')

/** Ends a child that lives on; each of them ends within a tenth of it on a busy machine. */
const kEndMs = 5000

if (process.argv[2] === 'child') {
  const server = http.createServer((req, res) => {
    if (req.url === '/crash') throw new TypeError('cannot go on')
    if (req.url === '/reject') return Promise.reject(new RangeError('nobody cares'))
    res.end('answered')
    if (req.url === '/exit') process.exit(5)
  })
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
} else {
  program(async () => {
    for (const path of ['/crash', '/reject', '/exit']) {
      const child = spawn(process.execPath, [...process.execArgv, __filename, 'child'], { stdio: ['ignore', 'pipe', 'pipe'] })
      const closed = once(child, 'close')
      let errors = ''
      child.stderr.on('data', (text) => { errors += text })
      const [port] = await once(child.stdout, 'data')
      const timer = setTimeout(() => child.kill(), kEndMs)
      await talk(Number(port), [message('GET /', []), /answered/, message(`GET ${path}`)])
      log('exit', ...await closed)
      clearTimeout(timer)
      log(errors.split('\n').filter((line) => /Error/.test(line)))
    }
  })
}
