import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { runCheck, sayTally, total, type Verdict } from './check.ts'
import { listChecks } from './checks.ts'

// Checks the whole workspace. Every check runs, even when one before it failed; the last line counts them.
//
//   pnpm verify            everything
//   pnpm verify --quick    what is worth waiting for between two edits: lint, types, rooms, tests

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

const folder = await mkdtemp(join(tmpdir(), 'episodic-verify-'))
const verdicts: Verdict[] = []
try {
  for (const check of listChecks(folder).filter(({ quick }) => quick || !options.quick)) {
    const start = performance.now()
    const verdict = await runCheck(check, stop.signal)
    if (stop.signal.aborted) break
    verdicts.push(verdict)
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    const tally = verdict.passed + verdict.failed > 1 ? `, ${sayTally(verdict)}` : ''
    console.log(`${verdict.failed === 0 ? '✓' : '✗'} ${check.name} (${seconds} s${tally})`)
    if (verdict.failed > 0) console.log(`${verdict.output.replaceAll(/^/gm, '    ')}\n    $ ${check.command.join(' ')}`)
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}

const result = total(verdicts)
if (stop.signal.aborted) console.log('Stopped before the last check.')
console.log(sayTally(result))
process.exitCode = stop.signal.aborted ? 130 : result.failed > 0 ? 1 : 0
