import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type GoldenCase, playGolden } from '@episodic/benchmarks/suite/golden'
import { loadWorld } from '@episodic/play/worlds/world'
import type { Console } from '@episodic/run/base/console'
import { HarnessError } from '@episodic/run/base/harness-error'
import { writeWhole } from '@episodic/run/base/own-files'
import { RUN_FILES } from '@episodic/run/folder/record/run-folder'
import { readSealed } from '@episodic/run/folder/record/sealed-file'
import { findGoldenState } from './golden-check.ts'
import { runSuite } from './run-suite.ts'
import { suiteFileSchema } from './suite-file.ts'
import { planSuite } from './suite-plan.ts'

const TASKS = 100

export interface WriteSuiteOptions {
  /** Default: `suites/<world>.suite.json`. */
  readonly out: string | undefined
  readonly signal: AbortSignal
}

/**
 * Writes the suite of a world: how many tasks it has, what its policy `nothing` solves, what its solver earns (in each
 * seat of several), and in a file of golden actions what the solver calls and what comes of it. Resolves with the
 * files; `null` if it was stopped.
 */
export async function writeSuite(reference: string, { out, signal }: WriteSuiteOptions, console: Console) {
  const world = await loadWorld(reference)
  const { environment, solver, policies } = world
  const name = environment.name.replace(/[^\w-]+/g, '-')
  const file = resolve(out ?? join('suites', `${name}.suite.json`))
  if (existsSync(file)) throw new HarnessError('run-exists', `${file} is there already. Give another --out.`)
  const tasks = world.tasks?.count ?? TASKS
  const measured = {
    world: existsSync(resolve(reference)) ? relative(dirname(file), fileURLToPath(world.url)) : reference,
    tasks,
    ...(Object.hasOwn(policies, 'nothing') && { floor: 0 }),
  }
  const { seats } = environment
  const players =
    seats.length > 1 ? { seats: Object.fromEntries(seats.map((seat) => [seat, 'solver'])) } : { policy: 'solver' }
  const solved = { id: 'solver', ...players, expected: 0, source: 'the solver of its author' }
  const suite = { format: 1, name, version: '1.0.0', episodes: Math.max(2, tasks) }
  const draft = { ...suite, worlds: [{ ...measured, played: solver ? [solved] : [] }] }
  const folder = mkdtempSync(join(tmpdir(), 'episodic-suite-'))
  try {
    const plan = await planSuite({ file, suite: suiteFileSchema.parse(draft), world: null })
    const options = { folder, policy: null, settings: {}, onLine() {}, resume: () => '', signal }
    const result = await runSuite(plan, options, console)
    if (!result) return null
    const figures = result.worlds[0]?.lines.flatMap((line) => (line.kind === 'played' ? [line] : [])) ?? []
    const floor = figures.find(({ id }) => id === 'floor')?.solved?.successes
    const [line] = figures.filter(({ id }) => id === 'solver')
    const cases = line?.here ? await recordGolden(world, join(folder, line.run, RUN_FILES.episodes)) : []
    const goldenFile = `${name}.golden.jsonl`
    const entry = {
      ...measured,
      ...(floor !== undefined && { floor }),
      ...(cases.length > 0 && { golden: cases.length, goldenFile }),
      played: line?.here ? [{ ...solved, expected: line.here.mean }] : [],
      defects: [],
    }
    const text = cases.map((one) => `${JSON.stringify(one)}\n`).join('')
    return [
      await writeWhole(file, `${JSON.stringify({ ...suite, worlds: [entry], notReproduced: [] }, null, 2)}\n`),
      ...(cases.length > 0 ? [await writeWhole(join(dirname(file), goldenFile), text)] : []),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function recordGolden(world: Awaited<ReturnType<typeof loadWorld>>, episodes: string): Promise<GoldenCase[]> {
  const goldenState = await findGoldenState(world)
  const cases: GoldenCase[] = []
  for await (const { task, params, seed, steps } of readSealed(episodes)) {
    const calls = steps.map((step) => ({ ...step.action, ...('seat' in step && { seat: step.seat }) }))
    const one = { task: String(params.task ?? task.id), params, seed, calls, expected: null }
    const { answers, state, solved } = await playGolden({ ...world, goldenState }, one)
    cases.push({ ...one, expected: { answers, state, solved } })
  }
  return cases
}
