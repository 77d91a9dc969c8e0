'use strict'

// Goal: the file of bindings is changed by several writers, behind links, and by root for others, as that of reservations is;
// what is no file of bindings is an error.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { execFileSync, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const bindings = require('@httpsys/core-native/ssl-certificates')
const { certificate } = require('../helpers/certificates')

const kNobody = 65534
const kSkipUser = process.geteuid?.() !== 0 && 'only root can make files of other users'

/** @param {import('node:test').TestContext} t */
function bindingsFile (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-bindings-'))
  const file = path.join(folder, 'config', 'sslcert.json')
  const before = process.env.HTTPSYS_SSLCERT
  process.env.HTTPSYS_SSLCERT = file
  t.after(() => {
    if (before === undefined) delete process.env.HTTPSYS_SSLCERT
    else process.env.HTTPSYS_SSLCERT = before
    fs.rmSync(folder, { recursive: true, force: true })
  })
  fs.mkdirSync(path.dirname(file))
  const { key, cert } = certificate('bound.test')
  const pair = { cert: path.join(folder, 'cert'), key: path.join(folder, 'key') }
  fs.writeFileSync(pair.cert, cert)
  fs.writeFileSync(pair.key, key)
  return { file, pair }
}

const kEmpty = '{ "version": 1, "bindings": [] }'

test('bindings of processes that write at the same time are all kept', { timeout: 60_000 }, async (t) => {
  const { file, pair } = bindingsFile(t)
  const program = `
    const { addBinding } = require(${JSON.stringify(require.resolve('@httpsys/core-native/ssl-certificates'))})
    for (let i = 0; i < 10; i++) addBinding('h' + i + '.test:' + process.argv[1], ${JSON.stringify(pair)})`
  const children = ['1', '2', '3'].map((port) => spawn(process.execPath, ['-e', program, port], { stdio: 'inherit' }))
  for (const [code] of await Promise.all(children.map((child) => once(child, 'exit')))) assert.equal(code, 0)
  assert.equal(bindings.listBindings().length, 30)
  assert.deepEqual(fs.readdirSync(path.dirname(file)), ['sslcert.json'])
})

test('a file of bindings behind a symbolic link is written where it is, and who could read it still can', (t) => {
  const { file, pair } = bindingsFile(t)
  const real = path.join(path.dirname(file), 'real.json')
  fs.writeFileSync(real, kEmpty)
  fs.chmodSync(real, 0o664)
  fs.symlinkSync(real, file)
  bindings.addBinding('*:8443', pair)
  assert.ok(fs.lstatSync(file).isSymbolicLink())
  assert.match(fs.readFileSync(real, 'utf8'), /"\*:8443"/)
  assert.equal(fs.statSync(real).mode & 0o777, 0o644)
  bindings.deleteBinding('*:8443')
  assert.deepEqual(bindings.listBindings(), [])
  assert.ok(fs.lstatSync(file).isSymbolicLink())
})

test('a link to a file of bindings that another user has made is followed to files of that user only', { skip: kSkipUser }, (t) => {
  const { file, pair } = bindingsFile(t)
  const real = path.join(path.dirname(file), 'real.json')
  fs.writeFileSync(real, kEmpty)
  fs.symlinkSync(real, file)
  fs.lchownSync(file, kNobody, kNobody)
  assert.throws(() => bindings.addBinding('*:8443', pair), { code: 'ERR_HTTPSYS_SSLCERT', message: /it is a symbolic link of user 65534 to a file of user 0/ })
  assert.equal(fs.readFileSync(real, 'utf8'), kEmpty)
  fs.chownSync(real, kNobody, kNobody)
  bindings.addBinding('*:8443', pair)
  assert.equal(fs.statSync(real).uid, kNobody)
})

test('root leaves a file of bindings to its owner, and others may not change it', { skip: kSkipUser }, (t) => {
  const { file, pair } = bindingsFile(t)
  fs.writeFileSync(file, kEmpty)
  fs.chownSync(file, kNobody, kNobody)
  bindings.addBinding('*:8443', pair)
  const { uid, gid } = fs.statSync(file)
  assert.deepEqual([uid, gid], [kNobody, kNobody])
  // Of a folder that several users may write, as /tmp is without its sticky bit.
  for (const folder of [path.dirname(file), path.dirname(path.dirname(file))]) fs.chmodSync(folder, 0o777)
  fs.chmodSync(file, 0o644)
  const program = `
    process.setgid(1); process.setuid(1)
    const { deleteBinding } = require(${JSON.stringify(require.resolve('@httpsys/core-native/ssl-certificates'))})
    try { deleteBinding('*:8443') } catch ({ code }) { console.log(code) }`
  assert.equal(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }), 'EACCES\n')
  assert.equal(fs.statSync(file).uid, kNobody)
})

test('a file of bindings that is no file is refused and not waited for', { skip: process.platform === 'win32' && 'no FIFO' }, (t) => {
  const { file, pair } = bindingsFile(t)
  execFileSync('mkfifo', [file])
  const program = `
    const { listBindings } = require(${JSON.stringify(require.resolve('@httpsys/core-native/ssl-certificates'))})
    try { listBindings() } catch ({ code }) { console.log(code) }`
  assert.equal(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8', timeout: 10_000 }), 'ERR_HTTPSYS_SSLCERT\n')
  assert.throws(() => bindings.addBinding('*:8443', pair), { code: 'ERR_HTTPSYS_SSLCERT' })
})

test('a file of bindings that is full takes no further one', (t) => {
  const { file, pair } = bindingsFile(t)
  const full = Array.from({ length: 1000 }, (_, i) => ({ endpoint: `h${i}.test:8443`, ...pair }))
  fs.writeFileSync(file, JSON.stringify({ version: 1, bindings: full }))
  assert.throws(() => bindings.addBinding('*:8443', pair), { code: 'ERR_HTTPSYS_SSLCERT', message: /it has 1000 bindings/ })
  assert.equal(bindings.listBindings().length, 1000)
})
