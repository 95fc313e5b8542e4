import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serveConformance, serveWorld } from './server.ts'
import { listRequired, type Revision, runSuite, type Verdict } from './suite.ts'

// `pnpm conformance`: the official conformance suite of MCP, against our own HTTP server. Exits non-zero unless every
// scenario passes that a revision requires, without exceptions.

/** What the suite asks of any server, tried with an environment as users serve it. */
const OF_A_WORLD: Readonly<Record<Revision, readonly string[]>> = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection', 'server-session-lifecycle'],
  '2026-07-28': ['server-stateless', 'tools-list', 'dns-rebinding-protection', 'http-header-validation'],
}

/** It calls a tool of the suite's own in two of its checks, which a world does not have. */
const NEEDS_THE_TOOLS = 'server-stateless'

const CLIENT = `${process.execPath} ${fileURLToPath(new URL('./client.ts', import.meta.url))}`

interface Row extends Verdict {
  readonly leg: string
  readonly required: boolean
}

// The suite starts a client for each scenario: all but the first find their code compiled.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))

const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
const rows: Row[] = []
try {
  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    await using server = await serveConformance()
    const against = ['server', '--url', server.url, '--requirements', revision]
    rows.push(...(await countChecks('server', revision, against)))

    await using world = await serveWorld()
    for (const scenario of OF_A_WORLD[revision]) {
      const [verdict] = await runSuite(
        ['server', '--url', world.url, '--scenario', scenario, '--spec-version', revision],
        folder,
      )
      rows.push({ leg: `world ${revision}`, required: scenario !== NEEDS_THE_TOOLS, ...(verdict as Verdict) })
    }

    const played = ['client', '--command', CLIENT, '--requirements', revision]
    rows.push(...(await countChecks('client', revision, played)))
  }
} finally {
  await rm(folder, { recursive: true })
}

/** Runs all scenarios of a revision for one leg of it, and says which of them it requires. */
async function countChecks(leg: 'server' | 'client', revision: Revision, args: readonly string[]): Promise<Row[]> {
  const required = await listRequired(revision, leg)
  const verdicts = await runSuite(args, folder)
  // A scenario that was not run is one that did not pass.
  const missing = required.filter((scenario) => !verdicts.some((verdict) => verdict.scenario === scenario))
  const none = missing.map((scenario) => ({ scenario, passed: 0, failed: 0 }))
  return [...verdicts, ...none].map((verdict) => ({
    leg: `${leg} ${revision}`,
    required: required.includes(verdict.scenario),
    ...verdict,
  }))
}

const isPassed = ({ passed, failed }: Verdict) => failed === 0 && passed > 0
for (const row of rows) {
  const mark = isPassed(row) ? '✓' : row.required ? '✗' : '–'
  const note = row.required ? '' : ' (not required)'
  console.log(
    `${mark} ${row.leg.padEnd(18)} ${row.scenario.padEnd(46)} ${row.passed} passed, ${row.failed} failed${note}`,
  )
}
const required = rows.filter((row) => row.required)
const missing = required.filter((row) => !isPassed(row))
const ok = missing.length === 0
console.log(
  JSON.stringify({
    name: 'conformance',
    ok,
    required: required.length,
    passed: required.length - missing.length,
    checks: required.reduce((sum, { passed }) => sum + passed, 0),
  }),
)
if (!ok) process.exitCode = 1
