'use strict'

// The same module as @httpsys/core-native/register, for users who look for it in this package.

module.exports = require('@httpsys/core-native/register')
