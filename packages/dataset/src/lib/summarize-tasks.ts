import type { Split, Task } from '@episodic/protocol'
import type { Rows } from './rows.ts'

export interface Tally {
  /** Sorted by name. */
  readonly counts: Readonly<Record<string, number>>
  /** Occurrences of names beyond the bound. */
  readonly other: number
}

export interface LimitSummary {
  /** Rows with this limit; the others have the environment's. */
  readonly named: number
  /** `null` if no row has it. */
  readonly min: number | null
  readonly max: number | null
}

interface TaskSummary {
  readonly count: number
  readonly splits: Readonly<Record<Split, number>>
  /** By `name@version`. */
  readonly environments: Tally
  readonly tools: Tally
  readonly tags: Tally
  readonly difficulty: {
    /** Rows in ten bins of width 0.1; the last one includes 1. */
    readonly histogram: readonly number[]
    /** `null` if there are no rows, like `mean` and `max`. */
    readonly min: number | null
    readonly mean: number | null
    readonly max: number | null
  }
  readonly limits: Readonly<Record<'steps' | 'seconds' | 'bytes', LimitSummary>>
}

export interface SummarizeOptions {
  /** How many names each tally counts: the first that occur. Default: 1 000. */
  readonly names?: number
}

/** Counts rows in one pass, with bounded memory. */
export async function summarizeTasks(rows: Rows<Task>, { names = 1_000 }: SummarizeOptions = {}): Promise<TaskSummary> {
  const splits = { train: 0, validation: 0, test: 0 }
  const environments = createTally(names)
  const tools = createTally(names)
  const tags = createTally(names)
  const difficulty = createSpread()
  const histogram = new Array<number>(10).fill(0)
  const limits = { steps: createSpread(), seconds: createSpread(), bytes: createSpread() }
  for await (const task of rows) {
    splits[task.split] += 1
    environments.add(`${task.environment.name}@${task.environment.version}`)
    for (const tool of task.tools) tools.add(tool)
    for (const tag of task.tags) tags.add(tag)
    difficulty.add(task.difficulty)
    const bin = Math.min(9, Math.floor(task.difficulty * 10))
    histogram[bin] = (histogram[bin] ?? 0) + 1
    limits.steps.add(task.limits.steps)
    limits.seconds.add(task.limits.seconds)
    limits.bytes.add(task.limits.bytes)
  }
  const { named: count, min, mean, max } = difficulty.read()
  return {
    count,
    splits,
    environments: environments.read(),
    tools: tools.read(),
    tags: tags.read(),
    difficulty: { histogram, min, mean, max },
    limits: { steps: limitOf(limits.steps), seconds: limitOf(limits.seconds), bytes: limitOf(limits.bytes) },
  }
}

function createTally(room: number) {
  const counts = new Map<string, number>()
  let other = 0
  return {
    add(name: string): void {
      const count = counts.get(name)
      if (count === undefined && counts.size >= room) other += 1
      else counts.set(name, (count ?? 0) + 1)
    },
    read: (): Tally => ({
      counts: Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
      other,
    }),
  }
}

type Spread = ReturnType<typeof createSpread>

function createSpread() {
  let named = 0
  let sum = 0
  let min: number | null = null
  let max: number | null = null
  return {
    add(value: number | undefined): void {
      if (value === undefined) return
      named += 1
      sum += value
      min = Math.min(min ?? value, value)
      max = Math.max(max ?? value, value)
    },
    read: () => ({ named, min, mean: named === 0 ? null : sum / named, max }),
  }
}

function limitOf(spread: Spread): LimitSummary {
  const { named, min, max } = spread.read()
  return { named, min, max }
}
