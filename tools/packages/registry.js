'use strict'

// A registry that has our tarballs only, on a port of its own: npm chooses the platform's package as it does among published
// ones, by os, cpu and libc of its manifest.

const crypto = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { ask } = require('../lib/project')

/** @param {string} tarball @returns {any} the manifest that is in it */
function manifestOf (tarball) {
  const text = ask('tar', ['-xzOf', tarball, 'package/package.json'])
  if (text === null) throw new Error(`${tarball} has no package/package.json`)
  return JSON.parse(text)
}

/** @param {string[]} tarballs @param {() => string} url @returns {Map<string, any>} what the registry says of each package */
function packuments (tarballs, url) {
  return new Map(tarballs.map((file) => {
    const manifest = manifestOf(file)
    const integrity = `sha512-${crypto.createHash('sha512').update(fs.readFileSync(file)).digest('base64')}`
    const version = { ...manifest, dist: { tarball: `${url()}/-/${path.basename(file)}`, integrity } }
    return [manifest.name, { name: manifest.name, 'dist-tags': { latest: manifest.version }, versions: { [manifest.version]: version } }]
  }))
}

/** @param {string[]} tarballs @returns {Promise<{ url: string, close: () => void }>} */
async function startRegistry (tarballs) {
  let url = ''
  /** @type {Map<string, any>} */
  let known = new Map()
  const server = http.createServer((req, res) => {
    const name = decodeURIComponent(/** @type {string} */ (req.url).slice(1))
    const tarball = name.startsWith('-/') ? tarballs.find((file) => path.basename(file) === name.slice(2)) : undefined
    if (tarball !== undefined) return res.end(fs.readFileSync(tarball))
    const packument = known.get(name)
    res.statusCode = packument === undefined ? 404 : 200
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify(packument ?? { error: 'not found' }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`
  known = packuments(tarballs, () => url)
  return {
    url,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

module.exports = { manifestOf, startRegistry }
