import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import {
  type GoldenCase,
  type GoldenResult,
  type GoldenWorld,
  type PlayedGolden,
  playGolden,
} from '@episodic/benchmarks/suite/golden'
import type { World } from '@episodic/play/worlds/world'
import { HarnessError } from '@episodic/run/base/harness-error'

export type WorldGolden = Pick<GoldenWorld, 'golden' | 'goldenState'>

export interface GoldenCheck {
  readonly equal: number
  readonly compared: number
  /** Tasks of which nothing was recorded. */
  readonly without: number
  readonly differs: readonly string[]
}

const MOST_NAMED = 3

/** Finds the golden actions of a world: in a file of JSON lines, or in its module. `null` if there are none. */
export async function findGolden(world: World, file: string | undefined, folder: string): Promise<WorldGolden | null> {
  const { golden }: Partial<GoldenWorld> = await import(world.url)
  const cases = file === undefined ? golden : () => readCases(resolve(folder, file))
  return cases ? { golden: cases, goldenState: await findGoldenState(world) } : null
}

/** Returns what is compared of the state of a world: what its module says, or else the whole private state. */
export async function findGoldenState({ url }: World): Promise<GoldenWorld['goldenState']> {
  const { goldenState = (state) => state.private }: Partial<GoldenWorld> = await import(url)
  return goldenState
}

function readCases(file: string): GoldenCase[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    return lines.map((line) => JSON.parse(line))
  } catch (cause) {
    const message = `${file} is no file of golden actions: ${(cause as Error).message}`
    throw new HarnessError('suite-invalid', message, { cause })
  }
}

/** Plays all golden actions of a world by its rules. Rejects with the reason of a signal. */
export async function checkGolden(
  { environment }: World,
  { golden, goldenState }: WorldGolden,
  signal: AbortSignal,
): Promise<GoldenCheck> {
  const counts = { equal: 0, compared: 0, without: 0 }
  const differs: string[] = []
  for (const one of golden()) {
    // Rules block: this lets a signal arrive.
    await setImmediate()
    signal.throwIfAborted()
    const played = await playGolden({ environment, goldenState }, one)
    if (!one.expected) counts.without += 1
    else {
      counts.compared += 1
      if (played.differs.length === 0 && played.failure === null) counts.equal += 1
      else if (differs.length < MOST_NAMED) differs.push(formatDifference(played, one.expected))
    }
  }
  return { ...counts, differs }
}

function formatDifference(played: PlayedGolden, expected: GoldenResult): string {
  const { task, differs, failure } = played
  const parts = differs.map((key) =>
    key === 'solved'
      ? `it is ${played.solved ? '' : 'not '}solved here`
      : `its ${key} differ${key === 'state' ? 's' : ''} (${played[key]} here, ${expected[key]} in the original)`,
  )
  return `task ${task}: ${[...(failure === null ? [] : [failure]), ...parts].join('; ')}`
}
