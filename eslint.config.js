'use strict'

const neostandard = require('neostandard')

const kTimers = ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate']

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
    // What differs between backends is in their capabilities (packages/core-native/types/binding.d.ts).
    files: ['packages/*/*.js', 'packages/*/bin/**/*.js', 'packages/*/lib/**/*.js'],
    rules: {
      'no-restricted-properties': ['error', ...[['process', 'platform'], ['os', 'platform'], ['os', 'type']].map(([object, property]) =>
        ({ object, property, message: 'Ask the backend for its capabilities.' }))],
      // The global ones may be an application's fake timers.
      'no-restricted-globals': ['error', ...kTimers.map((name) => ({ name, message: 'Take it from node:timers.' }))],
    },
  },
  {
    // It says which backend to load.
    files: ['packages/core-native/lib/platform.js'],
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
