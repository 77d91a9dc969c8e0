'use strict'

// Files of settings that commands write and running servers read: bounded and never waited for when they are read; written
// whole, under a lock, by rename, and only where the caller may choose the file. docs/reservations.md says what that means
// for users.

const fs = require('node:fs')
const path = require('node:path')
const { threadId } = require('node:worker_threads')

// A writer takes milliseconds; what is this old was left behind by one that died.
const kLockStaleMs = 10_000
const kLockWaitMs = 2_000
const kLockRetryMs = 20
// Each one more needs another writer that stood still for kLockStaleMs.
const kAttempts = 3

/** @typedef {new (file: string, problem: string, cure: string, cause?: unknown) => Error} FileError */

/**
 * @param {string} file
 * @param {number} bytesMax a longer file is refused
 * @param {FileError} FileError
 * @returns {string}
 * @throws FileError, or an error of the system
 */
function readText (file, bytesMax, FileError) {
  // Without O_NONBLOCK a FIFO in its place would stop the program.
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
 * Has the file changed and puts the result in its place, alone among the writers that come here. Blocks for at most two
 * seconds for each other writer that takes the file for abandoned.
 *
 * @param {string} file
 * @param {FileError} FileError
 * @param {(target: string, owner: number | undefined) => string} change gives the new text; `target` is the file that a
 *   symbolic link leads to, `owner` the uid of its owner, undefined when there is no file. May be asked again when the file has changed
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
 * @returns {boolean} false: another writer has taken this one for dead, and nothing was written
 */
function rewriteOnce (target, FileError, change) {
  const lock = lockOf(target)
  const fd = takeLock(lock, FileError)
  try {
    const stat = fs.statSync(target, { throwIfNoEntry: false })
    const text = change(target, stat?.uid)
    if (stat !== undefined && process.geteuid?.() === 0) fs.fchownSync(fd, stat.uid, stat.gid)
    // The file stays readable for those who could read it; nobody but the owner writes.
    fs.fchmodSync(fd, 0o600 | ((stat?.mode ?? 0) & 0o044))
    fs.writeFileSync(fd, text)
    fs.fsyncSync(fd)
    // The file that has the name now may be the half of another writer's file.
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

/** The new file is the lock: who could create it is the writer, until its rename. @param {string} target */
function lockOf (target) {
  return `${target}.new`
}

/** @param {string} lock @param {FileError} FileError */
function busy (lock, FileError) {
  return new FileError(lock, 'another process is writing it', 'Try again; delete it if no httpsys command is running')
}

/**
 * Finds where a symbolic link leads, unless its maker may have chosen a file that is this user's to write and not the maker's: root
 * writes the files of other users, too.
 *
 * @param {string} file
 * @param {FileError} FileError
 */
function targetOf (file, FileError) {
  const link = fs.lstatSync(file, { throwIfNoEntry: false })
  const found = link?.isSymbolicLink() ? fs.statSync(file, { throwIfNoEntry: false }) : undefined
  // Without a file at its end the link itself is replaced.
  if (link === undefined || found === undefined) return file
  if (![0, process.geteuid?.(), found.uid].includes(link.uid)) {
    throw new FileError(file, `it is a symbolic link of user ${link.uid} to a file of user ${found.uid}`,
      'Name the file itself, or let its owner make the link')
  }
  return fs.realpathSync(file)
}

/** @param {number} fd @param {string} name @returns {boolean} whether the file has that name */
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
    // A link is not followed: anybody may have made it.
    const held = fs.lstatSync(lock, { bigint: true, throwIfNoEntry: false })
    if (held !== undefined && Date.now() - Number(held.mtimeMs) > kLockStaleMs) removeStale(lock, held.ino)
    if (waited >= kLockWaitMs) throw busy(lock, FileError)
    Atomics.wait(sleep, 0, 0, kLockRetryMs)
  }
}

/**
 * Removes an old lock. Of several processes that find it one does: a rename succeeds once. A process that comes late takes hold of the
 * lock of the first one, and gives it back.
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
    // Fails where somebody else has made a lock meanwhile; its first owner finds out before it writes.
    if (fs.lstatSync(aside, { bigint: true }).ino !== ino) fs.linkSync(aside, lock)
  } catch {}
  fs.rmSync(aside, { force: true })
}

module.exports = { readText, rewriteFile }
