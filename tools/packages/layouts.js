'use strict'

// Package managers other than npm, and how each lays out what it installs.

/** With their exact versions: a manager's own changes are not to fail this test. */
const kManagers = ['pnpm@10.34.9', 'yarn@1.22.22', '@yarnpkg/cli-dist@4.18.1']

const kPackages = 'express@5 @httpsys/express-adapter @httpsys/websocket @httpsys/core-native'
const kYarn = 'node MANAGERS/node_modules/@yarnpkg/cli-dist/bin/yarn.js'

/** @param {string} linker @returns {(registry: string, env: NodeJS.ProcessEnv) => Record<string, string>} the configuration of Yarn 4 */
const yarnFiles = (linker) => (registry, env) => ({
  // Without a lock file the folder would not be a project of its own.
  'yarn.lock': '',
  '.yarnrc.yml': [
    `nodeLinker: ${linker}`, 'enableTelemetry: false', 'enableGlobalCache: false', 'cacheFolder: /opt/managers/yarn-cache',
    'unsafeHttpWhitelist: ["127.0.0.1"]', `npmRegistryServer: "${env.npm_config_registry}"`,
    `npmScopes:\n  httpsys:\n    npmRegistryServer: "${registry}"`, ''
  ].join('\n')
})

/**
 * @typedef {object} Layout
 * @property {string} name
 * @property {string} install a command; MANAGERS is the folder in which the managers are
 * @property {(registry: string, env: NodeJS.ProcessEnv) => Record<string, string>} files of the application
 * @property {string} run what a program's name is appended to
 */

/** @type {Layout[]} */
const kLayouts = [
  {
    name: 'pnpm, no scripts',
    install: `node MANAGERS/node_modules/pnpm/bin/pnpm.cjs add --ignore-scripts --store-dir MANAGERS/pnpm-store ${kPackages}`,
    files: () => ({}),
    run: 'node'
  },
  {
    name: 'Yarn 1',
    install: `node MANAGERS/node_modules/yarn/bin/yarn.js add --non-interactive --cache-folder MANAGERS/yarn-1-cache ${kPackages}`,
    files: () => ({}),
    run: 'node'
  },
  { name: 'Yarn 4, node_modules', install: `${kYarn} add ${kPackages}`, files: yarnFiles('node-modules'), run: 'node' },
  {
    name: "Yarn 4, Plug'n'Play",
    install: `${kYarn} add ${kPackages}`,
    files: yarnFiles('pnp'),
    run: 'node --require ./.pnp.cjs --experimental-loader ./.pnp.loader.mjs'
  }
]

module.exports = { kLayouts, kManagers }
