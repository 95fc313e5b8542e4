import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { QUICK_PROGRAMS, type QuickProgram } from '../../chaos/quick-programs.ts'
import type { Command } from '../run-command.ts'
import { listPublished, listRooms, pnpm, type Room, root } from '../workspace.ts'
import { type Check, type Counted, slowest } from './check.ts'
import { listTested, listUnchanged, notePassed, type TestedPackage } from './tested.ts'

/** Those whose environments are small; the system tests play with those in TypeScript. */
const QUICK_PARITY = 'python,gymnasium,openenv,openreward,ors-sdk'

/** Programs that a machine may lack, by what they belong to. */
const MISSING = {
  Redis: ['redis-server'],
  Chromium: ['chromium', 'chromium-browser', 'google-chrome'],
  strace: ['strace'],
  PostgreSQL: ['pg_ctlcluster', 'initdb', 'postgres', 'psql'],
  Python: ['python3', 'python', 'uv'],
}

/** All broken packages are reported together, and the others print nothing. */
const TURBO = ['--continue', '--output-logs=errors-only']

/**
 * Lists everything that `verify` checks, in the order in which the checks start: first what finds most mistakes
 * soonest. The system tests take longest, and the checks after them run beside them.
 *
 * @param folder An empty folder, for the tarballs and the reports of the tests.
 * @param all Whether packages are tested too that have passed their tests and not changed since, and the system tests
 *   of all packages instead of those of the core.
 */
export function listChecks(folder: string, { all }: { readonly all: boolean }): Check[] {
  const published = listPublished()
  const packages = listTested()
  const suite = join(folder, 'classics')
  return [
    { name: 'lint', command: script('lint'), quick: true },
    { name: 'types', command: script('typecheck'), quick: true },
    { name: 'rooms', command: script('rooms'), quick: true },
    { name: 'chance, time and logging', command: ['node', 'scripts/ambient.ts'], quick: true },
    { name: 'words', command: ['node', 'scripts/words.ts'], quick: true },
    { name: 'unused code', command: script('unused') },
    { name: 'counts', command: ['node', 'scripts/counts.ts'], quick: true },
    { name: 'limits only fall', command: ['node', 'scripts/falling-limits.ts'], quick: true },
    { name: 'trips', command: ['node', 'scripts/trip.ts'] },
    { name: 'exports', command: ['node', 'scripts/exports.ts'] },
    { name: 'site', command: ['node', 'scripts/check-site.ts', join(folder, 'site')], all: true },
    { name: 'code in docs', command: ['node', 'scripts/snippets.ts'] },
    { ...checkOfTests('unit', folder, packages, all), quick: true },
    checkOfTests('system', folder, packages, all),
    // Needs the ports 7337 and 8000, which no other check uses.
    { name: 'README and quick start, as printed', command: ['node', 'scripts/readme/readme-tour.ts'] },
    { name: 'conformance', command: script('conformance'), all: true },
    {
      name: 'clients in Python',
      command: ['node', 'interop/interop.ts', 'clients', '--only', 'mcp,fastmcp'],
      all: true,
    },
    {
      name: 'package in Python',
      command: ['node', 'interop/interop.ts', 'python', 'skyrl'],
      all: true,
    },
    {
      name: 'types of trainers',
      command: ['node', 'interop/interop.ts', 'python', 'trainers'],
      nightly: true,
      after: ['package in Python'],
    },
    {
      name: 'the same episodes at every endpoint',
      command: ['node', 'interop/interop.ts', 'parity', '--episodes', '6', '--only', QUICK_PARITY],
      all: true,
      // Two programs must not make the same environment at once.
      after: ['package in Python'],
    },
    {
      name: "environments of others' servers",
      command: ['node', 'interop/interop.ts', 'import'],
      all: true,
      after: ['the same episodes at every endpoint'],
    },
    {
      name: "reports in OpenEnv's own validation",
      command: ['node', 'interop/interop.ts', 'rfc-008'],
      all: true,
      after: ["environments of others' servers"],
    },
    {
      name: 'BFCL beside its original',
      command: ['node', 'interop/interop.ts', 'bfcl', '--quick'],
      all: true,
      after: ["reports in OpenEnv's own validation"],
    },
    {
      name: 'a world of AgentDojo beside its original',
      command: ['node', 'interop/interop.ts', 'agentdojo', '--quick', '--only', 'banking'],
      all: true,
      after: ['BFCL beside its original'],
    },
    {
      // τ² needs a checkout of its repository, which CI may not reach.
      name: 'benchmarks beside their originals, whole',
      command: ['node', 'interop/interop.ts', 'all', '--only', 'bfcl,agentdojo,tau2'],
      nightly: true,
    },
    {
      // A training is killed, and ends with equal bits: minutes, and an environment of 650 MB.
      name: 'a language model in Python',
      command: ['node', 'interop/interop.ts', 'python', 'language-model'],
      nightly: true,
    },
    {
      name: 'a public MCP server',
      command: [
        'node',
        'interop/interop.ts',
        'mcp-servers',
        '--only',
        'server-memory',
        '--episodes',
        '4',
        '--kills',
        '3',
      ],
      all: true,
    },
    {
      name: 'exact references of the classics',
      command: ['node', 'apps/harness/src/cli.ts', 'suite', 'run', 'classics', '--quick'],
      all: true,
    },
    {
      name: 'played references of the classics',
      command: ['node', 'apps/harness/src/cli.ts', 'suite', 'run', 'classics', '--episodes', '20', '--out', suite],
      all: true,
    },
    ...QUICK_PROGRAMS.map(checkOfChaos),
    { name: 'build', command: script('build', ...TURBO), all: true },
    { name: 'pack', command: packCommand(published, folder), all: true, after: ['build'] },
    { name: 'consumer', command: ['node', 'scripts/consumer.ts', folder], all: true, after: ['pack'] },
    {
      name: 'newcomer',
      command: ['node', 'scripts/newcomer.ts', folder],
      all: true,
      after: ['pack', 'package in Python'],
    },
    {
      name: 'packages and types as published',
      command: ['node', 'scripts/check-tarballs.ts', folder],
      all: true,
      after: ['pack'],
      count: async () => JSON.parse(await readFile(join(folder, 'tarballs.json'), 'utf8')),
    },
    ...listRooms().flatMap(checksOfExample),
    {
      // Ratios of CPU time to floors that are measured in turn, so that neither the machine nor its load decides.
      name: 'speed',
      command: ['node', 'bench/bench.ts', 'inprocess', 'http', 'transports', '--quick'],
      all: true,
      alone: true,
      shows: / of its floor, at least /,
    },
    { name: 'properties, with fresh seeds', command: ['node', 'scripts/fuzz.ts', '--rounds', '10'], nightly: true },
    ...Object.entries(MISSING).map(([name, programs]) => checkWithout(name, programs)),
    checkWithout('any of these', Object.values(MISSING).flat()),
  ]
}

/** Returns the checks of one of four machines, numbered from 1, which run all of them together. */
export function inShard(checks: readonly Check[], shard: number): Check[] {
  if (![1, 2, 3, 4].includes(shard)) throw new RangeError('A shard is 1, 2, 3 or 4.')
  const isProgram = ({ command }: Check) => command.some((part) => /^(interop|chaos)\//.test(part))
  const isSystem = ({ name }: Check) => name === SYSTEM_TESTS
  if (shard === 4) return checks.filter(isProgram)
  if (shard === 1) return checks.filter((check) => !isProgram(check) && !isSystem(check))
  const half = `--shard=${shard - 1}/2`
  return checks.filter(isSystem).map((check) => ({ ...check, command: [...check.command, half] }))
}

const SYSTEM_TESTS = 'system tests'

function checkOfTests(
  project: 'unit' | 'system',
  folder: string,
  packages: readonly TestedPackage[],
  all: boolean,
): Check {
  const report = join(folder, `${project}.json`)
  // A person waits for the system tests of the core alone: those of all others take most of the time.
  const asked = all || project === 'unit' ? packages : packages.filter(({ folder }) => folder.startsWith('packages/'))
  const unchanged = all ? [] : listUnchanged(project, asked)
  const changed = asked.filter((one) => !unchanged.includes(one))
  // The unit tests of the workspace itself read all of it.
  const own = project === 'unit' ? ['scripts'] : []
  const folders =
    changed.length < packages.length ? [...own, ...changed.map((one) => one.folder)].map((one) => `${one}/`) : []
  return {
    name: `${project} tests`,
    command: [
      'vitest',
      'run',
      '--project',
      project,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...folders,
    ],
    async count(ended) {
      const { files, ...counted } = await countTests(report)
      const failed = files.filter(({ status }) => status !== 'passed').map(({ name }) => relative(root, name))
      const passed = changed.filter((one) => !failed.some((file) => file.startsWith(`${one.folder}/`)))
      // What fails outside of any test may be of any package.
      if (ended || failed.length > 0) notePassed(project, passed)
      return { ...counted, unchanged: unchanged.map(({ name }) => name) }
    },
  }
}

function checkWithout(name: string, programs: readonly string[]): Check {
  const command: Command = ['node', 'scripts/verify/without-programs.ts', ...programs]
  return { name: `npm test without ${name}`, command, alone: true, nightly: true }
}

function checkOfChaos({ args, isTimed }: QuickProgram): Check {
  const command: Command = ['node', 'chaos/quick.ts', ...args]
  return { name: `chaos ${args.join(' ')}`, command, all: true, ...(isTimed && { after: [SYSTEM_TESTS] }) }
}

/** A script of the root, so that a check and the script that one runs by hand stay the same thing. */
function script(name: string, ...args: string[]): Command {
  return pnpm('run', name, ...args)
}

/** Packs with pnpm, the only packer that puts `publishConfig.exports` in the place of `exports`. */
export function packCommand(published: readonly Room[], folder: string): Command {
  const filters = published.map(({ name }) => `--filter=${name}`)
  return pnpm(...filters, 'pack', '--pack-destination', folder)
}

/** An example asserts what it shows and exits non-zero when it is wrong, so running it is a check. */
function checksOfExample({ name, folder, scripts }: Room): Check[] {
  if (!folder.startsWith('examples/')) return []
  return ['demo', 'example']
    .filter((script) => script in scripts)
    .map((script) => ({ name: `${script} ${name}`, command: pnpm(`--filter=${name}`, 'run', script), all: true }))
}

async function countTests(file: string): Promise<Counted & { readonly files: readonly TestFile[] }> {
  const report = JSON.parse(await readFile(file, 'utf8'))
  const files: TestFile[] = report.testResults
  const unloadable = files.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  )
  return {
    files,
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloadable.length,
    skipped: report.numPendingTests + report.numTodoTests,
    slowest: slowest(
      files.map(({ name, startTime, endTime }) => ({
        name: relative(root, name),
        seconds: (endTime - startTime) / 1_000,
      })),
    ),
  }
}

/** A file in the JSON report of vitest. Times in milliseconds. */
interface TestFile {
  readonly name: string
  readonly status: string
  readonly startTime: number
  readonly endTime: number
  readonly assertionResults: readonly unknown[]
}
