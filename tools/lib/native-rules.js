'use strict'

// Rules for the native sources that a service process needs: one in which the lanes serve several applications, each in a
// process of its own. docs/internals/architecture.md says why.

/** @typedef {{ file: string, room: string, text: string }} Source */

/** What is sent to another process: no pointer, object of the standard library or descriptor has a meaning there. */
const kCrossing = ['src/records/records.h']

/** State of the process as a whole, and of its threads. */
const kProcessFile = 'src/base/process.h'

/** Where the process may be ended: on a mistake of our own in C++, and on one in a reply. */
const kEndings = ['src/base/check.h', 'src/records/reply_reader.cc']

/** Files that handle replies: what is wrong with one is the attachment's mistake, never a reason to abort. */
const kReplyFiles = /\/(?:\w+_replies|reply_processor|reply_handler|websocket_session|slots|replies|reply_reader)\.(?:cc|h)$/

/** @param {string} text @returns {string} without comments and texts */
const codeOf = (text) => text.replace(/\/\*.*?\*\//gs, '').replace(/\/\/.*$/gm, '').replace(/"(?:[^"\\\n]|\\.)*"/g, '""')

/** @param {Source[]} sources @param {(code: string) => string[]} find @returns {string[]} what it finds in each, with the file before it */
const problemsIn = (sources, find) => sources.flatMap((source) => find(codeOf(source.text)).map((problem) => `${source.file} ${problem}`))

/** @param {Source[]} sources @returns {string[]} */
function crossingProblems (sources) {
  return problemsIn(sources.filter(({ file }) => kCrossing.includes(file)), (code) =>
    [...code.replace(/^#.*$/gm, '').matchAll(/\bstd::\w+|\b(?:int|long|bool|float|double|char|void)\b\s+\w+;|[\w>]\s*[*&]\s*\w+|\bfd\b/g)]
      .map(([what]) => `has '${what.trim()}' in what crosses between processes: numbers of fixed size only`))
}

/**
 * A variable outside of objects: `static` or `thread_local` in a function or at namespace scope, or a variable of a namespace.
 * What never changes after it was made is none.
 *
 * @param {string} code @returns {string[]} the declarations
 */
function variablesIn (code) {
  const statics = [...code.matchAll(/^[ \t]*(?:inline )?(?:static|thread_local)\b[^;({]*[;={]/gm)].map(([line]) => line)
  const ofNamespaces = [...code.matchAll(/^(?:inline )?[A-Za-z_][\w:]*(?:<[^;()]*>)?[ *&]+\w+(?: = [^;]*| ?\{[^;]*\})?;$/gm)].map(([line]) => line)
  return [...statics, ...ofNamespaces]
    .filter((line) => !/^\s*(?:static |inline )*(?:constexpr|const) /.test(line) && !/^(?:class|struct|enum|union|using|typedef|namespace|extern|friend|return|template|public|private)\b/.test(line))
    .map((line) => line.replace(/\s*[;={].*$/s, '').trim())
}

/** @param {Source[]} sources @returns {string[]} */
function processProblems (sources) {
  return problemsIn(sources.filter(({ file }) => file !== kProcessFile), (code) => [
    ...[...code.matchAll(/\b(?:secure_)?getenv\b|\b(?:at_quick_|on_)exit\b|\batexit\b/g)].map(([name]) => `uses ${name}, which only ${kProcessFile} does`),
    ...variablesIn(code).map((line) => `has the variable '${line}' outside of objects, which only ${kProcessFile} may`),
  ])
}

/** @param {Source[]} sources @returns {string[]} */
function endingProblems (sources) {
  const aborts = problemsIn(sources.filter(({ file }) => !kEndings.includes(file)), (code) =>
    [...code.matchAll(/\b(?:std::)?(?:abort|terminate|_exit|quick_exit)\s*\(\s*\)|\b__builtin_trap\b/g)].map(([what]) => `ends the process (${what})`))
  const checks = problemsIn(sources.filter(({ file }) => kReplyFiles.test(file)), (code) =>
    // Memory that is handed in fits, which the binding has checked; and there is memory.
    [...code.matchAll(/HTTPSYS_CHECK\((?!memory\.size\(\)|block\.memory)/g)].map(() => 'ends the process for a reply: ReplyReader::End() does that'))
  return [...aborts, ...checks]
}

/**
 * @param {string} backend text of backend/backend.h @param {string} test text of the test that encodes all arguments
 * @returns {string[]}
 */
function argumentProblems (backend, test) {
  // The memory that both ends share is mapped by both.
  const shared = ['requests', 'signal', 'AddReplySegment', 'lent', 'files']
  let className = ''
  return [...codeOf(backend).matchAll(/^class (\w+)|^ {2}virtual (?!~)[^(;]*?[\s&*](\w+)\(|^struct (\w+) \{$/gm)].flatMap(([, type, method, struct]) => {
    if (type !== undefined) className = type
    // Options are read once, where the engine is made; a descriptor is passed on beside bytes; memory is shared.
    if (struct !== undefined && !['BackendOptions', 'BackendCapabilities', 'LaneMemory', 'Descriptor'].includes(struct) && !new RegExp(`\\b${struct}\\b`).test(test)) {
      return [`argument_codec_test.cc does not encode ${struct} of backend.h`]
    }
    if (method === undefined || shared.includes(method) || test.includes(`TakesValues(&${className}::${method})`)) return []
    return [`argument_codec_test.cc does not look at ${className}::${method}() of backend.h`]
  })
}

/** In place of clang-tidy's misc-unused-using-decls, which does not look into files that another one includes. @param {Source[]} sources @returns {string[]} */
function usingProblems (sources) {
  return problemsIn(sources.filter(({ file }) => file.endsWith('.cc')), (code) =>
    [...code.matchAll(/^\s*using (?:\w+::)+(\w+);$/gm)]
      .filter(([, name]) => [...code.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length === 1)
      .map(([what]) => `has no use for '${what.trim()}'`))
}

module.exports = { argumentProblems, crossingProblems, endingProblems, processProblems, usingProblems }
