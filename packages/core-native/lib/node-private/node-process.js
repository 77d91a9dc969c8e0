'use strict'

// Node's own process object, whose nextTick() Node's modules call. A test runner with a context for each test (jest) gives modules,
// such as this package, a copy of the process object instead, and its fake timers replace the copy's nextTick().

const vm = require('node:vm')

/** @type {NodeJS.Process} */
const nodeProcess = vm.runInThisContext('globalThis.process') ?? require('node:process')

module.exports = { nodeProcess }
