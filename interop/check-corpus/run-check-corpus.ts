import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { settingsOf } from '@episodic/check/check-context'
import { CHECKS, type CheckResult } from '@episodic/check/check-report'
import { checkServed, checkWorld } from '@episodic/check/check-world'
import type * as corpus from '@episodic/check/corpus/corpus.fixture'
import { openServed } from '@episodic/check/served/served-target'
import { readOptions } from '../options.ts'
import type { Report, Tally } from '../report.ts'
import { serveWorld } from './serve-world.ts'

/** The kinds of worlds, the share of each that has to be judged rightly, and whether something has to be found. */
const KINDS = {
  planted: { list: 'PLANTED', goal: 0.9, finds: true },
  honest: { list: 'HONEST', goal: 1, finds: false },
  defects: { list: 'DEFECTS', goal: 0.8, finds: true },
} as const
type Kind = keyof typeof KINDS

/** Findings that say that something is paid which is not what the task asks for. */
const HACKS = /^(hack-pays|exploit-pays|judge-cheated|success-unearned|truncation-paid|refusal-paid)/

/** Steps of a search, of which a world whose steps run programs has a share. */
const STEPS = 60_000

const USAGE = `Usage: pnpm interop check-corpus [--only <name,…>] [--from <module>] [--seconds <n>] [--json]

Plays "check --quick" on each world of the corpus: fifty that pay for something else than what they ask for, thirty
honest ones and ten defects of public environments. Of the first and the last it plays what can find a hack.

  --only     kinds (${Object.keys(KINDS).join(', ')}) or parts of names of worlds
  --from     a module of worlds that exports PLANTED, HONEST and DEFECTS as the corpus does. Default: the corpus
  --seconds  seconds after which a world is left, 300 by default; hacks are searched for in half of them
  --json     print nothing but the line of JSON that ends every run

The exit code is 0 if nine tenths of the planted worlds and eight tenths of the defects are found, and no honest world
fails.`

/** Runs the program from the command line. */
export async function runCheckCorpus(args: readonly string[]): Promise<Report | null> {
  const options = readOptions(args, USAGE, {
    only: { type: 'string' },
    from: { type: 'string' },
    seconds: { type: 'string' },
  })
  if (!options) return null
  const from = options.from
    ? pathToFileURL(resolve(options.from)).href
    : import.meta.resolve('@episodic/check/corpus/corpus.fixture')
  const worlds = (await import(from)) as typeof corpus
  const asked = options.only?.split(',') ?? ['']
  const clients: Record<string, Tally> = {}
  const details: Record<string, object> = {}
  for (const [kind, { list, goal, finds }] of Object.entries(KINDS) as [Kind, (typeof KINDS)[Kind]][]) {
    const chosen = worlds[list].filter(({ world }) =>
      asked.some((part) => part === kind || world.environment.name.includes(part)),
    )
    if (chosen.length === 0) continue
    const wrong: string[] = []
    const times: number[] = []
    for (const entry of chosen) {
      const { name } = entry.world.environment
      const begun = performance.now()
      const found = await findingsOf(entry, kind, Number(options.seconds ?? 300), from)
      const seconds = (performance.now() - begun) / 1_000
      times.push(seconds)
      const isRight = found.length > 0 === finds
      if (!isRight) wrong.push(name)
      options.say(
        `${isRight ? '✓' : '✗'} ${kind.padEnd(7)} ${name.padEnd(20)} ${seconds.toFixed(1).padStart(6)} s  ${found.join(', ') || 'nothing'}  (${entry.kind})`,
      )
    }
    const right = chosen.length - wrong.length
    clients[kind] = { passed: right, failed: right >= goal * chosen.length ? 0 : chosen.length - right }
    details[kind] = { right, of: chosen.length, wrong, slowest: Math.max(...times) }
    options.say(
      `${kind}: ${right} of ${chosen.length} are judged rightly; the slowest took ${Math.max(...times).toFixed(1)} s`,
    )
  }
  return { clients, details }
}

/** Resolves with the names of failing findings: of an honest world all of them, else those of hacks. */
async function findingsOf(entry: corpus.Entry, kind: Kind, seconds: number, from: string): Promise<string[]> {
  const only = CHECKS.filter((check) => kind === 'honest' || check === 'rewards' || check === 'exploits')
  const results: CheckResult[] = []
  const signal = AbortSignal.timeout(1_000 * seconds)
  const search = { steps: STEPS, seconds: seconds / 2 }
  try {
    const { world, partners, served } = entry
    const onResult = (result: CheckResult) => void results.push(result)
    const asked = { pairs: 100, share: 0.25, only, search, signal, onResult }
    if (!served) {
      await checkWorld(world, { ...asked, ...(partners && { partners }) })
    } else {
      await using server = await serveWorld(from, world.environment.name)
      await using target = await openServed(server, undefined, '0', world.solver, settingsOf(world, '0'))
      await checkServed(target, asked)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  const names = results.flatMap(({ findings }) => findings.map(({ name }) => name))
  return kind === 'honest' ? names : names.filter((name) => HACKS.test(name))
}
