import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateTasks, type TasksDefinition } from '@episodic/dataset'
import { type Connection, connect, EnvError, type Environment } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { runEpisodes } from '@episodic/play/play/episodes/run-episodes'
import { planEpisodes } from '@episodic/play/play/plan/plan'
import { loadWorld, type World } from '@episodic/play/worlds/world'
import type { EpisodeRecord } from '@episodic/protocol'
import { createFold } from '@episodic/report/fold/fold'
import { seatRecordOf } from '@episodic/report/seats/seat-record'
import type { PlannedEpisode } from '@episodic/run/folder/plan/planned-episode'
import { readSealed, SealedFile } from '@episodic/run/folder/record/sealed-file'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { exampleWorld, nameOf } from '../../fixtures/episodic.fixture.ts'

/** What happens in an episode, or to the whole process that plays it. */
type Fate =
  | 'plays'
  | 'loses its server at reset'
  | 'loses its server at a step'
  | 'fails'
  | 'aborts all'
  | 'fills the disk'

const ROLLOUTS = 2
const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
const cleanUp = new AsyncDisposableStack()
let world: World
let connection: Connection
beforeAll(async () => {
  world = await loadWorld(exampleWorld('number-guessing'))
  const host = cleanUp.use(createHost({ environments: [world.environment] }))
  connection = cleanUp.use(await connect(inProcess(host)))
})
afterAll(async () => {
  await cleanUp.disposeAsync()
  rmSync(folder, { recursive: true })
})

const anyFate = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Fate>('plays') },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Fate>('loses its server at reset', 'loses its server at a step', 'fails'),
  },
  { weight: 1, arbitrary: fc.constantFrom<Fate>('aborts all', 'fills the disk') },
)
const anyRun = fc.record({
  tasks: fc.integer({ min: 1, max: 6 }),
  concurrency: fc.integer({ min: 1, max: 5 }),
  /** One list for each time that the run is started or resumed. Episodes past the end of a list play. */
  resumptions: fc.array(fc.array(anyFate, { maxLength: 12 }), { maxLength: 4 }),
})

/** Starts or resumes a run: plays the episodes that the file lacks, and applies the fates in order. */
async function resume(file: string, tasks: number, concurrency: number, fates: Fate[]): Promise<void> {
  const sealed = new Set((await readAll(file)).map(nameOf))
  const abort = new AbortController()
  const full = new Error('no room')
  let filled = false
  await using output = await SealedFile.open(file)
  const createEnvironment = (): Environment => {
    const fate = fates.shift() ?? 'plays'
    const inner = connection.environment()
    const lost = async () => {
      throw new EnvError('connection-failed', 'No answer.')
    }
    return {
      info: inner.info,
      reset: fate === 'loses its server at reset' ? lost : (...args) => inner.reset(...args),
      async step(...args) {
        if (fate === 'loses its server at a step') return lost()
        if (fate === 'fails') throw new Error('a mistake')
        if (fate === 'aborts all') abort.abort()
        if (fate === 'fills the disk') filled = true
        return inner.step(...args)
      },
      publish: (...args) => inner.publish(...args),
      snapshot: (...args) => inner.snapshot(...args),
      restore: (...args) => inner.restore(...args),
      fork: (...args) => inner.fork(...args),
      close: () => inner.close(),
      [Symbol.asyncDispose]: () => inner.close(),
    }
  }
  const plan = planEpisodes(rows(tasks), ROLLOUTS)
  await runEpisodes(lacking(plan, sealed), {
    run: 'test',
    createEnvironment,
    policy: world.solver!,
    seed: '0',
    discount: 1,
    concurrency,
    signal: abort.signal,
    async seal(record) {
      if (filled) throw full
      await output.append(record)
    },
  }).catch((error: unknown) => {
    // The one for a server that is gone, and the one above.
    if (error !== full && !(error instanceof Error && 'code' in error && error.code === 'server-failed')) throw error
  })
}

async function* rows(count: number) {
  yield* generateTasks(world.tasks as TasksDefinition, { seed: 'account', count })
}

async function* lacking(plan: AsyncIterable<PlannedEpisode>, sealed: ReadonlySet<string>) {
  for await (const planned of plan) if (!sealed.has(nameOf(planned))) yield planned
}

async function readAll(file: string): Promise<EpisodeRecord[]> {
  const records: EpisodeRecord[] = []
  if (existsSync(file)) for await (const record of readSealed(file)) records.push(seatRecordOf(record))
  return records
}

it('a run accounts for each of its episodes, with any failures and any number of resumptions', async () => {
  let runs = 0
  await fc.assert(
    fc.asyncProperty(anyRun, async ({ tasks, concurrency, resumptions }) => {
      const file = join(folder, `${runs++}.jsonl`)
      const scheduled = tasks * ROLLOUTS
      const earlier = new Map<string, string>()
      // Nothing fails after the last resumption.
      for (const fates of [...resumptions, []]) {
        await resume(file, tasks, concurrency, [...fates])
        const records = await readAll(file)
        expect(new Set(records.map(nameOf)).size).toBe(records.length)
        const fold = createFold()
        for (const record of records) {
          fold.add(record)
          // A failure is no zero, and what is sealed stays as it was sealed (invariant 3).
          expect(record.returns === null).toBe(record.outcome.kind === 'failed')
          const text = JSON.stringify(record)
          expect(earlier.get(nameOf(record)) ?? text).toBe(text)
          earlier.set(nameOf(record), text)
        }
        for (const name of earlier.keys()) expect(records.map(nameOf)).toContain(name)
        const { counts } = fold.finish({ name: 'test', scheduled })
        const failed = records.filter(({ outcome }) => outcome.kind === 'failed').length
        expect(counts).toMatchObject({ scheduled, failed, finished: records.length - failed })
        expect(counts.finished + counts.failed + counts.unresolved).toBe(scheduled)
      }
      expect(earlier.size).toBe(scheduled)
    }),
    { numRuns: 30 },
  )
})
