import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readOptions } from '../options.ts'
import { openPythonEnvironment, type PythonNeeds } from '../python-environment.ts'
import type { Report } from '../report.ts'
import { startPackageIndex } from './package-index.ts'

const PACKAGE = fileURLToPath(new URL('../../clients/python', import.meta.url))

/** Adapters, and an example, whose frameworks are large: each has an environment of its own, with what it needs. */
const NEEDS: Readonly<Record<string, PythonNeeds>> = {
  trl: {},
  'trl-trainer': {},
  inspect: {},
  verifiers: {},
  'language-model': {},
  skyrl: {},
  // Their files are read. What they import is several gigabytes.
  trainers: { isAlone: true },
}
const ADAPTERS = Object.keys(NEEDS)

const USAGE = `Usage: pnpm interop python [<adapter>...] [--json]

Tests the Python package episodic-env against a server: the client, its types, its adapter of Gymnasium,
and the files that are published. Further adapters are tested if they are named, because their frameworks are large.

  adapters: ${ADAPTERS.join(', ')}
  --json    print nothing but the line of JSON that ends every run

The exit code is 0 if every check passed, 1 if one did not, and 2 if the command is not understood or a
package cannot be installed.`

/** Runs the checks from the command line. */
export async function runPythonPackage(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {}, { allowPositionals: true })
  if (!options) return null
  const unknown = options.positionals.filter((name) => !ADAPTERS.includes(name))
  if (unknown.length > 0)
    throw new Error(`There is no adapter ${unknown.join(', ')}. There is: ${ADAPTERS.join(', ')}.`)
  const checks: { readonly name: string; readonly passed: boolean }[] = []
  const check = (name: string, python: string, ...command: readonly string[]) => {
    const { status } = spawnSync(python, [...command], {
      cwd: PACKAGE,
      stdio: ['ignore', options.json ? 'ignore' : 'inherit', 'inherit'],
      // Frameworks bring plugins of pytest, which change every test.
      env: { ...process.env, PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1' },
    })
    checks.push({ name, passed: status === 0 })
    options.say(`${status === 0 ? '✓' : '✗'} ${name}`)
  }

  const { python } = openPythonEnvironment('episodic-env.txt', (text) => console.error(text))
  check('lint', python, '-m', 'ruff', 'check', '--no-cache', '.')
  check('format', python, '-m', 'ruff', 'format', '--no-cache', '--check', '.')
  check('types', python, '-m', 'mypy', '--cache-dir', '/dev/null', 'src')
  check('tests', python, '-m', 'pytest', '-q')
  const folder = await mkdtemp(join(tmpdir(), 'episodic-env-'))
  try {
    check('build', python, '-m', 'build', '--no-isolation', '--outdir', folder, '.')
    const files = (await readdir(folder)).map((file) => join(folder, file))
    check('twine check', python, '-m', 'twine', 'check', '--strict', ...files)
    await using index = await startPackageIndex(python, join(folder, 'index'))
    check('upload', python, '-m', 'twine', 'upload', '--disable-progress-bar', ...index.uploadOptions, ...files)
    const installed = join(folder, 'installed')
    check(
      'install',
      python,
      '-m',
      'pip',
      'install',
      '-q',
      '--index-url',
      index.url,
      '--target',
      installed,
      'episodic-env',
    )
    checks.push({ name: 'py.typed', passed: existsSync(join(installed, 'episodic_env', 'py.typed')) })
    const program = `import sys; sys.path[:0] = [${JSON.stringify(installed)}]; import episodic_env; print(episodic_env.__file__)`
    check('import of what was installed', python, '-I', '-c', program)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }

  for (const name of options.positionals) {
    const adapter = openPythonEnvironment(`episodic-env-${name}.txt`, (text) => console.error(text), NEEDS[name])
    // Of the pages only the programs with this adapter: the others have run.
    const tests = ['-k', name.replace('-', '_'), `tests/test_${name.replace('-', '_')}.py`, 'tests/test_pages.py']
    check(`tests of ${name}`, adapter.python, '-m', 'pytest', '-q', ...tests)
  }

  const failed = checks.filter(({ passed }) => !passed)
  for (const { name } of failed) console.error(`✗ ${name}`)
  return { clients: { 'episodic-env': { passed: checks.length - failed.length, failed: failed.length } } }
}
