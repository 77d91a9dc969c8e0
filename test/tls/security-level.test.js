'use strict'

// Servers of one port whose `ciphers` differ in `@SECLEVEL` alone. The level forbids versions of TLS and weak keys of client
// certificates, so that it counts wherever one server makes the handshake and another one gets the request.

const assert = require('node:assert/strict')
const tls = require('node:tls')
const { before, describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { kSkip, member } = require('../sharing/kit')

// Ends what hangs.
const limits = { timeout: 60_000 }
const kHosts = { loose: 'loose.level.test', strict: 'strict.level.test' }

const kOrders = /** @type {const} */ ([['loose', 'strict'], ['strict', 'loose']])

/** @type {{ key: string, cert: string }} */
let own
/** @type {string} */
let ca
/** @type {{ key: string, cert: string }} */
let weak

before(() => {
  own = certificate('*.level.test')
  ca = certificate('authority of levels', { isCa: true }).cert
  // 80 bits of security: enough for level 1, not for level 2.
  weak = certificate('weak client', { issuer: 'authority of levels', kind: 'rsa', bits: 1024 })
})

/**
 * What a client gets that names one host in its hello and asks for both.
 *
 * @param {number} port @param {string} servername @param {tls.ConnectionOptions} options
 * @returns {Promise<{ status: number, authorized?: boolean, protocol?: string }[] | null>} [loose, strict]; null: the client is sent away
 */
async function seenBy (port, servername, options) {
  const secure = { ciphers: 'DEFAULT@SECLEVEL=0', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...options }
  const socket = tls.connect({ port, host: '127.0.0.1', servername, ...secure })
  let text = ''
  socket.on('data', (piece) => { text += piece.toString('latin1') }).on('error', () => {})
  const [first, last] = [kHosts.loose, kHosts.strict].map((host) => `GET /${host.split('.')[0]}/facts HTTP/1.1\r\nHost: ${host}\r\n`)
  socket.write(`${first}\r\n${last}Connection: close\r\n\r\n`)
  // once() would reject with what sends a client away.
  await new Promise((resolve) => socket.on('close', resolve))
  if (text === '') return null
  return text.split(/(?=HTTP\/1\.1 \d{3} )/).map((answer) => {
    const status = Number(answer.slice(9, 12))
    if (status !== 200) return { status }
    const { authorized, protocol } = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1))
    return { status, authorized, protocol }
  })
}

describe('The security level', { skip: kSkip }, () => {
  for (const count of [1, 2]) {
    for (const order of kOrders) {
      const where = `${count === 1 ? 'in one process' : 'in two processes'}, ${order[0]} first`

      /** @param {import('node:test').TestContext} t @param {Record<'loose' | 'strict', number>} levels @param {any} options */
      const serve = async (t, levels, options) => {
        const port = await freePort()
        const members = [await member(t)]
        members.push(count === 1 ? members[0] : await member(t))
        for (const [i, name] of order.entries()) {
          const on = [`https://${kHosts[name]}:${port}/${name}/`, { ...own, ...options, ciphers: `DEFAULT@SECLEVEL=${levels[name]}` }]
          await members[i].tell('listen', { name, isApp: true, on })
        }
        return port
      }

      it(`keeps TLS 1.0 from the server that refuses it, ${where}`, limits, async (t) => {
        const port = await serve(t, { loose: 0, strict: 1 }, { minVersion: 'TLSv1' })
        const old = /** @type {const} */ ({ minVersion: 'TLSv1', maxVersion: 'TLSv1' })
        assert.equal(await seenBy(port, kHosts.strict, old), null)
        assert.deepEqual(await seenBy(port, kHosts.loose, old), [{ status: 200, authorized: false, protocol: 'TLSv1' }, { status: 421 }])
        const both = ['TLSv1.3', 'TLSv1.3'].map((protocol) => ({ status: 200, authorized: false, protocol }))
        assert.deepEqual(await seenBy(port, kHosts.loose, {}), both)
      })

      it(`keeps a certificate with a weak key from the server that refuses it, ${where}`, limits, async (t) => {
        const options = { ca, requestCert: true }
        const port = await serve(t, { loose: 1, strict: 2 }, options)
        assert.equal(await seenBy(port, kHosts.strict, weak), null)
        assert.deepEqual(await seenBy(port, kHosts.loose, weak), [{ status: 200, authorized: true, protocol: 'TLSv1.3' }, { status: 421 }])
        // Of the same level it is as good for the other server.
        const even = await serve(t, { loose: 1, strict: 1 }, options)
        assert.deepEqual((await seenBy(even, kHosts.loose, weak))?.map(({ status, authorized }) => [status, authorized]), [[200, true], [200, true]])
      })
    }
  }
})
