'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { portsInUse, readServiceState } = require('../lib/backend/service-state')

const registration = { prefix: 'http://*:8080/', queue: '', requests: 1, queued: 0, queueLimit: 1000, refused: 0 }
const member = {
  pid: 12,
  id: '00112233aabbccdd',
  thread: 0,
  program: 'server.js',
  protocol: 1,
  registrations: [registration],
  connections: 12,
  handedOver: 5,
  received: 7,
  cacheAnswers: 3
}
const state = { port: 8080, protocol: 1, coordinator: 12, members: [member], sockets: ['[::]:8080'] }

/** @param {string} text */
function procFile (t, text) {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-proc-')), 'unix')
  t.after(() => fs.rmSync(path.dirname(file), { recursive: true }))
  fs.writeFileSync(file, `Num       RefCount Protocol Flags    Type St Inode Path\n${text}`)
  return file
}

const row = (name) => `00000000643d9f5c: 00000003 00000000 00010000 0001 01 12928146${name === '' ? '' : ` ${name}`}\n`

test('ports in use are read from the names of sockets, each once, in order', (t) => {
  const names = ['@httpsys/1/1000/9000', '', '@httpsys/1/1000/80', '@httpsys/1/1000/9000', '/run/user.sock', '@httpsys/1/1000/81@@@@', '@httpsys/1/1000/m/00112233aabbccdd']
  assert.deepEqual(portsInUse({ file: procFile(t, names.map(row).join('')), uid: 1000 }), { own: [80, 81, 9000], others: [] })
})

test('ports of other users and of other protocols are told apart', (t) => {
  const names = ['@httpsys/1/1000/80', '@httpsys/1/1001/81', '@httpsys/2/1000/82', '@httpsys/1/1001/81']
  assert.deepEqual(portsInUse({ file: procFile(t, names.map(row).join('')), uid: 1000 }),
    { own: [80], others: [{ port: 81, uid: 1001 }, { port: 82, uid: 1000 }] })
})

test('names that only resemble a port\'s are passed over', (t) => {
  const names = ['@httpsys/1/1000/0', '@httpsys/1/1000/65536', '@httpsys/1/1000/080', '@httpsys/1/1000/80x', 'x@httpsys/1/1000/80',
    '@httpsys/1/1000/80 ', '@httpsys/1//80', '/tmp/@httpsys/1/1000/80', '@httpsys/1/1000/80/1', '@httpsys/1/99999999999/80', '@httpsys/1/-1/80']
  assert.deepEqual(portsInUse({ file: procFile(t, names.map(row).join('')), uid: 1000 }), { own: [], others: [] })
})

test('of a very long list only the beginning is read', (t) => {
  const filler = row('/x').repeat(Math.ceil(16 * 1024 * 1024 / row('/x').length))
  assert.deepEqual(portsInUse({ file: procFile(t, row('@httpsys/1/1/80') + filler + row('@httpsys/1/1/81')), uid: 1 }).own, [80])
})

test('no character of a state commands the terminal', async () => {
  const program = 'a\u001b[2J\u0007\u009b\u202e\u2066\n\ud800b'
  const read = await readServiceState(8080, { ask: (port, answer) => answer(0, { ...state, members: [{ ...member, program }] }) })
  assert.equal(read.members[0].program, 'a\ufffd[2J' + '\ufffd'.repeat(6) + 'b')
})

test('an answer that the addon cannot read is an error', async () => {
  await assert.rejects(readServiceState(8080, { ask: (port, answer) => answer(-os.constants.errno.EPROTO) }),
    { code: 'ERR_HTTPSYS_SERVICE_STATE', port: 8080, message: 'Port 8080 did not tell its state: the answer is not the state of this port' })
})

test('the members of a port are asked', async () => {
  assert.deepEqual(await readServiceState(8080, { ask: (port, answer) => answer(0, { ...state, port }) }), state)
})

test('an error of the system keeps its code, whichever sign it has', async () => {
  for (const errno of [os.constants.errno.ECONNREFUSED, -os.constants.errno.ECONNREFUSED]) {
    await assert.rejects(readServiceState(8080, { ask: (port, answer) => answer(errno) }),
      { code: 'ECONNREFUSED', errno: -os.constants.errno.ECONNREFUSED, port: 8080 })
  }
})

test('a member that does not answer is given up', async () => {
  await assert.rejects(readServiceState(8080, { ask: () => {}, timeoutMs: 20 }),
    { code: 'ERR_HTTPSYS_SERVICE_STATE', message: 'Port 8080 did not tell its state: no answer within 20 ms' })
})
