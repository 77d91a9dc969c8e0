'use strict'

/** Where the pages of the documentation are, for messages: whoever installs a package does not have them. */
const kPages = 'https://github.com/httpsys/httpsys/blob/main/docs/'

/** @param {string} page such as `cache.md#options` @returns {string} */
function pageUrl (page) {
  return kPages + page
}

module.exports = { pageUrl }
