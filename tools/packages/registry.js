'use strict'

// A registry that has our tarballs only, and takes what is published, on a port of its own: npm chooses the platform's package as it does among published
// ones, by os, cpu and libc of its manifest.

const crypto = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { text } = require('node:stream/consumers')
const { manifest } = require('../lib/platform-package')
const { ask } = require('../lib/project')
const { kTargets } = require('../lib/targets')

/** @param {string} tarball @returns {any} the manifest that is in it */
function manifestOf (tarball) {
  const text = ask('tar', ['-xzOf', tarball, 'package/package.json'])
  if (text === null) throw new Error(`${tarball} has no package/package.json`)
  return JSON.parse(text)
}

/** @param {string[]} tarballs @param {string} url @returns {Map<string, any>} what the registry says of each package */
function packuments (tarballs, url) {
  return new Map(tarballs.map((file) => {
    const own = manifestOf(file)
    const integrity = `sha512-${crypto.createHash('sha512').update(fs.readFileSync(file)).digest('base64')}`
    const version = { ...own, dist: { tarball: `${url}/-/${path.basename(file)}`, integrity } }
    return [own.name, { name: own.name, 'dist-tags': { latest: own.version }, versions: { [own.version]: version } }]
  }))
}

/**
 * Of platforms that were not packed: npm writes all of them into the lock file, and asks for the files of those that fit only.
 *
 * @param {Map<string, any>} known @param {string} url @returns {Map<string, any>}
 */
function withOtherPlatforms (known, url) {
  const core = known.get('@httpsys/core-native')
  const { version: latest, ...rest } = core.versions[core['dist-tags'].latest]
  const all = new Map(known)
  for (const target of kTargets) {
    const other = /** @type {any} */ (manifest(target, { version: latest, ...rest }))
    if (known.has(other.name)) continue
    const version = { ...other, dist: { tarball: `${url}/-/${target.name}.tgz`, shasum: '0'.repeat(40) } }
    all.set(other.name, { name: other.name, 'dist-tags': { latest }, versions: { [latest]: version } })
  }
  return all
}

/** @param {string[]} tarballs that it has from the beginning; others can be published @returns {Promise<{ url: string, close: () => void }>} */
async function startRegistry (tarballs) {
  let url = ''
  /** @type {Map<string, any>} */
  let known = new Map()
  const files = new Map(tarballs.map((file) => [path.basename(file), fs.readFileSync(file)]))
  // npm publish
  /** @param {any} packument @returns {boolean} */
  const take = (packument) => {
    const [attachment] = Object.entries(packument._attachments)
    const [version] = Object.values(packument.versions)
    const file = `${version.name.replace('@', '').replace('/', '-')}-${version.version}.tgz`
    files.set(file, Buffer.from(/** @type {any} */ (attachment[1]).data, 'base64'))
    version.dist.tarball = `${url}/-/${file}`
    known.set(version.name, { name: version.name, 'dist-tags': { latest: version.version }, versions: { [version.version]: version } })
    return true
  }
  const server = http.createServer(async (req, res) => {
    if (req.method === 'PUT') return res.end(JSON.stringify({ ok: take(JSON.parse(await text(req))) }))
    const name = decodeURIComponent(/** @type {string} */ (req.url).slice(1))
    const tarball = name.startsWith('-/') ? files.get(name.slice(2)) : undefined
    if (tarball !== undefined) return res.end(tarball)
    const packument = known.get(name)
    res.statusCode = packument === undefined ? 404 : 200
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify(packument ?? { error: 'not found' }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`
  known = packuments(tarballs, url)
  if (known.has('@httpsys/core-native')) known = withOtherPlatforms(known, url)
  return {
    url,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

module.exports = { manifestOf, startRegistry }
