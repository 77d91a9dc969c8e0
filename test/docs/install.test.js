'use strict'

// docs/install.md: what it shows is what the examples have, and what other programs accept.

const assert = require('node:assert/strict')
const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { describe, it, test } = require('node:test')
const { dockerfiles, lintDocker } = require('../../tools/lint-docker')
const { hadolint } = require('../../tools/lib/packages')
const { request } = require('../helpers/client')
const { blocksOf } = require('../helpers/docs')
const { freePort } = require('../helpers/free-port')
const { complaintsOf, systemd } = require('../helpers/systemd')

const kRoot = path.join(__dirname, '..', '..')
const kDocker = path.join(kRoot, 'examples', 'docker')

/** @param {import('node:test').TestContext} t @param {string} name @param {string} text @returns {string} a file that the test has to itself */
function fileWith (t, name, text) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-install-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, name)
  fs.writeFileSync(file, text)
  return file
}

describe('the Dockerfiles of examples/docker', () => {
  const read = (/** @type {string} */ name) => fs.readFileSync(path.join(kDocker, name), 'utf8')

  it('are those of docs/install.md', () => {
    const [debian, distroless, ...others] = blocksOf('docs/install.md', 'dockerfile')
    assert.deepEqual(others, [])
    assert.equal(read('Dockerfile'), debian)
    assert.equal(read('Dockerfile.distroless'), distroless)
    const [, alpine] = /for Alpine the first line is `([^`]+)`/.exec(fs.readFileSync(path.join(kRoot, 'docs', 'install.md'), 'utf8')) ?? []
    assert.equal(read('Dockerfile.alpine'), debian.replace(/^.*/, alpine))
    assert.deepEqual(dockerfiles().map((file) => path.relative(kDocker, file)), ['Dockerfile', 'Dockerfile.alpine', 'Dockerfile.distroless'])
  })

  it('copy files that are there or that npm makes, and leave node_modules out', () => {
    for (const file of dockerfiles()) {
      for (const [, names] of fs.readFileSync(file, 'utf8').matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
        for (const name of names.split(' ')) assert.ok(/^package(-lock)?\.json$/.test(name) || fs.existsSync(path.join(kDocker, name)), `${file}: ${name}`)
      }
    }
    assert.match(read('.dockerignore'), /^node_modules$/m)
  })

  const linter = { skip: !fs.existsSync(hadolint()) && 'hadolint is not installed; npm test -- --all does that' }
  it('are linted by a program that refuses an image without a tag', linter, async (t) => {
    await lintDocker()
    const untagged = fileWith(t, 'Dockerfile', read('Dockerfile').replace('node:24-bookworm-slim', 'node'))
    await assert.rejects(lintDocker([untagged]), { output: /DL3006/ })
  })
})

// As in a container: process 1 of its process identifiers.
const kFirst = ['--pid', '--fork', '--kill-child']
const containers = { skip: spawnSync('unshare', [...kFirst, 'true']).status !== 0 && 'process identifiers of their own need Linux and the rights of root' }
// Ends what hangs, and is many times what the application takes to end.
const kMs = 20_000

/** @param {import('node:test').TestContext} t @param {string} text a program @returns {Promise<{ pid: number, port: number, ended: Promise<any[]> }>} Node as process 1, which listens */
async function startFirst (t, text) {
  const port = await freePort()
  const child = spawn('unshare', [...kFirst, process.execPath, '--require', '@httpsys/core-native/register', '--eval', text], { cwd: kDocker, env: { ...process.env, PORT: String(port) }, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  child.stdout.setEncoding('utf8')
  assert.match((await once(child.stdout, 'data', { signal: t.signal }))[0], /Listening on/)
  const pid = Number(fs.readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'))
  return { pid, port, ended }
}

/** @param {number} pid @returns {boolean} whether it has a handler of SIGTERM, be it Node's own; throws when the process is gone */
function catchesTerm (pid) {
  const [, mask] = /^SigCgt:\s+(\w+)$/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (BigInt(`0x${mask}`) & (1n << BigInt(os.constants.signals.SIGTERM - 1))) !== 0n
}

describe('an application that is process 1', { ...containers, timeout: kMs * 2 }, () => {
  const text = fs.readFileSync(path.join(kDocker, 'app.js'), 'utf8')

  it('ends at SIGTERM when it has a listener as examples/docker/app.js', { timeout: kMs }, async (t) => {
    const { pid, ended } = await startFirst(t, text)
    process.kill(pid, 'SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })

  it('serves on after SIGTERM when it has none', { timeout: kMs }, async (t) => {
    const without = text.replace(/^process\.once.*$/m, '')
    assert.notEqual(without, text)
    const { pid, port, ended } = await startFirst(t, without)
    process.kill(pid, 'SIGTERM')
    // Node's handler puts the terminal right, removes itself and sends the signal once more.
    while (catchesTerm(pid)) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.equal((await request(port)).body, 'Hello, world!')
    process.kill(pid, 'SIGKILL')
    await ended
  })
})

test('systemd complains of nothing in the unit, and of mistakes that are made in it', systemd, (t) => {
  const [text] = blocksOf('docs/install.md', 'ini')
  assert.match(text, /^ExecStart=\/usr\/bin\/node --require @httpsys\/core-native\/register app\.js$/m)
  assert.match(text, /^WorkingDirectory=\/srv\/hello$/m)
  const unit = text.replace('/usr/bin/node', process.execPath)
  assert.equal(complaintsOf(t, 'hello.service', unit), '')
  for (const [right, wrong] of [['NoNewPrivileges=yes', 'NoNewPrivileges=maybe'], ['LimitNOFILE', 'LimitNOFIL'], ['on-failure', 'on-failures'], [process.execPath, '/nowhere/node']]) {
    assert.notEqual(complaintsOf(t, 'hello.service', unit.replace(right, wrong)), '', wrong)
  }
})
