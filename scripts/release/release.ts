import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { openPythonEnvironment } from '../../interop/python-environment.ts'
import { type Command, type CommandResult, runCommand } from '../run-command.ts'
import { listPublished, root } from '../workspace.ts'
import { listChangesets } from './list-changesets.ts'
import { publishPacked } from './publish.ts'
import { unpublishedLine } from './unpublished.ts'

// Releases the version that the manifests have: verifies everything, builds and packs the packages for npm and the one
// for PyPI, and uploads what the registries do not have yet. It may be begun again after any failure.
//
//   pnpm release              needs a login at npm and at PyPI, or to run as the workflow Release
//   pnpm release --dry-run    every step but the uploads
//
// Before it, `pnpm version:all` makes the version and the changelogs out of the changesets.

const { values: options } = parseArgs({ options: { 'dry-run': { type: 'boolean', default: false } } })
const isDry = options['dry-run']
const PYTHON = join(root, 'clients/python')

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

const folder = await mkdtemp(join(tmpdir(), 'episodic-release-'))
try {
  const version = await readVersion()
  await step('verify', ['node', 'scripts/verify.ts', '--all'])
  await step('pack', ['node', 'scripts/release/pack.ts', folder])
  const { python } = openPythonEnvironment('episodic-env.txt', (text) => console.log(text))
  const files = await buildPython(python)
  const uploaded = await publishPacked(folder, (args) => run(['npm', ...args]), { isDry })
  console.log(`${isDry ? 'Would be uploaded' : 'Uploaded'} to npm: ${uploaded.join(', ') || 'nothing new'}`)
  if (isDry) console.log(`Would be uploaded to PyPI: ${files.map((file) => basename(file)).join(', ')}`)
  else {
    await step('upload to PyPI', [python, '-m', 'twine', 'upload', '--skip-existing', ...files])
    // The workflow makes a release of each tag that is printed.
    console.log(await step('tag', ['changeset', 'git-tag']))
  }
  console.log(`${version}: ${isDry ? 'everything but the uploads is done' : 'released'}`)
} catch (cause) {
  console.error((cause as Error).message)
  process.exitCode = 1
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** The version of all packages. Throws if changesets are left, or if packages differ. */
async function readVersion(): Promise<string> {
  const left = listChangesets()
  if (left.length > 0)
    throw new Error(`${left.length} changesets are in no changelog yet: run pnpm version:all, and commit.`)
  const [, python = ''] = /^version = "(.+)"$/m.exec(await readFile(join(PYTHON, 'pyproject.toml'), 'utf8')) ?? []
  if (unpublishedLine() !== null)
    throw new Error('Pages say that nothing is published yet: run pnpm version:all, and commit.')
  const versions = new Set([python, ...listPublished().map((room) => room.version)])
  if (versions.size > 1)
    throw new Error(`All packages have one version, that in Python too. There are ${[...versions].join(', ')}.`)
  return python
}

/** Builds and checks what is uploaded to PyPI, and returns the paths of its files. */
async function buildPython(python: string): Promise<string[]> {
  await step('build for PyPI', [python, '-m', 'build', '--no-isolation', '--outdir', folder, PYTHON])
  const files = (await readdir(folder))
    .filter((file) => /\.(whl|tar\.gz)$/.test(file))
    .map((file) => join(folder, file))
  await step('check for PyPI', [python, '-m', 'twine', 'check', '--strict', ...files])
  return files
}

/** Runs a step and returns its output. Throws with the output if it fails. */
async function step(name: string, command: Command): Promise<string> {
  console.log(`… ${name}`)
  const { code, output } = await run(command)
  if (code !== 0) throw new Error(`${output}\n${name} failed: ${command.join(' ')}`)
  return output.trim()
}

function run(command: Command): Promise<CommandResult> {
  return runCommand(command, { signal: stop.signal })
}
