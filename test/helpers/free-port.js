'use strict'

module.exports = require('../../tools/lib/free-port')
