'use strict'

// Makes a release up to the last step: versions, changelogs, commit and tag by lerna from the commits' messages, then all
// tarballs. The last step, which cannot be taken back, is printed: to push, and to publish in this order.
//
//   node tools/release.js <patch | minor | major | version>

const path = require('node:path')
const { pack } = require('./pack')
const { ask, kRoot, main, run } = require('./lib/project')

/** What lerna takes. */
const kBump = /^(patch|minor|major|\d+\.\d+\.\d+(-[\w.]+)?)$/

/** @param {string} bump @param {string[]} [platforms] none: all @returns {Promise<string[]>} tarballs in the order of publishing */
async function release (bump, platforms) {
  if (ask('git', ['status', '--porcelain']) !== '') throw new Error('There are changes that are not committed: a release is made of commits only. Run:  git status')
  const lerna = require.resolve('lerna/dist/cli.js', { paths: [kRoot] })
  await run(process.execPath, [lerna, 'version', bump, '--exact', '--conventional-commits', '--force-publish', '--no-push', '--yes'])
  return pack(platforms)
}

/** @param {string[]} tarballs */
function printLastStep (tarballs) {
  console.log('\nNothing has left this machine. To publish, where a CI with OIDC gives provenance:\n')
  console.log('  git push --follow-tags')
  for (const file of tarballs) console.log(`  NPM_CONFIG_PROVENANCE=true npm publish ${path.relative(kRoot, file)}`)
}

if (require.main === module) {
  const [bump, ...platforms] = process.argv.slice(2)
  if (!kBump.test(bump ?? '')) {
    console.error('Usage: npm run release -- <patch | minor | major | version> [platform ...]')
    process.exitCode = 2
  } else {
    main(release(bump, platforms).then(printLastStep))
  }
}

module.exports = { release }
