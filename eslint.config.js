'use strict'

const neostandard = require('neostandard')
const { kWsNames } = require('./packages/websocket/lib/ws-members')
const privateNames = require('./tools/eslint/private-names')

const kTimers = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate']

/** What differs between backends is in their capabilities (packages/core-native/types/binding.d.ts). */
const kSystemNames = [['process', 'platform'], ['os', 'platform'], ['os', 'type']].map(([object, property]) =>
  ({ object, property, message: 'Ask the backend for its capabilities.' }))

module.exports = [
  ...neostandard({
    ignores: ['**/build/**', '**/build-*/**', 'coverage/**', 'benchmarks/results/**'],
  }),
  {
    files: ['**/*.js'],
    languageOptions: { sourceType: 'commonjs' },
    rules: {
      strict: ['error', 'global'],
      'no-restricted-syntax': ['error', {
        selector: "CallExpression[callee.name='require'][arguments.0.value=/^(assert|async_hooks|buffer|child_process|cluster|crypto|dns|events|fs|http|https|module|net|os|path|perf_hooks|process|stream|timers|tls|url|util|v8|vm|worker_threads|zlib)$/]",
        message: 'Name Node\'s own modules with the node: prefix.',
      }],
    },
  },
  {
    files: ['packages/*/*.js', 'packages/*/bin/**/*.js', 'packages/*/lib/**/*.js'],
    rules: {
      'no-restricted-properties': ['error', ...kSystemNames,
        // Those of a test's context may be fake timers.
        { object: 'process', property: 'nextTick', message: 'Take it from nodeProcess (lib/node-private/node-process.js).' },
        ...['globalThis', 'global'].flatMap((object) => [...kTimers, 'queueMicrotask', 'performance', 'process'].map((property) =>
          ({ object, property, message: 'The application may have replaced it.' })))],
      // The global ones may be an application's fake timers.
      'no-restricted-globals': ['error', ...kTimers.map((name) => ({ name, message: 'Take it from node:timers.' })),
        { name: 'queueMicrotask', message: 'Take nodeProcess.nextTick.' },
        { name: 'performance', message: 'Take it from node:perf_hooks.' }],
    },
  },
  {
    files: ['packages/*/*.js', 'packages/*/{lib,bin}/**/*.js'],
    plugins: { httpsys: { rules: { 'private-names': privateNames } } },
    rules: { 'httpsys/private-names': 'error' },
  },
  {
    // Without comments, of which a JSDoc comment in one line is shorter than in five, and without lines that only list names.
    files: ['packages/*/lib/**/*.js'],
    rules: {
      'max-len': ['error', {
        code: 120,
        ignoreComments: true,
        ignorePattern: '^module\\.exports = |^[\\w, ]+$',
        ignoreRegExpLiterals: true,
        ignoreStrings: true,
        ignoreTemplateLiterals: true,
        ignoreUrls: true
      }]
    },
  },
  {
    // Its WebSocket extends that of ws, whose private members lib/ws-internals.js looks for.
    files: ['packages/websocket/lib/**/*.js'],
    rules: { 'httpsys/private-names': ['error', { names: kWsNames }] },
  },
  {
    files: ['packages/core-native/lib/node-private/**/*.js'],
    rules: { 'httpsys/private-names': ['error', { everywhere: true }] },
  },
  {
    // It says which backend to load.
    files: ['packages/core-native/lib/backend/platform.js'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    // The differential programs also run under a clock that stands still.
    files: ['test/differential/kit.js', 'test/differential/programs/**/*.js'],
    rules: {
      'no-restricted-globals': ['error', ...kTimers.map((name) => ({ name, message: 'Take it from node:timers.' }))],
    },
  },
]
