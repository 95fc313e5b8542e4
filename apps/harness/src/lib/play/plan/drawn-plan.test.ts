import type { Episode } from '@episodic/env'
import { type SealedRecord, seedFor, type Task } from '@episodic/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CurriculumConfiguration } from '../../run-folder/plan/curriculum-settings.ts'
import { runPlan } from '../episodes/run-plan.ts'
import { sealEpisode } from '../record/seal-episode.ts'
import { createDrawnPlan } from './drawn-plan.ts'
import { unsealed } from './plan.ts'
import { createTries } from './tries.ts'

const tasks = Array.from({ length: 12 }, (_, i) => ({
  id: `task-${String(i).padStart(2, '0')}`,
  environment: { name: 'world', version: '1.0.0' },
  tools: [],
  prompt: '',
  hints: [],
  params: {},
  seed: String(i),
  difficulty: i / 12,
  limits: {},
  split: 'train' as const,
  tags: [],
  metadata: {},
})) satisfies Task[]

async function* pool() {
  yield* tasks
}

const adaptive = { kind: 'adaptive', draws: 40, target: 0.5, focus: 3, explore: 0.1, lag: 6 } as const
const staged = {
  kind: 'staged',
  stages: [
    { name: 'easy', episodes: 15, difficulty: [0, 0.5] },
    { name: 'hard', episodes: 25, difficulty: [0.5, 1] },
  ],
} satisfies CurriculumConfiguration

/** How an episode ends, which depends on its name alone. One in twelve fails. */
function endOf(task: Task, attempt: number): 'success' | 'defeat' | 'failure' {
  const number = Number.parseInt(seedFor('end', task.id, attempt).slice(0, 8), 16) % 12
  return number === 0 ? 'failure' : number > 12 * task.difficulty ? 'success' : 'defeat'
}

function episodeOf(task: Task, attempt: number): Episode {
  const end = endOf(task, attempt)
  const info = { id: null, capability: null, params: {}, seed: task.seed, limits: {}, potential: null }
  const start = { observation: { text: '' }, info } as unknown as Extract<Episode, { kind: 'finished' }>['start']
  if (end === 'failure') return { kind: 'failed', start, steps: [], cause: new Error('failed'), undecided: [] }
  return { kind: 'finished', start, steps: [], end: { kind: 'terminated', reason: 'over' }, success: end === 'success' }
}

interface Play {
  readonly curriculum: CurriculumConfiguration
  readonly rollouts: number
  readonly inFlight: number
  /** Lines that an earlier part of the run has sealed. */
  readonly sealed?: readonly SealedRecord[]
  /** The run is interrupted when so many lines are sealed. */
  readonly until?: number
  readonly scheduler?: fc.Scheduler
}

/** Plays a run, or the rest of one, and returns all of its lines. */
async function play({ curriculum, rollouts, inFlight, sealed = [], until, scheduler }: Play): Promise<SealedRecord[]> {
  const drawn = await createDrawnPlan({ curriculum, seed: 's', rollouts, branch: [] }, pool())
  const tries = createTries({ most: 1 })
  const lines = [...sealed]
  for (const line of lines) {
    tries.add(line)
    drawn.note(line)
  }
  const stop = new AbortController()
  const running = runPlan(drawn.played(unsealed(drawn.episodes(), 1, tries.next)), {
    run: 'run',
    inFlight,
    signal: stop.signal,
    onEnded: drawn.ended,
    async runTask(planned, { signal }) {
      await scheduler?.schedule(Promise.resolve(), planned.task.id)
      if (signal.aborted) return []
      const policy = { name: 'policy', seed: '' }
      const time = { started: 0, ended: 0 }
      return [sealEpisode(episodeOf(planned.task, planned.attempt), planned, { run: 'run', policy, discount: 1, time })]
    },
    async seal(record) {
      lines.push(record)
      drawn.note(record)
      if (lines.length === until) stop.abort(new Error('interrupted'))
    },
  })
  await (scheduler ? scheduler.waitFor(running) : running)
  return lines
}

/** The lines in the order of their draws. */
function inOrder(lines: readonly SealedRecord[]): SealedRecord[] {
  return lines.toSorted((a, b) => (a.curriculum?.draw ?? 0) - (b.curriculum?.draw ?? 0) || a.attempt - b.attempt)
}

describe('createDrawnPlan', () => {
  it.each([
    { name: 'an adaptive curriculum', curriculum: adaptive, rollouts: 1 },
    { name: 'an adaptive curriculum with several rollouts of a draw', curriculum: adaptive, rollouts: 3 },
    { name: 'a staged curriculum', curriculum: staged, rollouts: 1 },
  ])(
    'plays the same in any order of ends, however many at once, and wherever it was interrupted: $name',
    async (one) => {
      const alone = inOrder(await play({ ...one, inFlight: 1 }))
      expect(alone).toHaveLength(40 * one.rollouts)
      expect(alone.some(({ outcome }) => outcome.kind === 'failed')).toBe(true)
      await fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.integer({ min: 1, max: 20 }),
          fc.integer({ min: 1, max: 45 }),
          async (scheduler, inFlight, until) => {
            const sealed = await play({ ...one, inFlight, until, scheduler })
            const lines = await play({ ...one, inFlight: 21 - inFlight, sealed, scheduler })
            expect(inOrder(lines)).toEqual(alone)
          },
        ),
        { numRuns: 40 },
      )
    },
  )

  it('draws later tasks by the outcomes of those before, and not before they are known', async () => {
    const course = async (curriculum: CurriculumConfiguration) =>
      inOrder(await play({ curriculum, rollouts: 1, inFlight: 8 })).map(({ task }) => task.id)
    const early = await course(adaptive)
    const late = await course({ ...adaptive, lag: 40 })
    // Both draw without outcomes at first; after `lag` draws, one of them knows some.
    expect(early.slice(0, 6)).toEqual(late.slice(0, 6))
    expect(early).not.toEqual(late)
  })

  it('names the stage of each draw', async () => {
    const lines = inOrder(await play({ curriculum: staged, rollouts: 1, inFlight: 4 }))
    expect(lines.map(({ curriculum }) => curriculum?.stage)).toEqual([
      ...new Array(15).fill('easy'),
      ...new Array(25).fill('hard'),
    ])
    expect(lines.slice(15).every(({ task }) => task.difficulty >= 0.5)).toBe(true)
  })

  it('ends before a draw whose outcomes are missing, because an episode was dropped', async () => {
    const drawn = await createDrawnPlan({ curriculum: adaptive, seed: 's', rollouts: 1, branch: [] }, pool())
    let played = 0
    for await (const planned of drawn.played(drawn.episodes())) {
      played += 1
      drawn.ended(planned)
    }
    expect(played).toBe(adaptive.lag)
  })

  it('refuses a stage without tasks', async () => {
    const stages = [{ name: 'none', episodes: 1, difficulty: [0.95, 1] as [number, number] }]
    const created = createDrawnPlan(
      { curriculum: { kind: 'staged', stages }, seed: 's', rollouts: 1, branch: [] },
      pool(),
    )
    await expect(created).rejects.toThrow(expect.objectContaining({ code: 'option-invalid' }))
  })

  it('refuses to draw from more tasks than there are', async () => {
    const curriculum = { ...adaptive, focus: tasks.length + 1 }
    const planned = createDrawnPlan({ curriculum, seed: 's', rollouts: 1, branch: [] }, pool())
    await expect(planned).rejects.toThrow('focus=13 draws from more tasks than there are: 12')
  })
})
