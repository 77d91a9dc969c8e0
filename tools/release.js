'use strict'

// Makes a release up to the last step: versions and the packages' changelogs by lerna from the commits' messages, the section
// "Unreleased" of CHANGELOG.md as that of the version, commit and tag, then all tarballs, which were packed once before. The last step, which cannot be taken back,
// is printed: to push, and to publish in this order.
//
//   node tools/release.js <patch | minor | major | version>

const fs = require('node:fs')
const path = require('node:path')
const { pack } = require('./pack')
const { ask, kRoot, main, run } = require('./lib/project')

/** What lerna takes. */
const kBump = /^(patch|minor|major|\d+\.\d+\.\d+(-[\w.]+)?)$/

const kChangelog = path.join(kRoot, 'CHANGELOG.md')
const kUnreleased = '\n## Unreleased\n'

/**
 * @param {string} text of CHANGELOG.md, which is written by hand for users @param {string} version @param {Date} date
 * @returns {string} its text with what was not released before as the version's section, and an empty one for what follows
 */
function released (text, version, date) {
  if (text.split(kUnreleased).length !== 2) throw new Error('CHANGELOG.md has to have one section "## Unreleased", with what is new for users')
  return text.replace(kUnreleased, () => `${kUnreleased}\n## ${version} (${date.toISOString().slice(0, 10)})\n`)
}

/** @param {string} bump @param {string[]} [platforms] none: all @returns {Promise<string[]>} tarballs in the order of publishing */
async function release (bump, platforms) {
  if (ask('git', ['status', '--porcelain']) !== '') throw new Error('There are changes that are not committed: a release is made of commits only. Run:  git status')
  const changelog = fs.readFileSync(kChangelog, 'utf8')
  released(changelog, bump, new Date())
  // What may fail is tried before the commit and the tag: a package that is too large, a platform that does not compile. The addons are built once.
  await pack(platforms)
  const lerna = require.resolve('lerna/dist/cli.js', { paths: [kRoot] })
  await run(process.execPath, [lerna, 'version', bump, '--exact', '--conventional-commits', '--force-publish', '--no-git-tag-version', '--no-push', '--yes'])
  const { version } = JSON.parse(fs.readFileSync(path.join(kRoot, 'lerna.json'), 'utf8'))
  // lerna has put all commits of all packages above what users are told.
  fs.writeFileSync(kChangelog, released(changelog, version, new Date()))
  await run('git', ['add', '--all'])
  await run('git', ['commit', '--quiet', '--message', `chore(release): v${version}`])
  await run('git', ['tag', '--annotate', `v${version}`, '--message', `v${version}`])
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

module.exports = { release, released }
