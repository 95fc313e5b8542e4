import type { EpisodeRecord } from '@episodic/protocol'
import { isSuccess } from './scored-outcome.ts'
import type { Summary } from './summary.ts'

/** Parts into which the draws of a run are divided, and some more where a stage ends within one. */
const PARTS = 20

interface Draw {
  readonly task: string
  readonly difficulty: number
  readonly stage: string | null
  readonly outcomes: Map<number, number>
}

export function createDrawFold() {
  const draws = new Map<number, Draw>()
  return {
    add(record: EpisodeRecord) {
      const { curriculum, task, attempt } = record
      // A curriculum learns of first plays only.
      if (!curriculum || record.try > 0) return
      const { draw: number, stage } = curriculum
      const draw = draws.get(number) ?? { task: task.id, difficulty: task.difficulty, stage, outcomes: new Map() }
      draws.set(number, draw)
      const outcome = record.outcome.kind === 'failed' ? 0 : isSuccess(record) ? 2 : 1
      draw.outcomes.set(attempt, Math.max(outcome, draw.outcomes.get(attempt) ?? 0))
    },
    finish(): Summary['curriculum'] {
      if (draws.size === 0) return null
      const numbers = [...draws.keys()].sort((a, b) => a - b)
      const width = Math.ceil(((numbers.at(-1) as number) + 1) / PARTS)
      const parts = Map.groupBy(numbers, (number) =>
        JSON.stringify([Math.floor(number / width), draws.get(number)?.stage]),
      )
      return [...parts.values()].map((part) => courseOf(part, draws))
    },
  }
}

function courseOf(numbers: readonly number[], draws: ReadonlyMap<number, Draw>) {
  const drawn = numbers.map((number) => draws.get(number) as Draw)
  const outcomes = drawn.flatMap((draw) => [...draw.outcomes.values()])
  const played = outcomes.filter((outcome) => outcome > 0)
  const successes = played.filter((outcome) => outcome === 2).length
  return {
    from: numbers[0] as number,
    to: (numbers.at(-1) as number) + 1,
    stage: drawn[0]?.stage ?? null,
    tasks: new Set(drawn.map(({ task }) => task)).size,
    difficulty: drawn.reduce((sum, { difficulty }) => sum + difficulty, 0) / drawn.length,
    successes,
    count: played.length,
    failed: outcomes.length - played.length,
    rate: played.length === 0 ? null : successes / played.length,
  }
}
