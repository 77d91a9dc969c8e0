'use strict'

// The exports of `@httpsys/core-native/ssl-certificates`; the engine itself uses more of bindings.js.

const { addBinding, bindingsFile, deleteBinding, listBindings, updateBinding } = require('./bindings')

module.exports = { addBinding, bindingsFile, deleteBinding, listBindings, updateBinding }
