'use strict'

// Tells when a file may have changed, also one that does not exist yet, and whose folder does not.

const fs = require('node:fs')
const path = require('node:path')
const { setImmediate } = require('node:timers')

/** Milliseconds between looks where the system refuses to notify (its watches are used up): often enough for a person who waits. */
const kPollMs = 1000

/**
 * Watches the nearest folder above the file that exists, because rename puts another file in its place. Does not
 * keep the process running.
 *
 * @param {string} file absolute
 * @param {() => void} onEvent something happened there; more than once for one change, perhaps
 * @returns {() => void} ends it
 */
function watchPath (file, onEvent) {
  /** @type {{ folder: string, id: string, close: () => void } | null} */
  let armed = null
  let scheduled = false
  let ended = false

  const look = () => {
    scheduled = false
    if (ended) return
    arm()
    onEvent()
  }
  const schedule = () => {
    if (scheduled || ended) return
    scheduled = true
    setImmediate(look)
  }
  const arm = () => {
    // Again after it is watched: a folder below may have come meanwhile.
    for (;;) {
      const there = nearestFolder(path.dirname(file))
      if (armed?.folder === there.folder && armed.id === there.id) return
      armed?.close()
      armed = { ...there, close: watchFolder(there.folder, file, schedule) }
    }
  }

  arm()
  return () => {
    ended = true
    armed?.close()
  }
}

/** @param {string} folder @returns {{ folder: string, id: string }} */
function nearestFolder (folder) {
  for (let at = folder; ; at = path.dirname(at)) {
    try {
      const { dev, ino } = fs.statSync(at, { bigint: true })
      return { folder: at, id: `${dev} ${ino}` }
    } catch {
      if (at === path.dirname(at)) return { folder: at, id: '' }
    }
  }
}

/** @param {string} folder @param {string} file @param {() => void} onEvent @returns {() => void} */
function watchFolder (folder, file, onEvent) {
  const poll = () => { fs.watchFile(file, { interval: kPollMs, persistent: false }, onEvent) }
  const endPoll = () => fs.unwatchFile(file, onEvent)
  // Further up, as in a home folder, much happens that is not about this file. In its own folder other names
  // count: it may be a symbolic link.
  const names = folder === path.dirname(file) ? null : [path.relative(folder, file).split(path.sep)[0], path.basename(folder)]
  try {
    const watcher = fs.watch(folder, { persistent: false }, (_, name) => {
      if (names === null || name === null || names.includes(name)) onEvent()
    })
    watcher.on('error', () => {
      watcher.close()
      poll()
    })
    return () => {
      watcher.close()
      endPoll()
    }
  } catch {
    poll()
    return endPoll
  }
}

module.exports = { watchPath }
