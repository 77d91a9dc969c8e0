'use strict'

// Roots that stand for the images that Dockerfiles of the examples start from: the same C library, the same line of Node, a shell and
// npm where the image has them. The rest of an image is not there.

const fs = require('node:fs')
const path = require('node:path')
const { kMuslNode, kNpm, distrolessRoot } = require('./roots')

/** @typedef {import('./dockerfile').Image} Image */
/** @typedef {import('./roots').Root} Root */

/** Where distroless has Node, and whom its tag "nonroot" means. */
const kDistrolessNode = '/nodejs'
const kNonroot = 65532

/** @param {string} folder is made, with the programs `node` and `npm` of an image @param {string} node within the root @returns {string} */
function linkPrograms (folder, node) {
  fs.mkdirSync(folder, { recursive: true })
  fs.symlinkSync(node, path.join(folder, 'node'))
  fs.symlinkSync(`${kNpm}/bin/npm-cli.js`, path.join(folder, 'npm'))
  return folder
}

/** @param {Root} root @param {Record<string, string>} mounts npm, its cache and Node @param {string} programs as linkPrograms() makes it @returns {Image} */
const nodeImage = (root, mounts, programs) =>
  ({ root, mounts: { ...mounts, '/usr/local/bin': programs }, path: '/usr/local/bin:/usr/bin:/bin', entrypoint: [], user: 0 })

/**
 * @param {Root} root of Debian @param {Record<string, string>} mounts npm, its cache and Node @param {string} node within the root
 * @param {string} scratch folder
 * @returns {Promise<Record<string, Image>>} by name
 */
async function debianImages (root, mounts, node, scratch) {
  const prefix = mounts[path.posix.resolve(node, '..', '..')]
  return {
    'node:24-bookworm-slim': nodeImage(root, mounts, linkPrograms(path.join(scratch, 'programs-debian'), node)),
    'gcr.io/distroless/nodejs24-debian12:nonroot': {
      root: await distrolessRoot(),
      mounts: { [kDistrolessNode]: prefix },
      path: '/usr/bin:/bin',
      entrypoint: [`${kDistrolessNode}/bin/node`],
      user: kNonroot
    }
  }
}

/** @param {Root} root of musl @param {Record<string, string>} mounts npm and its cache @param {string} scratch folder @returns {Record<string, Image>} by name */
const alpineImages = (root, mounts, scratch) =>
  ({ 'node:24-alpine': nodeImage(root, mounts, linkPrograms(path.join(scratch, 'programs-musl'), kMuslNode)) })

module.exports = { alpineImages, debianImages }
