import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A virtual environment with what a file in `python/requirements/` pins, and nothing else. */
export interface PythonEnvironment {
  /** Its interpreter. */
  readonly python: string
  /** The version of a package that the file pins. */
  versionOf(name: string): string
}

/** What the packages of a file need of the Python that they are installed for. */
export interface PythonNeeds {
  /** Default: 3.11. */
  readonly least?: readonly [major: number, minor: number]
  /** The version for which packages are chosen, if they ask for more than they need. Default: that of the Python. */
  readonly saysPython?: string
  /** Whether nothing is installed that the file does not name, though its packages ask for it. Default: `false`. */
  readonly isAlone?: boolean
  /** Default: the first of `python3` and those of later versions that is new enough. */
  readonly command?: string
}

const LEAST_PYTHON = [3, 11] as const

/** Environments are kept between runs, in a folder that no check of the workspace reads. */
export const CACHE = fileURLToPath(new URL('../node_modules/.cache/interop-clients/', import.meta.url))

/** Makes environments in a tenth of the time that pip takes. */
const UV = 'uv==0.13.9'

// Programs of Python that this process starts keep compiled modules there: not beside the sources, and not compiled
// anew at each start.
process.env.PYTHONPYCACHEPREFIX ??= `${CACHE}compiled`

/**
 * Returns the environment for a file of requirements. If it does not exist yet, calls `onMake` and creates it. Throws
 * with what to install if Python or one of its modules is missing.
 */
export function openPythonEnvironment(
  requirements: string,
  onMake: (text: string) => void,
  needs: PythonNeeds = {},
): PythonEnvironment {
  const { file, pinned, interpreter, folder, python, complete } = locate(requirements, needs)
  if (!existsSync(complete)) {
    onMake(`making the Python environment of ${requirements}`)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(CACHE, { recursive: true })
    const uv = openUv(interpreter)
    run([uv, 'venv', '--quiet', '--seed', '--python', interpreter.command, folder])
    const says = needs.saysPython === undefined ? [] : ['--python-version', needs.saysPython]
    const alone = needs.isAlone ? ['--no-deps'] : []
    run([uv, 'pip', 'install', '--python', python, ...says, ...alone, '--quiet', '--only-binary', ':all:', '-r', file])
    writeFileSync(`${complete}.new`, '')
    renameSync(`${complete}.new`, complete)
  }
  return {
    python,
    versionOf(name) {
      const [, version] = new RegExp(`^${name}==(.+)$`, 'm').exec(pinned) ?? []
      if (version === undefined) throw new Error(`${requirements} does not pin ${name}.`)
      return version
    },
  }
}

function locate(requirements: string, needs: PythonNeeds) {
  const file = fileURLToPath(new URL(`./python/requirements/${requirements}`, import.meta.url))
  const pinned = readFileSync(file, 'utf8')
  const interpreter = findPython(needs)
  const digest = createHash('sha256').update(`${interpreter.version}\n${pinned}`).digest('hex').slice(0, 12)
  const folder = `${CACHE}${requirements.replace('.txt', '')}-${digest}`
  // Written last, so that an environment which was interrupted is made anew.
  return { file, pinned, interpreter, folder, python: `${folder}/bin/python`, complete: `${folder}/complete` }
}

interface Interpreter {
  readonly command: string
  readonly version: string
}

function findPython({ least = LEAST_PYTHON, command }: PythonNeeds): Interpreter {
  const candidates = command ? [command] : ['python3', 'python3.13', 'python3.14']
  const problems: string[] = []
  for (const candidate of candidates) {
    const found = versionOf(candidate, least)
    if (typeof found !== 'string') return found
    problems.push(found)
  }
  throw new Error(problems.join('\n'))
}

/** Returns an interpreter, or why it cannot be used. */
function versionOf(command: string, least: readonly [major: number, minor: number]): Interpreter | string {
  const asked = ['-c', 'import sys, venv, ensurepip; print("%d.%d" % sys.version_info[:2])']
  const { status, stdout, stderr, error } = spawnSync(command, asked, { encoding: 'utf8' })
  const wanted = `The Python clients need ${command}, ${least.join('.')} or newer`
  if (error) return `${wanted}, on the PATH. ${error.message}`
  if (status !== 0)
    return `${wanted}, with its modules venv and ensurepip. On Debian and Ubuntu: apt-get install python3-venv\n${stderr.trim()}`
  const version = stdout.trim()
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major !== least[0] || minor < least[1]) return `${wanted}, and this one is ${version}.`
  return { command, version }
}

/** Returns the program uv, which is one file. Several processes may ask for it at once. */
function openUv({ command }: Interpreter): string {
  const uv = `${CACHE}${UV}`
  if (existsSync(uv)) return uv
  const folder = mkdtempSync(uv)
  run([command, '-m', 'venv', folder])
  run([`${folder}/bin/python`, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-compile', UV])
  renameSync(`${folder}/bin/uv`, uv)
  rmSync(folder, { recursive: true })
  return uv
}

function run([command = '', ...args]: readonly string[]): void {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, UV_CACHE_DIR: `${CACHE}uv-cache`, UV_PYTHON_DOWNLOADS: 'never' },
  })
  if (status === 0) return
  throw new Error(`${command} ${args.join(' ')} failed:\n${error?.message ?? `${stdout}${stderr}`.trim()}`)
}
