'use strict'

/** Base URL of the documentation, for messages: installed packages do not contain the pages. */
const kPages = 'https://github.com/httpsys/httpsys/blob/main/docs/'

/** @param {string} page such as `cache.md#options` @returns {string} */
function pageUrl (page) {
  return kPages + page
}

module.exports = { pageUrl }
