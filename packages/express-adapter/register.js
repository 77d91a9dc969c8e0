'use strict'

// The same module as @httpsys/core-native/register, for those who look for it beside the adapter.

module.exports = require('@httpsys/core-native/register')
