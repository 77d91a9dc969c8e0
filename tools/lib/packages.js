'use strict'

// What the scripts need beside Node, how its presence is seen, and what brings it on Debian.

const fs = require('node:fs')
const path = require('node:path')
const { ask, findProgram, kRoot } = require('./project')
const { kTargets } = require('./targets')

/**
 * @typedef {object} Need
 * @property {string} what as a sentence names it
 * @property {() => boolean} present quick: file system only where possible
 * @property {string[]} apt Debian packages
 */

/** @param {string} file below a system include folder */
function hasHeader (file) {
  return ['/usr/include', '/usr/local/include', '/opt/homebrew/include']
    .some((folder) => fs.existsSync(`${folder}/${file}`))
}

/** clang's programs carry their version in their names on Debian. */
const kClangVersions = ['', '-19', '-18', '-17', '-16', '-15', '-14']

/** @param {string} name such as clang++ @returns {string | null} */
function findClang (name) {
  return findProgram(...kClangVersions.map((version) => `${name}${version}`))
}

/** @returns {string | null} Debian has it where only root's PATH leads to. */
function findNginx () {
  return findProgram('nginx', '/usr/sbin/nginx')
}

/** @returns {string | null} Debian has it where only root's PATH leads to. */
function findHaproxy () {
  return findProgram('haproxy', '/usr/sbin/haproxy')
}

/** @returns {string | null} */
function findChromium () {
  return findProgram('chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome')
}

/** @returns {string | null} a clang++ that has libFuzzer and the sanitizers */
function findSanitizingClang () {
  for (const version of kClangVersions) {
    const clang = findProgram(`clang++${version}`)
    if (clang === null) continue
    const folder = ask(clang, ['-print-runtime-dir'])
    const resource = ask(clang, ['-print-resource-dir'])
    const folders = [folder, `${resource}/lib/linux`, `${resource}/lib/darwin`]
    const found = folders.some((candidate) => candidate !== null && fs.existsSync(candidate) &&
      fs.readdirSync(candidate).some((file) => file.includes('clang_rt.fuzzer')))
    if (found) return clang
  }
  return null
}

/** @param {string} name of a program that reads what clang has written, such as llvm-cov @returns {string} where that clang's own is, whether it is installed or not */
function besideClang (name) {
  const clang = findSanitizingClang()
  return clang === null ? name : path.join(path.dirname(fs.realpathSync(clang)), name)
}

/** @returns {string | null} what gives addresses in reports of clang's sanitizers their names; the sanitizers take no file of another name */
function findSymbolizer () {
  return findProgram('llvm-symbolizer', ...kClangVersions.filter(Boolean).map((version) => `/usr/lib/llvm${version}/bin/llvm-symbolizer`))
}

/** @type {Need[]} */
const kRunNeeds = [
  {
    what: 'a C++20 compiler (g++ 10 or newer)',
    present: () => findProgram(process.env.CXX ?? 'g++', 'g++', 'c++', 'clang++') !== null,
    apt: ['g++'],
  },
  { what: 'make', present: () => findProgram('make', 'gmake') !== null, apt: ['make'] },
  {
    what: 'Python 3, which node-gyp runs on',
    present: () => findProgram('python3', 'python') !== null,
    apt: ['python3'],
  },
]

/** @type {Need} */
const kCurlNeed = { what: 'curl', present: () => findProgram('curl') !== null, apt: ['curl'] }

/** @type {Need[]} */
const kTestNeeds = [
  { what: 'cmake', present: () => findProgram('cmake') !== null, apt: ['cmake'] },
  {
    what: 'clang++ with its sanitizers',
    present: () => findSanitizingClang() !== null,
    apt: ['clang-16', 'libclang-rt-16-dev'],
  },
  { what: 'llvm-symbolizer, which names functions in reports of sanitizers', present: () => findSymbolizer() !== null, apt: ['llvm-16'] },
  { what: 'pkg-config', present: () => findProgram('pkg-config', 'pkgconf') !== null, apt: ['pkg-config'] },
  { what: 'the header gtest/gtest.h (GoogleTest)', present: () => hasHeader('gtest/gtest.h'), apt: ['libgtest-dev'] },
  { what: 'the header uv.h (libuv)', present: () => hasHeader('uv.h'), apt: ['libuv1-dev'] },
  { what: 'the header zlib.h (zlib)', present: () => hasHeader('zlib.h'), apt: ['zlib1g-dev'] },
  { what: 'the header openssl/ssl.h (OpenSSL)', present: () => hasHeader('openssl/ssl.h'), apt: ['libssl-dev'] },
  { what: 'openssl, for certificates', present: () => findProgram('openssl') !== null, apt: ['openssl'] },
  { what: 'the header nghttp2/nghttp2.h (nghttp2)', present: () => hasHeader('nghttp2/nghttp2.h'), apt: ['libnghttp2-dev'] },
  { what: 'nghttp, a client of HTTP/2', present: () => findProgram('nghttp') !== null, apt: ['nghttp2-client'] },
  {
    what: 'Go, which builds h2spec and actionlint',
    present: () => findProgram('go') !== null || (fs.existsSync(h2spec()) && fs.existsSync(actionlint())),
    apt: ['golang-go'],
  },
  {
    what: 'Python\'s venv module, for clang-format',
    present: () => fs.existsSync(clangFormat()) || hasVenv(),
    apt: ['python3-venv'],
  },
  {
    what: 'Chromium, for the pages of the examples',
    // Their test says that it is skipped where nothing brings it.
    present: () => findChromium() !== null || findProgram('apt-get') === null,
    apt: ['chromium'],
  },
  {
    what: 'nginx, in front of WebSockets',
    // A test that needs a proxy says that it is skipped where nothing brings it.
    present: () => findNginx() !== null || findProgram('apt-get') === null,
    apt: ['nginx-light'],
  },
  {
    what: 'HAProxy, in front of WebSockets',
    present: () => findHaproxy() !== null || findProgram('apt-get') === null,
    apt: ['haproxy'],
  },
  {
    what: 'certutil, which tells Chromium whom to trust',
    present: () => findProgram('certutil') !== null || findProgram('apt-get') === null,
    apt: ['libnss3-tools'],
  },
  kCurlNeed,
]

/** What `npm test` needs with --all only. @type {Need[]} */
const kAllNeeds = [
  { what: 'clang-tidy', present: () => findClang('clang-tidy') !== null, apt: ['clang-tidy-16'] },
  {
    what: 'xz, for test suites from Debian\'s archive',
    present: () => findProgram('xz') !== null || findProgram('apt-get') === null,
    apt: ['xz-utils'],
  },
  {
    what: 'Python\'s venv module, for sslyze and hadolint',
    present: () => (fs.existsSync(sslyze()) && fs.existsSync(hadolint())) || hasVenv(),
    apt: ['python3-venv'],
  },
]

/** @type {Need} */
const kCoverageNeed = { what: 'llvm-cov and llvm-profdata of the version of clang', present: () => fs.existsSync(besideClang('llvm-cov')), apt: ['llvm-16'] }

/** @type {Need[]} */
const kBenchNeeds = [
  { what: 'h2load, the load generator for HTTP/2', present: () => findProgram('h2load') !== null, apt: ['nghttp2-client'] },
  { what: 'nghttpd, the server of HTTP/2 to compare with', present: () => findProgram('nghttpd') !== null, apt: ['nghttp2-server'] },
  { what: 'wrk, the load generator', present: () => findProgram('wrk') !== null, apt: ['wrk'] },
  { what: 'taskset', present: () => findProgram('taskset') !== null, apt: ['util-linux'] },
  { what: 'nginx, the proxy to compare with', present: () => findNginx() !== null, apt: ['nginx-light'] },
  { what: 'valgrind, which counts instructions', present: () => findProgram('valgrind') !== null, apt: ['valgrind'] },
  { what: 'strace, which counts system calls', present: () => findProgram('strace') !== null, apt: ['strace'] },
  { what: 'the header zlib.h, for WebSocket clients', present: () => hasHeader('zlib.h'), apt: ['zlib1g-dev'] },
  { what: 'Go, for clients with TLS', present: () => findProgram('go') !== null, apt: ['golang-go'] },
  { what: 'openssl, for certificates', present: () => findProgram('openssl') !== null, apt: ['openssl'] },
]

/** @type {Need[]} */
const kWindowsNeeds = [
  {
    what: 'a C++ compiler for Windows (mingw-w64 with POSIX threads)',
    present: () => findProgram(kMingwCompiler) !== null,
    apt: ['g++-mingw-w64-x86-64-posix'],
  },
]

/** @type {Need[]} */
const kWineNeeds = [
  { what: 'patchelf, which makes Debian\'s Wine run from any folder', present: () => findProgram('patchelf') !== null, apt: ['patchelf'] },
]

/** @type {Record<string, Need>} by the prefix of the programs */
const kBinutilsNeeds = {
  'x86_64-linux-gnu': { what: 'objcopy and strip', present: () => findProgram('x86_64-linux-gnu-objcopy') !== null, apt: ['binutils'] },
  'aarch64-linux-gnu': { what: 'objcopy and strip for arm64', present: () => findProgram('aarch64-linux-gnu-objcopy') !== null, apt: ['binutils-aarch64-linux-gnu'] },
}

/** @type {Need} */
const kZigNeed = { what: 'Python\'s venv module, for zig', present: () => fs.existsSync(zigFolder()) || hasVenv(), apt: ['python3-venv'] }

/** @param {import('./targets').Target[]} targets @returns {Need[]} what their addons are built with, and nothing of the others */
function prebuildNeeds (targets) {
  const isWith = (/** @type {boolean} */ isNeeded, /** @type {Need[]} */ ...needs) => isNeeded ? needs : []
  return [
    ...isWith(targets.some(({ zig }) => zig === undefined), ...kWindowsNeeds),
    ...Object.entries(kBinutilsNeeds).flatMap(([prefix, need]) => isWith(targets.some(({ binutils }) => binutils === prefix), need)),
    ...isWith(targets.some(({ zig }) => zig !== undefined), kZigNeed),
  ]
}

/** @type {Need[]} */
const kPackageNeeds = [
  // test:packages compiles an installed package, too.
  ...kRunNeeds,
  kCurlNeed,
  { what: 'ip, which starts networks of their own', present: () => findProgram('ip', '/usr/sbin/ip', '/sbin/ip') !== null, apt: ['iproute2'] },
  { what: 'mmdebstrap, which makes a fresh Debian', present: () => findProgram('mmdebstrap') !== null, apt: ['mmdebstrap'] },
  { what: 'Python\'s pip', present: () => ask(findProgram('python3', 'python') ?? 'python3', ['-m', 'pip', '--version']) !== null, apt: ['python3-pip'] },
]

/** @type {Need[]} */
const kEmulationNeeds = [
  ...kPackageNeeds,
  { what: 'qemu-user, which runs programs for arm64', present: () => fs.existsSync('/usr/bin/qemu-aarch64-static'), apt: ['qemu-user-static'] },
  { what: 'update-binfmts, which lets Linux start them', present: () => findProgram('update-binfmts', '/usr/sbin/update-binfmts') !== null, apt: ['binfmt-support'] },
  { what: 'arch-test, which mmdebstrap asks about arm64', present: () => findProgram('arch-test') !== null, apt: ['arch-test'] },
]

/** What a script may ask for. Each set contains what its members need to build the addon. */
const kNeeds = {
  npm: [],
  run: kRunNeeds,
  bench: [...kRunNeeds, ...kBenchNeeds],
  windows: kWindowsNeeds,
  prebuilds: prebuildNeeds(kTargets),
  packages: kPackageNeeds,
  emulation: kEmulationNeeds,
  wine: [...kWindowsNeeds, ...kWineNeeds],
  test: [...kRunNeeds, ...kTestNeeds],
  all: [...kRunNeeds, ...kTestNeeds, ...kAllNeeds],
  coverage: [...kRunNeeds, ...kTestNeeds, kCoverageNeed],
  dev: [...kRunNeeds, ...kTestNeeds, ...kAllNeeds, kCoverageNeed, ...kBenchNeeds],
}

const kClangFormatVersion = '18.1.8'
/** Its threads are std::thread's; the other flavour has none. */
const kMingw = 'x86_64-w64-mingw32'
const kMingwCompiler = `${kMingw}-g++-posix`

/** Outside the repository, so that reinstalling node_modules does not cost a download. */
function cacheFolder () {
  const cache = process.env.XDG_CACHE_HOME ?? `${process.env.HOME ?? '.'}/.cache`
  return `${cache}/httpsys`
}

function clangFormatFolder () {
  return `${cacheFolder()}/clang-format-${kClangFormatVersion}`
}

/** @returns {string} the pinned clang-format, whether it is installed yet or not */
function clangFormat () {
  return `${clangFormatFolder()}/bin/clang-format`
}

/** @param {string} [cpu] @returns {string} the npm package that holds the program `node` for this platform */
function nodePackage (cpu = process.arch) {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  return `node-${platform}-${cpu}`
}

const kH2specVersion = '2.2.1'

/** @returns {string} the pinned h2spec, whether it is built yet or not */
function h2spec () {
  return `${cacheFolder()}/h2spec-${kH2specVersion}/h2spec`
}

/** The newest that Debian 12's Go builds. */
const kActionlintVersion = '1.7.7'

/** @returns {string} the pinned linter of workflows, whether it is built yet or not */
function actionlint () {
  return `${cacheFolder()}/actionlint-${kActionlintVersion}/actionlint`
}

/** Its clang and C++ library are part of what a prebuilt addon is: another version makes other bytes. */
const kZigVersion = '0.15.2'

function zigFolder () {
  return `${cacheFolder()}/zig-${kZigVersion}`
}

/** @returns {string | null} the pinned compiler of the prebuilt addons, if it is installed */
function findZig () {
  const libraries = `${zigFolder()}/lib`
  const pythons = fs.existsSync(libraries) ? fs.readdirSync(libraries) : []
  // The folder has the name of the version of Python that has put it there.
  return pythons.map((python) => `${libraries}/${python}/site-packages/ziglang/zig`).find((file) => fs.existsSync(file)) ?? null
}

/** The oldest that is supported: a binary made for it serves newer ones. */
const kHeadersNode = '20.20.2'

const kSslyzeVersion = '6.3.1'

function sslyzeFolder () {
  return `${cacheFolder()}/sslyze-${kSslyzeVersion}`
}

/** @returns {string} the pinned scanner of TLS, whether it is installed yet or not */
function sslyze () {
  return `${sslyzeFolder()}/bin/sslyze`
}

const kHadolintVersion = '2.15.1'

function hadolintFolder () {
  return `${cacheFolder()}/hadolint-${kHadolintVersion}`
}

/** @returns {string} the pinned linter of Dockerfiles, whether it is installed yet or not */
function hadolint () {
  return `${hadolintFolder()}/bin/hadolint`
}

/** @param {string} version a major or a whole version @param {string} [cpu] @returns {string} */
function nodeFolder (version, cpu = process.arch) {
  return `${cacheFolder()}/node-${version}${cpu === process.arch ? '' : `-${cpu}`}`
}

/** @param {string} version @param {string} [cpu] @returns {string} that version of Node, whether it is installed yet or not */
function nodeProgram (version, cpu = process.arch) {
  const file = process.platform === 'win32' ? 'node.exe' : 'node'
  return `${nodeFolder(version, cpu)}/node_modules/${nodePackage(cpu)}/bin/${file}`
}

/** @returns {string} Node's headers that prebuilt addons are compiled with, whether they are installed yet or not */
const pinnedHeaders = () => path.join(nodeFolder(kHeadersNode), 'node_modules', nodePackage(), 'include', 'node')

/** @returns {string} the folder of Node-API's headers for C++ */
const nodeAddonApi = () => path.join(kRoot, 'node_modules', 'node-addon-api')

function hasVenv () {
  const python = findProgram('python3', 'python')
  return python !== null && ask(python, ['-c', 'import ensurepip, venv']) !== null
}

module.exports = {
  kClangFormatVersion,
  kHadolintVersion,
  kMingw,
  kMingwCompiler,
  kNeeds,
  kHeadersNode,
  kSslyzeVersion,
  kZigVersion,
  actionlint,
  besideClang,
  cacheFolder,
  clangFormat,
  clangFormatFolder,
  findChromium,
  findClang,
  findHaproxy,
  findNginx,
  findSanitizingClang,
  findSymbolizer,
  findZig,
  h2spec,
  hadolint,
  hadolintFolder,
  nodeAddonApi,
  nodeFolder,
  nodePackage,
  nodeProgram,
  pinnedHeaders,
  prebuildNeeds,
  sslyze,
  sslyzeFolder,
  zigFolder,
}
