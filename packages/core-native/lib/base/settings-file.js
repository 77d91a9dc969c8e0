'use strict'

// Reads and writes settings files: commands write them, and running servers read them. A read is bounded and never blocks. A write
// replaces the whole file by rename, under a lock, and only if the caller is allowed to choose the file. docs/reservations.md has the
// rules for users.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { threadId } = require('node:worker_threads')
const { variableMustBe } = require('./errors')

// A lock file older than this (ms) counts as left behind by a writer that died: a living writer needs a few milliseconds.
const kLockStaleMs = 10_000
const kLockWaitMs = 2_000
const kLockRetryMs = 20
// Number of attempts of rewriteFile(). An attempt fails only if this process stood still for kLockStaleMs and another writer therefore
// removed its lock.
const kAttempts = 3

/** @typedef {new (file: string, problem: string, cure: string, cause?: unknown) => Error} FileError */

/** @param {string} name @returns {string | null} the path of a file in this user's configuration; null: the user has no home directory */
function configFile (name) {
  const { XDG_CONFIG_HOME: config } = process.env
  try {
    return path.join(config && path.isAbsolute(config) ? config : path.join(os.homedir(), '.config'), 'httpsys', name)
  } catch {
    return null
  }
}

/**
 * @param {string} variable environment variable that names another file
 * @param {string} name as for configFile()
 * @returns {string | null} null: this user has no home directory
 * @throws ERR_HTTPSYS_ENVIRONMENT
 */
function settingsFile (variable, name) {
  const { [variable]: chosen } = process.env
  if (!chosen) return configFile(name)
  // With a relative path each working directory would have settings of its own.
  if (!path.isAbsolute(chosen)) throw variableMustBe(variable, chosen, 'an absolute path')
  return chosen
}

/**
 * @param {string} file
 * @param {number} bytesMax a longer file is refused
 * @param {FileError} FileError
 * @returns {string}
 * @throws FileError, or an error of the system
 */
function readText (file, bytesMax, FileError) {
  // O_NONBLOCK: if the path names a FIFO, opening it would otherwise block the program.
  const fd = fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0))
  try {
    if (!fs.fstatSync(fd).isFile()) throw new FileError(file, 'it is not a regular file', 'Name a file of JSON')
    const buffer = Buffer.alloc(bytesMax + 1)
    let length = 0
    for (let read; length < buffer.length; length += read) {
      read = fs.readSync(fd, buffer, length, buffer.length - length, null)
      if (read === 0) break
    }
    if (length > bytesMax) {
      throw new FileError(file, `it is longer than ${bytesMax} bytes`, 'Delete what is not needed')
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, length))
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error
    throw new FileError(file, 'it is not UTF-8', 'Save it as UTF-8')
  } finally {
    fs.closeSync(fd)
  }
}

/**
 * Replaces the content of a file with the result of change(), under a lock that excludes other callers of this function. Waits up to
 * kLockWaitMs for the lock, and tries again (kAttempts in all) if another writer took the lock for abandoned.
 *
 * @param {string} file
 * @param {FileError} FileError
 * @param {(target: string, owner: number | undefined) => string} change gives the new text; `target` is the file that a
 *   symbolic link leads to, `owner` the uid of its owner, undefined when there is no file. Called again in each further attempt
 */
function rewriteFile (file, FileError, change) {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  for (let attempt = 1; ; attempt++) {
    const target = targetOf(file, FileError)
    if (rewriteOnce(target, FileError, change)) return
    if (attempt === kAttempts) throw busy(lockOf(target), FileError)
  }
}

/**
 * @param {string} target
 * @param {FileError} FileError
 * @param {(target: string, owner: number | undefined) => string} change
 * @returns {boolean} false: another writer took our lock for abandoned and removed it, so nothing was written
 */
function rewriteOnce (target, FileError, change) {
  const lock = lockOf(target)
  const fd = takeLock(lock, FileError)
  try {
    const stat = fs.statSync(target, { throwIfNoEntry: false })
    const text = change(target, stat?.uid)
    if (stat !== undefined && process.geteuid?.() === 0) fs.fchownSync(fd, stat.uid, stat.gid)
    // Keep the read permissions of group and others; only the owner has write permission.
    fs.fchmodSync(fd, 0o600 | ((stat?.mode ?? 0) & 0o044))
    fs.writeFileSync(fd, text)
    fs.fsyncSync(fd)
    // If another writer replaced our lock, `lock` names its unfinished file: do not rename that.
    if (!isAt(fd, lock)) return false
    fs.renameSync(lock, target)
    return true
  } catch (error) {
    if (isAt(fd, lock)) fs.rmSync(lock, { force: true })
    throw error
  } finally {
    fs.closeSync(fd)
  }
}

/** Name of the new file, which is also the lock: the process that creates it is the only writer until it renames it. @param {string} target */
function lockOf (target) {
  return `${target}.new`
}

/** @param {string} lock @param {FileError} FileError */
function busy (lock, FileError) {
  return new FileError(lock, 'another process is writing it', 'Try again; delete it if no httpsys command is running')
}

/**
 * Returns the file to write: the target of a symbolic link, otherwise `file`. Throws if the link belongs neither to root, nor to this
 * user, nor to the target's owner: another user could make a link to have this process (root, above all) overwrite a foreign file.
 *
 * @param {string} file
 * @param {FileError} FileError
 */
function targetOf (file, FileError) {
  const link = fs.lstatSync(file, { throwIfNoEntry: false })
  const found = link?.isSymbolicLink() ? fs.statSync(file, { throwIfNoEntry: false }) : undefined
  // If there is no link, or it leads to no file, `file` itself is written.
  if (link === undefined || found === undefined) return file
  if (![0, process.geteuid?.(), found.uid].includes(link.uid)) {
    throw new FileError(file, `it is a symbolic link of user ${link.uid} to a file of user ${found.uid}`,
      'Name the file itself, or let its owner make the link')
  }
  return fs.realpathSync(file)
}

/** @param {number} fd @param {string} name @returns {boolean} whether the open file has that name */
function isAt (fd, name) {
  const own = fs.fstatSync(fd, { bigint: true })
  const there = fs.lstatSync(name, { bigint: true, throwIfNoEntry: false })
  return there !== undefined && there.dev === own.dev && there.ino === own.ino
}

/** @param {string} lock @param {FileError} FileError @returns {number} descriptor */
function takeLock (lock, FileError) {
  const sleep = new Int32Array(new SharedArrayBuffer(4))
  for (let waited = 0; ; waited += kLockRetryMs) {
    try {
      return fs.openSync(lock, 'wx', 0o600)
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
    }
    // lstat: a lock that is a symbolic link is not followed, because any user may have made it.
    const held = fs.lstatSync(lock, { bigint: true, throwIfNoEntry: false })
    if (held !== undefined && Date.now() - Number(held.mtimeMs) > kLockStaleMs) removeStale(lock, held.ino)
    if (waited >= kLockWaitMs) throw busy(lock, FileError)
    Atomics.wait(sleep, 0, 0, kLockRetryMs)
  }
}

/**
 * Removes an old lock by renaming it, which succeeds in only one of several processes. A late process may rename the new lock of the
 * first one instead; it recognizes the other inode and puts that lock back.
 *
 * @param {string} lock
 * @param {bigint} ino
 */
function removeStale (lock, ino) {
  const aside = `${lock}.${process.pid}.${threadId}`
  try {
    fs.renameSync(lock, aside)
  } catch {
    return
  }
  try {
    // Put a wrongly removed lock back. This fails if a third process has made a lock; then the owner sees, by isAt(), that it lost its own.
    if (fs.lstatSync(aside, { bigint: true }).ino !== ino) fs.linkSync(aside, lock)
  } catch {}
  fs.rmSync(aside, { force: true })
}

module.exports = { configFile, readText, rewriteFile, settingsFile }
