'use strict'

// Notifies a caller when a file may have changed. Neither the file nor its folder needs to exist yet.

const fs = require('node:fs')
const path = require('node:path')
const { setImmediate } = require('node:timers')

/** Polling interval in ms, used if fs.watch() fails (no more watches, for example): short enough for a person who waits. */
const kPollMs = 1000

/**
 * Watches the nearest existing folder above the file, because a watch on the file itself ends when a rename replaces it. Does
 * not keep the process running.
 *
 * @param {string} file absolute
 * @param {() => void} onEvent called when the file may have changed; possibly more than once for one change
 * @returns {() => void} ends the watch
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
    // Look again after each new watch: a folder nearer to the file may have been created before the watch began.
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
  // Names whose events count. In the file's own folder all count (null), because the file may be a symbolic link to a neighbour; in a
  // folder further up, such as a home folder, most events concern other files.
  const names = folder === path.dirname(file)
    ? null
    : [path.relative(folder, file).split(path.sep)[0], path.basename(folder)]
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
