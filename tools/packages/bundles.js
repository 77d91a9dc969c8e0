'use strict'

// An application in one file, as docs/platforms.md says how, away from node_modules where the addon goes with it.

/** With their exact versions: a bundler's own changes are not to fail this test. */
const kBundlers = [
  'esbuild@0.28.2', 'webpack@5.112.2', 'webpack-cli@7.3.1', 'node-loader@2.1.0', 'rollup@4.68.7', '@rollup/plugin-node-resolve@16.0.3',
  '@rollup/plugin-commonjs@29.0.3', '@rollup/plugin-json@6.1.0'
]

const kWebpack = `module.exports = {
  mode: 'production', target: 'node', entry: './express.cjs', output: { path: '/tmp/webpack', filename: 'express.cjs' },
  module: { rules: [{ test: /\\.node$/, loader: 'node-loader' }] }
}`
const kRollup = `import resolve from '@rollup/plugin-node-resolve'
import commonjs from '@rollup/plugin-commonjs'
import json from '@rollup/plugin-json'
export default {
  input: 'express.mjs', external: [/^@httpsys\\//], output: { file: 'bundle/rollup.mjs', format: 'es' },
  plugins: [resolve({ preferBuiltins: true }), commonjs(), json()]
}`
const kEsbuild = 'node_modules/.bin/esbuild express.cjs --bundle --platform=node --log-level=error'

/** @type {{ name: string, files?: Record<string, string>, build: string, run: string }[]} commands of a shell, in the application's folder */
const kBundles = [
  { name: 'esbuild, ours external', build: `${kEsbuild} '--external:@httpsys/*' --outfile=bundle/esbuild.cjs`, run: 'node bundle/esbuild.cjs' },
  {
    name: 'esbuild, the addon beside the bundle',
    build: `${kEsbuild} --loader:.node=copy --outdir=/tmp/esbuild --out-extension:.js=.cjs`,
    run: 'cd /tmp/esbuild && node express.cjs'
  },
  {
    name: 'webpack, the addon beside the bundle',
    files: { 'webpack.config.cjs': kWebpack },
    build: 'node node_modules/webpack/bin/webpack.js --config webpack.config.cjs',
    run: 'cd /tmp/webpack && node express.cjs'
  },
  {
    name: 'rollup, ours external',
    files: { 'rollup.config.mjs': kRollup },
    build: 'node node_modules/rollup/dist/bin/rollup -c rollup.config.mjs --silent',
    run: 'node bundle/rollup.mjs'
  }
]

module.exports = { kBundlers, kBundles }
