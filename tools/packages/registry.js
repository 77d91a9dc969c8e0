'use strict'

// A registry that has our tarballs only, and takes what is published, on its own port: npm chooses the platform's package as it does
// among published ones, by os, cpu and libc of its manifest.

const { execFileSync } = require('node:child_process')
const crypto = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { text } = require('node:stream/consumers')
const { manifest } = require('../lib/platform-package')
const { ask } = require('../lib/project')
const { kTargets } = require('../lib/targets')

/** Older than what a package manager refuses because it is new (Yarn 4). */
const kPublished = '2020-01-01T00:00:00.000Z'

/** @param {any} version with its `dist` @returns {any} what the registry says of a package that has this version only */
const packument = (version) => ({
  name: version.name,
  'dist-tags': { latest: version.version },
  time: { created: kPublished, modified: kPublished, [version.version]: kPublished },
  versions: { [version.version]: version }
})

/** @param {string} tarball @returns {any} the manifest that is in it */
function manifestOf (tarball) {
  const text = ask('tar', ['-xzOf', tarball, 'package/package.json'])
  if (text === null) throw new Error(`${tarball} has no package/package.json`)
  return JSON.parse(text)
}

/**
 * @param {Buffer} tarball @param {string} url of it
 * @returns {object} its part of a packument; Yarn 1 knows by `shasum` alone that the tarball in its cache is another one of that version
 */
const distOf = (tarball, url) => ({
  tarball: url,
  shasum: crypto.createHash('sha1').update(tarball).digest('hex'),
  integrity: `sha512-${crypto.createHash('sha512').update(tarball).digest('base64')}`
})

/** @param {string[]} tarballs @param {string} url @returns {Map<string, any>} what the registry says of each package */
function packuments (tarballs, url) {
  return new Map(tarballs.map((file) => {
    const own = manifestOf(file)
    return [own.name, packument({ ...own, dist: distOf(fs.readFileSync(file), `${url}/-/${path.basename(file)}`) })]
  }))
}

/** @param {any} own manifest @returns {Buffer} a tarball that has nothing else */
function emptyTarball (own) {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-registry-'))
  try {
    fs.mkdirSync(path.join(scratch, 'package'))
    fs.writeFileSync(path.join(scratch, 'package', 'package.json'), JSON.stringify(own))
    return execFileSync('tar', ['-cz', '-C', scratch, 'package'])
  } finally {
    fs.rmSync(scratch, { recursive: true })
  }
}

/**
 * Adds platforms that were not packed, without their addons: npm writes all of them into the lock file, and asks for the files of
 * those that fit only; Yarn 1 asks for all, and leaves out what does not fit later.
 *
 * @param {Map<string, any>} known what the registry says of each package @param {Map<string, Buffer>} files @param {string} url
 */
function addOtherPlatforms (known, files, url) {
  const core = known.get('@httpsys/core-native')
  const own = core.versions[core['dist-tags'].latest]
  for (const target of kTargets) {
    const other = /** @type {any} */ (manifest(target, own))
    if (known.has(other.name)) continue
    const content = emptyTarball(other)
    files.set(`${target.name}.tgz`, content)
    known.set(other.name, packument({ ...other, dist: distOf(content, `${url}/-/${target.name}.tgz`) }))
  }
}

/** @param {string[]} tarballs that it has from the beginning; others can be published @returns {Promise<{ url: string, close: () => void }>} */
async function startRegistry (tarballs) {
  let url = ''
  /** @type {Map<string, any>} */
  let known = new Map()
  const files = new Map(tarballs.map((file) => [path.basename(file), fs.readFileSync(file)]))
  // npm publish
  /** @param {any} published @returns {boolean} */
  const take = (published) => {
    const [attachment] = Object.entries(published._attachments)
    const [version] = Object.values(published.versions)
    const file = `${version.name.replace('@', '').replace('/', '-')}-${version.version}.tgz`
    files.set(file, Buffer.from(/** @type {any} */ (attachment[1]).data, 'base64'))
    version.dist.tarball = `${url}/-/${file}`
    known.set(version.name, packument(version))
    return true
  }
  // Part of every URL: what a package manager has kept of an earlier run, on the same port, is not what it is asked for now.
  const base = `/${crypto.randomUUID()}/`
  const server = http.createServer(async (req, res) => {
    if (req.method === 'PUT') return res.end(JSON.stringify({ ok: take(JSON.parse(await text(req))) }))
    const name = decodeURIComponent(/** @type {string} */ (req.url).slice(base.length))
    const tarball = name.startsWith('-/') ? files.get(name.slice(2)) : undefined
    if (tarball !== undefined) return res.end(tarball)
    const found = known.get(name)
    res.statusCode = found === undefined ? 404 : 200
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify(found ?? { error: 'not found' }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}${base.slice(0, -1)}`
  known = packuments(tarballs, url)
  if (known.has('@httpsys/core-native')) addOtherPlatforms(known, files, url)
  return {
    url,
    close: () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

module.exports = { manifestOf, startRegistry }
