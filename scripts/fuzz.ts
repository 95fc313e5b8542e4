/**
 * `pnpm fuzz [filter…] [--rounds <count>] [--seed <number>]`: runs the properties of the tests with
 * fresh seeds, and prints each counterexample as the fixed case to add. `npm test` runs them with one fixed seed.
 *
 * Exits with 1 if a test failed, and with 2 for wrong options.
 */
import { randomInt } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { runCommand } from './run-command.ts'
import { root } from './workspace.ts'

/** Seeds of fast-check are 32-bit. */
const SEEDS = 2 ** 31

interface Failure {
  readonly file: string
  readonly title: string
  readonly message: string
}

let options: ReturnType<typeof readOptions>
try {
  options = readOptions()
} catch (error) {
  console.error(`${(error as Error).message}\nUsage: pnpm fuzz [filter…] [--rounds <count>] [--seed <number>]`)
  process.exit(2)
}
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

// Tests, and the contracts and fixtures that tests import.
const files = globSync('{packages,satellites,apps,examples,bench,chaos,interop}/**/*.ts', {
  cwd: root,
  exclude: (name) => name.endsWith('node_modules'),
}).filter(
  (file) =>
    readFileSync(join(root, file), 'utf8').includes("from 'fast-check'") &&
    (options.filters.length === 0 || options.filters.some((filter) => file.includes(filter))),
)
if (files.length === 0) {
  console.error(`No test with properties has ${options.filters.join(' or ')} in its path.`)
  process.exit(2)
}

let failed = 0
let played = 0
for (let round = 0; round < options.rounds && !stop.signal.aborted; round++) {
  const seed = options.seed ?? randomInt(SEEDS)
  const failures = await play(seed)
  if (stop.signal.aborted) break
  played++
  failed += failures.length
  console.log(`round ${round + 1} of ${options.rounds}, seed ${seed}: ${failures.length} failed`)
  for (const failure of failures) console.log(formatFailure(failure, seed))
}
console.log(`${played} seeds, ${failed} failed`)
process.exitCode = stop.signal.aborted ? 130 : failed > 0 ? 1 : 0

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { rounds: { type: 'string', default: '10' }, seed: { type: 'string' } },
  })
  const whole = (name: string, text: string) => {
    if (!/^\d{1,10}$/.test(text)) throw new Error(`--${name} ${text} is not a whole number.`)
    return Number(text)
  }
  return {
    filters: positionals,
    rounds: whole('rounds', values.rounds),
    seed: values.seed === undefined ? undefined : whole('seed', values.seed),
  }
}

async function play(seed: number): Promise<Failure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'episodic-fuzz-'))
  try {
    const report = join(folder, 'report.json')
    const command = ['vitest', 'related', '--run', '--reporter=json', `--outputFile.json=${report}`, ...files] as const
    const { output } = await runCommand(command, {
      signal: stop.signal,
      env: { EPISODIC_PROPERTY_SEED: String(seed) },
    })
    if (stop.signal.aborted) return []
    const text = await readFile(report, 'utf8').catch(() => {
      throw new Error(`The tests did not run:\n${output}`)
    })
    return failuresOf(JSON.parse(text))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

function failuresOf({ testResults }: Report): Failure[] {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(root, name)
    if (status === 'failed' && assertionResults.length === 0) return [{ file, title: 'does not load', message }]
    return assertionResults
      .filter((result) => result.status === 'failed')
      .map(({ fullName, failureMessages }) => ({ file, title: fullName, message: failureMessages.join('\n') }))
  })
}

function formatFailure({ file, title, message }: Failure, seed: number): string {
  const again = `EPISODIC_PROPERTY_SEED=${seed} npx vitest run ${file}`
  const [, counterexample] = /^Counterexample: (.*)$/m.exec(message) ?? []
  const add = counterexample
    ? [`add to the parameters of its fc.assert: examples: [${counterexample}]`]
    : message.split('\n').slice(0, 10)
  return [`${file}: ${title}`, ...add, `again: ${again}`].join('\n    ')
}
