import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serveConformance, serveWorld } from './server.ts'
import { listRequired, type Revision, runSuite, type Verdict } from './suite.ts'
import { serveTurns } from './turns.ts'

// `pnpm conformance`: the official conformance suite of MCP, against our own HTTP server and client. Exits non-zero
// unless every scenario passes that is not in `NOT_SUPPORTED`, whether or not a revision requires it.

/** What the suite asks of any server, tried with an environment as users serve it. */
const OF_A_WORLD: Readonly<Record<Revision, readonly string[]>> = {
  '2025-11-25': ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection', 'server-session-lifecycle'],
  '2026-07-28': ['server-stateless', 'tools-list', 'dns-rebinding-protection', 'http-header-validation'],
}

/** What the suite asks of servers with the extension of tasks, which is not served here. */
const OF_TASKS = /^tasks-/

const NO_LIBRARY = 'no library does it for the client'

/** The scenarios that are not passed, by leg where only one leg does not, and why. No revision requires them. */
const NOT_SUPPORTED: Readonly<Record<string, string>> = {
  'world 2026-07-28 server-stateless': 'two of its checks call a tool that needs a capability of its client',
  'server-sse-polling': "a stream of the suite's server is not cut, so that nobody has to resume it",
  'http-custom-header-server-validation': 'no tool of a world repeats an argument in a header',
  'auth/enterprise-managed-authorization': NO_LIBRARY,
  'auth/dpop': NO_LIBRARY,
  'auth/dpop-nonce': NO_LIBRARY,
  'auth/wif-jwt-bearer': NO_LIBRARY,
}

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const CLIENT = `${process.execPath} --import ${fileOf('./take-turn.ts')} ${fileOf('./client.ts')}`

interface Row extends Verdict {
  readonly leg: string
}

// The suite starts a client for each scenario: all but the first find their code compiled.
process.env.NODE_COMPILE_CACHE ??= fileOf('../../node_modules/.cache/compiled')

const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
const rows: Row[] = []
process.env.CONFORMANCE_TURNS = join(folder, 'turns')
await using _turns = await serveTurns(process.env.CONFORMANCE_TURNS)
try {
  for (const revision of ['2025-11-25', '2026-07-28'] as const) {
    await using server = await serveConformance()
    const against = ['server', '--url', server.url, '--requirements', revision]
    rows.push(...(await countChecks('server', revision, against)))

    await using world = await serveWorld()
    for (const scenario of OF_A_WORLD[revision])
      rows.push({ leg: `world ${revision}`, ...(await runScenario(world.url, scenario, revision)) })

    const played = ['client', '--command', CLIENT, '--requirements', revision]
    rows.push(...(await countChecks('client', revision, played)))
  }
} finally {
  await rm(folder, { recursive: true })
}

/** Runs a scenario against a server. */
async function runScenario(url: string, scenario: string, revision: Revision): Promise<Verdict> {
  const against = ['server', '--url', url, '--scenario', scenario, '--spec-version', revision, '--force']
  const [verdict] = await runSuite(against, folder)
  return verdict as Verdict
}

/** Runs all scenarios of a revision for one leg of it. */
async function countChecks(leg: 'server' | 'client', revision: Revision, args: readonly string[]): Promise<Row[]> {
  const verdicts = await runSuite(args, folder)
  // A scenario that was not run is one that did not pass.
  const missing = (await listRequired(revision, leg)).filter(
    (scenario) => !verdicts.some((verdict) => verdict.scenario === scenario),
  )
  const none = missing.map((scenario) => ({ scenario, passed: 0, failed: 0 }))
  return [...verdicts, ...none]
    .filter(({ scenario }) => !OF_TASKS.test(scenario))
    .map((verdict) => ({ leg: `${leg} ${revision}`, ...verdict }))
}

const whyNot = ({ leg, scenario }: Row) => NOT_SUPPORTED[scenario] ?? NOT_SUPPORTED[`${leg} ${scenario}`]
const isPassed = ({ passed, failed }: Verdict) => failed === 0 && passed > 0
for (const row of rows) {
  const reason = isPassed(row) ? undefined : whyNot(row)
  const mark = isPassed(row) ? '✓' : reason ? '–' : '✗'
  const note = reason ? ` (not supported: ${reason})` : ''
  console.log(
    `${mark} ${row.leg.padEnd(18)} ${row.scenario.padEnd(46)} ${row.passed} passed, ${row.failed} failed${note}`,
  )
}
const asked = rows.filter((row) => !whyNot(row))
const missing = asked.filter((row) => !isPassed(row))
// A reason that is no longer true has to go.
const untrue = rows.filter((row) => whyNot(row) && isPassed(row))
for (const { leg, scenario } of untrue) console.error(`${leg} ${scenario} passes, and is said to be not supported.`)
const ok = missing.length + untrue.length === 0
console.log(
  JSON.stringify({
    name: 'conformance',
    ok,
    scenarios: asked.length,
    passed: asked.length - missing.length,
    checks: asked.reduce((sum, { passed }) => sum + passed, 0),
  }),
)
if (!ok) process.exitCode = 1
