import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serveConformance, serveWorld } from './server.ts'
import { listRequired, type Revision, runSuite, type Verdict } from './suite.ts'

// `pnpm conformance`: the official conformance suite of MCP, against our own front. Exits non-zero unless every scenario
// passes that a revision requires; nothing is excused.

/** What the suite asks of any server, tried with a world as it is served: its calls take a straight path of our own. */
const OF_A_WORLD: Readonly<Record<Revision, readonly string[]>> = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection', 'server-session-lifecycle'],
  '2026-07-28': ['server-stateless', 'tools-list', 'dns-rebinding-protection', 'http-header-validation'],
}

/** It calls a tool of the suite's own in two of its checks, which a world does not have. */
const NEEDS_THE_TOOLS = 'server-stateless'

/** What the suite asks of a client that neither logs in with OAuth nor answers questions, as ours does neither. */
const OF_OUR_CLIENT: Readonly<Record<Revision, readonly string[]>> = {
  '2025-11-25': ['initialize', 'tools_call', 'sse-retry'],
  '2026-07-28': [
    'tools_call',
    'request-metadata',
    'http-standard-headers',
    'http-custom-headers',
    'http-invalid-tool-headers',
    'json-schema-ref-no-deref',
  ],
}
const CLIENT = `${process.execPath} ${fileURLToPath(new URL('./client.ts', import.meta.url))}`

interface Row extends Verdict {
  readonly leg: string
  readonly required: boolean
}

const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
const rows: Row[] = []
try {
  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    await using server = await serveConformance()
    const required = await listRequired(revision, 'server')
    const verdicts = await runSuite(['server', '--url', server.url, '--requirements', revision], folder)
    const leg = `server ${revision}`
    for (const verdict of verdicts) rows.push({ leg, required: required.includes(verdict.scenario), ...verdict })
    // A scenario that was not run is one that did not pass.
    for (const scenario of required)
      if (!verdicts.some((verdict) => verdict.scenario === scenario))
        rows.push({ leg, required: true, scenario, passed: 0, failed: 0 })

    await using world = await serveWorld()
    for (const scenario of OF_A_WORLD[revision]) {
      const [verdict] = await runSuite(
        ['server', '--url', world.url, '--scenario', scenario, '--spec-version', revision],
        folder,
      )
      rows.push({ leg: `world ${revision}`, required: scenario !== NEEDS_THE_TOOLS, ...(verdict as Verdict) })
    }

    for (const scenario of OF_OUR_CLIENT[revision]) {
      const [verdict] = await runSuite(
        ['client', '--command', CLIENT, '--scenario', scenario, '--spec-version', revision],
        folder,
      )
      rows.push({ leg: `client ${revision}`, required: true, ...(verdict as Verdict) })
    }
  }
} finally {
  await rm(folder, { recursive: true })
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
