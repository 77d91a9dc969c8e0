'use strict'

/** Whether a test that has many cases of one kind tries all of them: `npm test -- --all` says so. Otherwise it tries each kind. */
const kIsThorough = process.env.HTTPSYS_THOROUGH === '1'

module.exports = { kIsThorough }
