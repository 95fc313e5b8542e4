import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { type Check, runCheck, sayTally, slowest, total, type Verdict } from './verify/check.ts'
import { inShard, listChecks } from './verify/checks.ts'

// Checks the whole workspace. Every check runs, even when another one failed; the last line counts them.
//
//   pnpm verify            what a person waits for: lint, types, unit tests, the system tests of `packages`, and the
//                          README as printed; a package that has passed its tests is tested again once something that
//                          they depend on has changed
//   pnpm verify --quick    what is worth waiting for between two edits: lint, types, rooms, unit tests
//   pnpm verify --all      what CI runs: the tests of all packages, the packages as they are published, the examples,
//                          the chaos programs in their quick form, and clients in Python
//   pnpm verify --all --shard 2   the second of four parts of that, for a machine each: 1 what the others leave, 2 and
//                          3 half of the system tests each, 4 the programs of chaos and interop
//   pnpm verify --nightly  instead: properties with fresh seeds, and npm test where programs are missing; takes hours

/**
 * How many checks run side by side. Tests have a worker for each core, and wait often: for a browser, a database, or a
 * process that starts. What runs beside them uses that time.
 */
const AT_ONCE = 2

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
    nightly: { type: 'boolean', default: false },
    shard: { type: 'string' },
  },
})
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

const folder = await mkdtemp(join(tmpdir(), 'episodic-verify-'))
const verdicts: Verdict[] = []
const times: { readonly name: string; readonly seconds: number }[] = []
try {
  const checks = listChecks(folder, { all: options.all }).filter(isAsked)
  await runAll(options.shard === undefined ? checks : inShard(checks, Number(options.shard)))
} finally {
  await rm(folder, { recursive: true, force: true })
}

const minutes = (performance.now() / 60_000).toFixed(1)
if (!options.quick) console.log(`The slowest checks, of ${minutes} minutes:\n${indented(slowest(times).join('\n'))}`)
const result = total(verdicts)
if (stop.signal.aborted) console.log('Stopped before the last check.')
console.log(sayTally(result))
process.exitCode = stop.signal.aborted ? 130 : result.failed > 0 ? 1 : 0

function isAsked({ quick, all, nightly }: Check): boolean {
  if (options.nightly || nightly) return options.nightly && nightly === true
  return options.quick ? quick === true : options.all || !all
}

/** Starts each check, in order, once those that it comes after have ended and there is room for it. */
async function runAll(checks: readonly Check[]): Promise<void> {
  const waiting = new Set(checks)
  const running = new Map<Check, Promise<void>>()
  const left = (name: string) => [...waiting, ...running.keys()].some((check) => check.name === name)
  while (waiting.size + running.size > 0) {
    for (const check of waiting) {
      if (running.size === AT_ONCE || stop.signal.aborted) break
      if ([...running.keys()].some(({ alone }) => alone) || (check.alone && running.size > 0)) break
      if (check.after?.some(left)) continue
      waiting.delete(check)
      running.set(
        check,
        runAndPrint(check).finally(() => running.delete(check)),
      )
    }
    if (running.size === 0) break
    await Promise.race(running.values())
  }
}

async function runAndPrint(check: Check): Promise<void> {
  const start = performance.now()
  const verdict = await runCheck(check, stop.signal)
  if (stop.signal.aborted) return
  verdicts.push(verdict)
  const seconds = (performance.now() - start) / 1_000
  times.push({ name: check.name, seconds })
  const tally = verdict.passed + verdict.failed > 1 ? `, ${sayTally(verdict)}` : ''
  const mark = verdict.failed > 0 ? '✗' : verdict.passed > 0 ? '✓' : '–'
  console.log(`${mark} ${check.name} (${seconds.toFixed(1)} s${tally})`)
  // A check that checked nothing says why.
  if (verdict.failed > 0) console.log(`${indented(verdict.output)}\n    $ ${check.command.join(' ')}`)
  else if (verdict.passed === 0) console.log(indented(verdict.output))
  else if (check.shows) console.log(indented(linesOf(verdict.output, check.shows)))
  if (verdict.slowest) console.log(indented(verdict.slowest.join('\n')))
  if (verdict.unchanged?.length) console.log(indented(`passed before, and unchanged: ${verdict.unchanged.join(', ')}`))
}

function linesOf(output: string, pattern: RegExp): string {
  return output
    .split('\n')
    .filter((line) => pattern.test(line))
    .join('\n')
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '    ')
}
