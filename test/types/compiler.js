'use strict'

// Compiles programs in memory as users' compilers do, and reports errors of the programs and of our own declarations only:
// those of @types/node are checked by others.

const path = require('node:path')
const ts = require('typescript')

const kRoot = path.join(__dirname, '..', '..')
const kPackages = path.join(kRoot, 'packages')
const kPrograms = path.join(__dirname, 'programs')

/** @param {string} resolution node16, nodenext or bundler @param {object} [more] @returns {import('typescript').CompilerOptions} */
function optionsFor (resolution, more = {}) {
  const { config } = ts.readConfigFile(path.join(__dirname, 'tsconfig.json'), ts.sys.readFile)
  const module = resolution === 'bundler' ? 'esnext' : resolution
  const given = { ...config.compilerOptions, moduleResolution: resolution, module, ...more }
  const { options, errors } = ts.convertCompilerOptionsFromJson(given, __dirname)
  if (errors.length > 0) throw new Error(describe(errors[0]))
  return options
}

/** @param {import('typescript').Diagnostic} diagnostic @returns {string} */
function describe ({ file, start = 0, messageText }) {
  const where = file === undefined ? '' : `${path.relative(kRoot, file.fileName)}:${file.getLineAndCharacterOfPosition(start).line + 1}: `
  return `${where}${ts.flattenDiagnosticMessageText(messageText, '\n')}`
}

/** Declarations that several programs share. @type {Map<string, import('typescript').SourceFile | undefined>} */
const parsed = new Map()

/**
 * @param {string[]} files absolute
 * @param {import('typescript').CompilerOptions} options
 * @param {Record<string, string>} [texts] of files that are in memory only
 */
function programOf (files, options, texts = {}) {
  const host = ts.createCompilerHost(options, true)
  const { getSourceFile, fileExists, readFile } = host
  host.fileExists = (file) => Object.hasOwn(texts, file) || fileExists(file)
  host.readFile = (file) => texts[file] ?? readFile(file)
  host.getSourceFile = (file, how, ...rest) => {
    if (Object.hasOwn(texts, file)) return ts.createSourceFile(file, texts[file], how, true)
    if (!/\.d\.[cm]?ts$/.test(file)) return getSourceFile(file, how, ...rest)
    const { languageVersion, impliedNodeFormat } = /** @type {import('typescript').CreateSourceFileOptions} */ (how)
    const key = `${file} ${languageVersion} ${impliedNodeFormat}`
    if (!parsed.has(key)) parsed.set(key, getSourceFile(file, how, ...rest))
    return parsed.get(key)
  }
  return ts.createProgram(files, options, host)
}

/** @param {import('typescript').Program} program @returns {string[]} */
function errorsOf (program) {
  const files = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(__dirname) || fileName.startsWith(kPackages))
  const found = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()]
  for (const file of files) found.push(...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file))
  return found.map(describe)
}

module.exports = { errorsOf, kPackages, kPrograms, kRoot, optionsFor, programOf }
