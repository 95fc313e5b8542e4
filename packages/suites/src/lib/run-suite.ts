import { setImmediate } from 'node:timers/promises'
import type { Console } from '@episodic/run/base/console'
import { VERSION } from '@episodic/run/base/own-package'
import { formatSource } from './get-data.ts'
import { checkGolden, type GoldenCheck } from './golden-check.ts'
import { agrees, scoreOf } from './mean-return.ts'
import { type PlayLineOptions, playLine, runFolder } from './play-line.ts'
import type { ExactLine, PlannedWorld, PlayedLine, ScoredLine, SuitePlan } from './suite-plan.ts'
import { countVerdicts, type LineResult, type PlayedFigures, type SuiteResult } from './suite-result.ts'

export interface RunSuiteOptions extends PlayLineOptions {
  /** The policy of the scored lines; `null` without them. */
  readonly policy: string | null
  readonly onLine: (world: string, line: string) => void
}

/** Measures and plays every line of a plan. Resolves with `null` if it was stopped. */
export async function runSuite(
  plan: SuitePlan,
  options: RunSuiteOptions,
  console: Console,
): Promise<SuiteResult | null> {
  const { name, version, sha256, seed, episodes, notReproduced, data } = plan
  const worlds: SuiteResult['worlds'][number][] = []
  for (const planned of plan.worlds) {
    const { world, entry } = planned
    if (planned.golden) options.onLine(planned.name, 'golden actions')
    const golden = planned.golden && (await checkGolden(world, planned.golden, options.signal))
    const lines = await runLines(planned, plan, options, console)
    if (!lines) return null
    const { environment, tasks } = world
    worlds.push({
      name: planned.name,
      environment: { name: environment.name, version: environment.version },
      tasks: tasks?.count ?? entry.tasks ?? null,
      golden: golden && { ...golden, differs: [...claimsOf(planned, golden), ...golden.differs] },
      defects: entry.defects,
      lines,
    })
  }
  return {
    format: 1,
    suite: { name, version, sha256 },
    versions: { episodic: VERSION, node: process.version },
    seed,
    episodes,
    policy: options.policy,
    worlds,
    counts: countVerdicts(worlds),
    notReproduced,
    sources: data?.sources.map((source) => ({ name: formatSource(source), licence: source.licence.name })) ?? [],
  }
}

function claimsOf({ world: { tasks }, entry }: PlannedWorld, { compared }: GoldenCheck): string[] {
  const found = { tasks: tasks?.count, golden: compared }
  return (['tasks', 'golden'] as const).flatMap((key) =>
    entry[key] === undefined || found[key] === undefined || entry[key] === found[key]
      ? []
      : [`the suite has ${entry[key]} as its number of "${key}", and there are ${found[key]}`],
  )
}

async function runLines(
  planned: PlannedWorld,
  plan: SuitePlan,
  options: RunSuiteOptions,
  console: Console,
): Promise<LineResult[] | null> {
  const results: LineResult[] = []
  for (const line of planned.lines) {
    // Measuring blocks: this lets a signal arrive.
    await setImmediate()
    if (options.signal.aborted) return null
    if (line.kind === 'exact') {
      results.push(measureLine(line))
      continue
    }
    options.onLine(planned.name, line.id)
    const played = await playLine(planned, line, plan, options, console)
    if (!played) return null
    results.push(compareLine(line, { ...played, run: runFolder(planned.world, line) }))
  }
  return results
}

/** Measures an exact line. Throws `suite-invalid` if the module cannot. */
function measureLine({ kind, id, quantity, params, reference, measure }: ExactLine): LineResult {
  const { value, holds } = measure()
  return { kind, id, quantity, params, reference, here: value, verdict: holds ? 'same' : 'differs' }
}

function compareLine(line: PlayedLine | ScoredLine, played: PlayedFigures): LineResult {
  const { here, failed } = played
  if (line.kind === 'scored') return { ...line, ...played, score: here && scoreOf(here, line.anchors) }
  const verdict = failed > 0 || !here ? 'not-checked' : agrees(here, line.reference) ? 'inside' : 'differs'
  return { ...line, ...played, verdict }
}
