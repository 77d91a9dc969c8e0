'use strict'

// Other people's proxies, started in front of a server.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')

// Between two looks at whether a proxy listens.
const kLookMs = 20

/** @returns {string} a folder for the files of a proxy */
const makeProxyFolder = () => fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-proxy-'))

/**
 * Resolves when the proxy listens. After the test it is ended, then its folder removed.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} program
 * @param {string[]} args
 * @param {string} folder of its files
 * @param {net.NetConnectOpts} where it is going to listen
 * @returns {Promise<void>}
 */
async function startProxy (t, program, args, folder, where) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (piece) => { said += piece })
  let hasEnded = false
  const ended = once(child, 'close').then(() => { hasEnded = true })
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
    fs.rmSync(folder, { recursive: true, force: true })
  })
  for (;;) {
    const socket = net.connect(where)
    const isThere = await once(socket, 'connect').then(() => true, () => false)
    socket.destroy()
    if (isThere) return
    assert.ok(!hasEnded, `${program} has ended: ${said}`)
    await new Promise((resolve) => setTimeout(resolve, kLookMs))
  }
}

/** @param {string} folder for its files @param {string} http what is configured within http @returns {string} a configuration of nginx, one process without a log */
const nginxWith = (folder, http) => `
daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr warn;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
${http}
}
`

/** @param {string} file the configuration @param {string} folder that it names @returns {string[]} the arguments of nginx */
const nginxArgs = (file, folder) => ['-p', folder, '-c', file]

module.exports = { makeProxyFolder, nginxArgs, nginxWith, startProxy }
