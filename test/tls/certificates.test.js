'use strict'

// Goal: certificates come from where they are kept: options, a folder that is watched, bindings, or out of nothing.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const core = require('@httpsys/core-native')
const { https } = /** @type {any} */ (core)
const bindings = require('@httpsys/core-native/ssl-certificates')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { connect, localhost } = require('../helpers/tls')
const { until } = require('../helpers/waiting')

/** @param {import('node:test').TestContext} t */
function temporaryFolder (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-tls-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** @param {import('node:test').TestContext} t @param {any} options */
async function listen (t, options) {
  const port = await freePort()
  const server = core.createServer((req, res) => { res.end() })
  t.after(() => { server.closeAllConnections(); server.close() })
  server.listen(/** @type {any} */ (`https://*:${port}/`), options)
  await once(server, 'listening')
  return { server, port }
}

/** @param {import('node:test').TestContext} t @param {number} port */
async function listenOn (t, port) {
  const server = core.createServer()
  t.after(() => { server.closeAllConnections(); server.close() })
  server.listen(/** @type {any} */ (`https://*:${port}/`))
  await once(server, 'listening')
}

/** @param {number} port @param {string} servername */
async function certified (port, servername) {
  const socket = await connect(port, { servername, rejectUnauthorized: false })
  const { subject } = socket.getPeerCertificate()
  socket.destroy()
  return subject.CN
}

/** Waits for what a running server has at most a second to do. @param {number} port @param {string} servername @param {string} name */
function untilCertified (port, servername, name) {
  return until(async () => await certified(port, servername) === name, `the certificate of ${name} for ${servername}`)
}

/** @param {import('node:test').TestContext} t @param {Record<string, string>} variables */
function environment (t, variables) {
  const before = { ...process.env }
  Object.assign(process.env, variables)
  t.after(() => {
    for (const name of Object.keys(variables)) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  })
}

/** @param {import('node:test').TestContext} t */
function bindingsOf (t) {
  const folder = temporaryFolder(t)
  environment(t, { HTTPSYS_SSLCERT: path.join(folder, 'config', 'sslcert.json') })
  const bin = path.join(__dirname, '..', '..', 'packages', 'cli', 'bin', 'httpsys.js')
  const cli = (/** @type {string[]} */ ...args) => execFileSync(process.execPath, [bin, ...args], { encoding: 'utf8' })
  const write = (/** @type {string} */ name, file = name) => {
    const { cert, key } = certificate(name)
    fs.writeFileSync(path.join(folder, `${file}.crt`), cert)
    fs.writeFileSync(path.join(folder, `${file}.key`), key)
  }
  const add = (/** @type {string} */ endpoint, /** @type {string} */ name) => {
    write(name)
    cli('add', 'sslcert', endpoint, '--cert', path.join(folder, `${name}.crt`), '--key', path.join(folder, `${name}.key`))
  }
  return { add, remove: (/** @type {string} */ endpoint) => cli('delete', 'sslcert', endpoint), write, file: path.join(folder, 'config', 'sslcert.json') }
}

test('what is bound, deleted and bound again counts for new connections of a running server', { timeout: 30_000 }, async (t) => {
  const { add, remove, write } = bindingsOf(t)
  const port = await freePort()
  add(`*:${port}`, 'first.test')
  const server = core.createServer((req, res) => { res.end('still') })
  t.after(() => { server.closeAllConnections(); server.close() })
  server.listen(/** @type {any} */ (`https://*:${port}/`))
  await once(server, 'listening')
  const open = await connect(port, { rejectUnauthorized: false })
  assert.equal(await certified(port, 'a.test'), 'first.test')

  add(`host.test:${port}`, 'host.test')
  await untilCertified(port, 'host.test', 'host.test')
  assert.equal(await certified(port, 'a.test'), 'first.test')

  const warned = once(process, 'warning')
  remove(`host.test:${port}`)
  await untilCertified(port, 'host.test', 'first.test')
  remove(`*:${port}`)
  assert.equal((await warned)[0].code, 'ERR_HTTPSYS_TLS_CERTIFICATE')
  assert.equal(await certified(port, 'a.test'), 'first.test')

  add(`*:${port}`, 'second.test')
  await untilCertified(port, 'a.test', 'second.test')

  write('third.test', 'second.test')
  await untilCertified(port, 'a.test', 'third.test')

  open.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  const [answer] = await once(open, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 200 /)
})

test('bindings act on an https.Server and on the port of an adapter, too', { timeout: 30_000 }, async (t) => {
  const { add } = bindingsOf(t)
  const { createAdapter } = require('@httpsys/express-adapter')
  for (const create of [
    (/** @type {number} */ port) => https.createServer({ minVersion: 'TLSv1.3' }).listen(`https://*:${port}/`),
    (/** @type {number} */ port) => createAdapter(() => {}, { minVersion: 'TLSv1.3' }).listen(port),
    (/** @type {number} */ port) => createAdapter(() => {}).listen(port, { minVersion: 'TLSv1.3' })
  ]) {
    const port = await freePort()
    add(`*:${port}`, 'first.test')
    const server = create(port)
    t.after(() => { server.closeAllConnections(); server.close() })
    if (!server.listening) await once(server, 'listening')
    assert.equal(await certified(port, 'a.test'), 'first.test')
    add(`a.test:${port}`, 'second.test')
    await untilCertified(port, 'a.test', 'second.test')
    await assert.rejects(connect(port, { maxVersion: 'TLSv1.2', rejectUnauthorized: false }))
  }
})

test('bindings and folders leave the context alone that the application has set, also for the next listen()', { timeout: 30_000 }, async (t) => {
  const { add, write } = bindingsOf(t)
  const port = await freePort()
  add(`*:${port}`, 'first.test')
  const server = https.createServer({ http2: false })
  t.after(() => { server.closeAllConnections(); server.close() })
  for (const round of [1, 2]) {
    server.listen(`https://*:${port}/`)
    await once(server, 'listening')
    if (round === 1) {
      assert.equal(await certified(port, 'a.test'), 'first.test')
      server.setSecureContext(certificate('own.test'))
    }
    assert.equal(await certified(port, 'a.test'), 'own.test')
    // The binding of a host shows when both have been read.
    write(`second${round}.test`, 'first.test')
    if (round === 1) {
      add(`host.test:${port}`, 'host.test')
      await untilCertified(port, 'host.test', 'host.test')
    }
    assert.equal(await certified(port, 'a.test'), 'own.test')
    server.close()
    await once(server, 'close')
  }

  const folder = temporaryFolder(t)
  const put = (/** @type {string} */ name, /** @type {string} */ subject) => {
    const { cert, key } = certificate(subject)
    fs.writeFileSync(path.join(folder, `${name}.crt`), cert)
    fs.writeFileSync(path.join(folder, `${name}.key`), key)
  }
  put('default', 'first.test')
  const followed = https.createServer({ certificateDirectory: folder, http2: false })
  t.after(() => { followed.closeAllConnections(); followed.close() })
  followed.listen(`https://*:${port}/`)
  await once(followed, 'listening')
  assert.equal(await certified(port, 'a.test'), 'first.test')
  followed.setSecureContext(certificate('own.test'))
  put('default', 'second.test')
  put('host.test', 'host.test')
  await untilCertified(port, 'host.test', 'host.test')
  assert.equal(await certified(port, 'a.test'), 'own.test')
})

test('a file of bindings that cannot be read changes nothing, and a warning tells', { timeout: 30_000 }, async (t) => {
  const { add, file } = bindingsOf(t)
  const port = await freePort()
  add(`*:${port}`, 'first.test')
  await listenOn(t, port)
  const warned = once(process, 'warning')
  const before = fs.readFileSync(file)
  fs.writeFileSync(file, '{')
  assert.equal((await warned)[0].code, 'ERR_HTTPSYS_SSLCERT')
  assert.equal(await certified(port, 'a.test'), 'first.test')
  fs.writeFileSync(file, before)
  add(`a.test:${port}`, 'second.test')
  await untilCertified(port, 'a.test', 'second.test')
})

test('addPrefix() finds the certificate that is bound to the new host, also on a server that has none', { timeout: 30_000 }, async (t) => {
  const { add } = bindingsOf(t)
  const port = await freePort()
  add(`a.test:${port}`, 'a.test')
  add(`b.test:${port}`, 'b.test')
  const server = core.createServer()
  t.after(() => { server.closeAllConnections(); server.close() })
  server.listen(/** @type {any} */ (`http://127.0.0.1:${await freePort()}/`))
  await once(server, 'listening')
  await server.addPrefix(`https://a.test:${port}/`)
  assert.equal(await certified(port, 'a.test'), 'a.test')
  await server.addPrefix(`https://b.test:${port}/`)
  assert.equal(await certified(port, 'b.test'), 'b.test')
})

test('devCert makes a certificate for localhost, and the next server has the same', async (t) => {
  environment(t, { XDG_CONFIG_HOME: temporaryFolder(t) })
  const fingerprints = []
  for (let i = 0; i < 2; i++) {
    const { port } = await listen(t, { devCert: true })
    const socket = await connect(port, { rejectUnauthorized: false })
    const peer = socket.getPeerX509Certificate()
    fingerprints.push(peer?.fingerprint256)
    assert.equal(peer?.checkHost('localhost'), 'localhost')
    assert.equal(peer?.checkIP('127.0.0.1'), '127.0.0.1')
    assert.equal(peer?.checkIP('::1'), '::1')
    assert.ok(peer?.verify(peer.publicKey))
    // Whoever trusts it has no complaint.
    const trusting = await connect(port, { ca: peer?.toString() })
    assert.ok(trusting.authorized)
    trusting.destroy()
    socket.destroy()
  }
  assert.equal(fingerprints[0], fingerprints[1])
  const file = path.join(process.env.XDG_CONFIG_HOME ?? '', 'httpsys', 'dev-certificate.pem')
  assert.equal(fs.statSync(file).mode & 0o777, 0o600)
})

test('certificates of hosts and of prefixes stand beside the server\'s own', async (t) => {
  const { port } = await listen(t, {
    ...localhost(),
    certificates: [{ host: '*.many.test', ...certificate('many.test') }, { prefix: 'https://one.test:8443/shop/', ...certificate('one.test') }]
  })
  assert.equal(await certified(port, 'a.many.test'), 'many.test')
  assert.equal(await certified(port, 'one.test'), 'one.test')
  assert.equal(await certified(port, 'localhost'), 'localhost')
})

test('a folder of certificates is followed, and what is wrong in it changes nothing', async (t) => {
  const folder = temporaryFolder(t)
  const write = (/** @type {string} */ name, /** @type {{ key: string, cert: string }} */ { key, cert }) => {
    fs.writeFileSync(path.join(folder, `${name}.key`), key)
    fs.writeFileSync(path.join(folder, `${name}.crt`), cert)
  }
  const pem = (/** @type {{ key: string, cert: string }} */ { key, cert }) => key + cert
  write('default', certificate('first.test'))
  fs.writeFileSync(path.join(folder, '_.wild.test.pem'), pem(certificate('wild.test')))
  const { port } = await listen(t, { certificateDirectory: folder })
  const old = await connect(port, { rejectUnauthorized: false })
  assert.equal(await certified(port, 'x.test'), 'first.test')
  assert.equal(await certified(port, 'a.wild.test'), 'wild.test')

  fs.writeFileSync(path.join(folder, 'new.test.pem'), pem(certificate('new.test')))
  write('default', certificate('second.test'))
  await untilCertified(port, 'new.test', 'new.test')
  await untilCertified(port, 'x.test', 'second.test')

  const warned = once(process, 'warning')
  fs.writeFileSync(path.join(folder, 'broken.test.pem'), 'none')
  assert.equal((await warned)[0].code, 'ERR_HTTPSYS_SSLCERT')
  assert.equal(await certified(port, 'new.test'), 'new.test')
  // Connections outlive it all.
  old.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  assert.match(String((await once(old, 'data'))[0]), /^HTTP\/1\.1 200 /)
  old.destroy()
})

test('files of a watched folder that are emptied or lose their other half change nothing, and a warning tells', { timeout: 30_000 }, async (t) => {
  const folder = temporaryFolder(t)
  const put = (/** @type {string} */ name, /** @type {string} */ text) => fs.writeFileSync(path.join(folder, name), text)
  const warning = async (/** @type {RegExp} */ message) => {
    const [{ code, message: text }] = await once(process, 'warning')
    assert.equal(code, 'ERR_HTTPSYS_SSLCERT')
    assert.match(text, message)
  }
  const [a, b] = [certificate('a.test'), certificate('b.test')]
  put('a.test.pem', a.key + a.cert)
  const { port } = await listen(t, { certificateDirectory: folder })
  put('b.test.crt', b.cert)
  put('b.test.key', b.key)
  await until(async () => await certified(port, 'b.test').catch(() => 'none') === 'b.test', 'the certificate of b.test')

  put('a.test.pem', '')
  await warning(/a\.test\.pem is empty/)
  assert.equal(await certified(port, 'a.test'), 'a.test')
  put('a.test.pem', a.key + a.cert)

  fs.rmSync(path.join(folder, 'b.test.crt'))
  await warning(/b\.test\.key .*there is no b\.test\.crt beside it/)
  assert.equal(await certified(port, 'b.test'), 'b.test')

  // Both are gone: the host is, too.
  fs.rmSync(path.join(folder, 'b.test.key'))
  await until(async () => await certified(port, 'b.test').catch(() => 'none') === 'none', 'the end of b.test')
  fs.rmSync(path.join(folder, 'a.test.pem'))
  await warning(/it has none/)
  assert.equal(await certified(port, 'a.test'), 'a.test')

  // A key that comes first is half of a pair, until its certificate is there.
  put('a.test.pem', a.key + a.cert)
  put('c.test.key', certificate('c.test').key)
  await warning(/there is no c\.test\.crt beside it/)
  put('c.test.crt', certificate('c.test').cert)
  await until(async () => await certified(port, 'c.test').catch(() => 'none') === 'c.test', 'the certificate of c.test')
})

test('a host leaves with its files, and an element of certificates counts more than the folder, also behind a change', { timeout: 30_000 }, async (t) => {
  const folder = temporaryFolder(t)
  const put = (/** @type {string} */ host, /** @type {string} */ subject) => {
    const { key, cert } = certificate(subject)
    fs.writeFileSync(path.join(folder, `${host}.pem`), key + cert)
  }
  put('default', 'first.test')
  put('gone.test', 'gone.test')
  put('named.test', 'folder.test')
  const { port } = await listen(t, { certificateDirectory: folder, certificates: [{ host: 'named.test', ...certificate('named.test') }] })
  assert.equal(await certified(port, 'gone.test'), 'gone.test')
  assert.equal(await certified(port, 'named.test'), 'named.test')
  fs.rmSync(path.join(folder, 'gone.test.pem'))
  await untilCertified(port, 'gone.test', 'first.test')
  assert.equal(await certified(port, 'named.test'), 'named.test')
})

test('a key beside the file that has both is no half', async (t) => {
  const folder = temporaryFolder(t)
  const { key, cert } = certificate('a.test')
  fs.writeFileSync(path.join(folder, 'a.test.pem'), key + cert)
  fs.writeFileSync(path.join(folder, 'a.test.key'), key)
  const { port } = await listen(t, { certificateDirectory: folder })
  assert.equal(await certified(port, 'a.test'), 'a.test')
})

/** @param {import('node:events').EventEmitter} server @returns {Promise<void>} rejects with the error that listen() emits */
async function heard (server) {
  await once(server, 'listening')
}

test('a folder whose files are empty or halves is refused', async (t) => {
  const { key, cert } = certificate('a.test')
  for (const files of [{ 'a.test.pem': '' }, { 'a.test.crt': '', 'a.test.key': '' }, { 'a.test.crt': cert, 'a.test.key': '' }, { 'a.test.key': key }]) {
    const folder = temporaryFolder(t)
    for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text)
    await assert.rejects(heard(core.createServer().listen(/** @type {any} */ ('https://*:1/'), /** @type {any} */ ({ certificateDirectory: folder }))),
      { code: 'ERR_HTTPSYS_SSLCERT', message: /is empty|there is no a\.test\.crt beside it/ })
  }
})

test('a bound file that is emptied changes nothing, and a warning names it', { timeout: 30_000 }, async (t) => {
  const { add, file } = bindingsOf(t)
  const folder = path.dirname(path.dirname(file))
  const port = await freePort()
  add(`*:${port}`, 'first.test')
  await listenOn(t, port)
  const warned = once(process, 'warning')
  fs.writeFileSync(path.join(folder, 'first.test.crt'), '')
  const [warning] = await warned
  assert.equal(warning.code, 'ERR_HTTPSYS_SSLCERT')
  assert.equal(warning.file, path.join(folder, 'first.test.crt'))
  assert.match(warning.message, /it is empty/)
  assert.equal(await certified(port, 'a.test'), 'first.test')
})

test('an element of certificates without a certificate, its key or its host is refused', async () => {
  const { key, cert } = certificate('a.test')
  const given = (/** @type {any} */ element) =>
    core.createServer().listen(/** @type {any} */ ('https://*:1/'), /** @type {any} */ ({ certificates: [{ host: 'ok.test', key, cert }, element] }))
  for (const element of [{ host: 'b.test', key }, { host: 'b.test', cert }, { host: 'b.test' }, { host: 'b.test', key: '', cert: '' }, { prefix: 'https://b.test:1/', key: Buffer.alloc(0), cert }]) {
    const [error] = await once(given(element), 'error')
    assert.equal(error.code, 'ERR_HTTPSYS_TLS_CERTIFICATE')
    assert.equal(error.host, 'b.test')
    assert.match(error.message, /^"b\.test" needs a certificate: there is /)
  }
  assert.throws(() => given({ key, cert }), { code: 'ERR_INVALID_ARG_TYPE', message: 'An element of "certificates" needs "host" or "prefix"' })
})

test('listen() takes an empty key and certificate for none, and refuses one without the other', async (t) => {
  environment(t, { HTTPSYS_SSLCERT: path.join(temporaryFolder(t), 'none.json') })
  const { createAdapter } = require('@httpsys/express-adapter')
  const { key, cert } = certificate('a.test')
  const refused = { code: 'ERR_HTTPSYS_TLS_CERTIFICATE', message: /needs a certificate: (none was given|there is a )/ }
  for (const options of [{ key: '', cert: '' }, { key: [], cert: [] }, { key }, { cert }, { key, cert: '' }]) {
    await assert.rejects(heard(core.createServer().listen(/** @type {any} */ ('https://*:1/'), /** @type {any} */ (options))), refused)
    await assert.rejects(heard(https.createServer(options).listen('https://*:1/')), refused)
    await assert.rejects(heard(createAdapter(() => {}, options).listen(0)), refused)
    await assert.rejects(heard(createAdapter(() => {}).listen('/nowhere/a.sock', options)), refused)
  }
  // Node's constructor has errors of its own for these.
  for (const options of [{ key: Buffer.alloc(0), cert: Buffer.alloc(0) }, { pfx: '' }]) {
    await assert.rejects(heard(core.createServer().listen(/** @type {any} */ ('https://*:1/'), /** @type {any} */ (options))), refused)
  }
})

test('a folder without certificates is refused', async (t) => {
  await assert.rejects(heard(core.createServer().listen(/** @type {any} */ ('https://*:1/'), /** @type {any} */ ({ certificateDirectory: temporaryFolder(t) }))),
    { code: 'ERR_HTTPSYS_SSLCERT' })
})

test('a prefix finds the certificate that is bound to its host and port', async (t) => {
  const folder = temporaryFolder(t)
  environment(t, { HTTPSYS_SSLCERT: path.join(folder, 'sslcert.json') })
  const { key, cert } = certificate('bound.test')
  fs.writeFileSync(path.join(folder, 'key'), key)
  fs.writeFileSync(path.join(folder, 'cert'), cert)
  const port = await freePort()
  const cli = (/** @type {string[]} */ ...args) => execFileSync(process.execPath, [path.join(__dirname, '..', '..', 'packages', 'cli', 'bin', 'httpsys.js'), ...args], { encoding: 'utf8', env: process.env })
  assert.match(cli('show', 'sslcert'), /^No certificate is bound/)
  cli('add', 'sslcert', `*:${port}`, '--cert', path.join(folder, 'cert'), '--key', path.join(folder, 'key'))
  assert.match(cli('show', 'sslcert'), new RegExp(`\\*:${port} +CN=bound\\.test`))
  assert.deepEqual(JSON.parse(cli('show', 'sslcert', '--json')).bindings, [{ endpoint: `*:${port}`, cert: path.join(folder, 'cert'), key: path.join(folder, 'key') }])
  const server = core.createServer((req, res) => { res.end() })
  server.listen(/** @type {any} */ (`https://127.0.0.1:${port}/`))
  await once(server, 'listening')
  assert.equal(await certified(port, 'x.test'), 'bound.test')
  const other = certificate('other.test')
  fs.writeFileSync(path.join(folder, 'other-key'), other.key)
  fs.writeFileSync(path.join(folder, 'other-cert'), other.cert)
  cli('update', 'sslcert', `*:${port}`, '--cert', path.join(folder, 'other-cert'), '--key', path.join(folder, 'other-key'))
  await until(async () => await certified(port, 'x.test') === 'other.test', 'the running server has the other certificate')
  server.close()
  cli('delete', 'sslcert', `*:${port}`)
  assert.deepEqual(bindings.listBindings(), [])
  await assert.rejects(heard(core.createServer().listen(/** @type {any} */ (`https://127.0.0.1:${port}/`))), { code: 'ERR_HTTPSYS_TLS_CERTIFICATE' })
})

test('bindings of files that are none are refused, and so is a file of bindings that is broken', (t) => {
  const folder = temporaryFolder(t)
  const file = path.join(folder, 'sslcert.json')
  environment(t, { HTTPSYS_SSLCERT: file })
  assert.throws(() => bindings.addBinding('*:8443', { cert: '/nowhere', key: '/nowhere' }), { code: 'ERR_HTTPSYS_SSLCERT' })
  const { key, cert } = certificate('a.test')
  const [keyFile, certFile, empty] = ['key', 'cert', 'empty'].map((name) => path.join(folder, name))
  fs.writeFileSync(keyFile, key)
  fs.writeFileSync(certFile, cert)
  fs.writeFileSync(empty, '')
  for (const pair of [{ cert: empty, key: empty }, { cert: certFile, key: empty }, { cert: empty, key: keyFile }]) {
    assert.throws(() => bindings.addBinding('*:8443', pair), { code: 'ERR_HTTPSYS_SSLCERT', file: empty, message: /it is empty\. Nothing was bound$/ })
  }
  assert.equal(fs.existsSync(file), false)
  assert.throws(() => bindings.addBinding('no port', { cert: 'a', key: 'b' }), { code: 'ERR_INVALID_ARG_VALUE' })
  assert.throws(() => bindings.deleteBinding('*:1'), { code: 'ENOENT' })
  for (const text of ['{', '{"version":2,"bindings":[]}', '{"version":1,"bindings":[{"endpoint":"*:1"}]}']) {
    fs.writeFileSync(file, text)
    assert.throws(() => bindings.listBindings(), { code: 'ERR_HTTPSYS_SSLCERT' })
  }
})
