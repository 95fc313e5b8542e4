import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { readOrigins } from '@episodic/continue/origin/origins-file'
import type { FoundRun } from '@episodic/pages/server/folder/find-runs'
import type { StatesSource } from '@episodic/pages/server/states-source'
import { locateByName } from '@episodic/play/worlds/world'
import type { SealedRecord } from '@episodic/protocol'
import { sealedShape } from '@episodic/report/rows/sealed-shape'
import type { EpisodeStates } from '@episodic/report/view/state-changes'
import { shownPath } from '@episodic/run/base/console'
import pLimit from 'p-limit'
import { observedStates, unavailable } from './replay-states.ts'
import type { StatesData } from './states-thread-main.ts'

/** The code of a thread: beside this file in the source, and beside the bundle that contains this file. */
const ENTRY = new URL(`./states-thread-main.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url)

const SECONDS = 10
/** Megabytes of objects that a replay may keep. */
const MEGABYTES = 512
const AT_ONCE = 2
/** Characters of JSON that are kept of the last replays. */
const MOST_KEPT = 64 * 1024 ** 2

/**
 * Creates a source of states that replays episodes with their worlds. A world is loaded only if it is one of `given`,
 * or if the folder in which the server was started has it by its name; never because a run names a path or a package.
 *
 * @param given - names or paths of worlds, as the person who started the server gave them.
 */
export function createStatesSource(given: readonly string[]): StatesSource {
  const limit = pLimit(AT_ONCE)
  /** As JSON, by the hash of line and worlds; the last used at the end. */
  const kept = new Map<string, string>()
  const replay = async (data: StatesData): Promise<EpisodeStates> => {
    const key = hash('sha256', JSON.stringify([data, data.worlds.map(changedAt)]))
    const known = kept.get(key)
    if (known !== undefined) {
      kept.delete(key)
      kept.set(key, known)
      return JSON.parse(known)
    }
    const [states] = await limit(replayInThread, data)
    kept.set(key, JSON.stringify(states))
    let characters = [...kept.values()].reduce((sum, { length }) => sum + length, 0)
    for (const [oldest, { length }] of kept) {
      if (characters <= MOST_KEPT) break
      kept.delete(oldest)
      characters -= length
    }
    return states
  }
  return {
    async statesOf(run, row, seesPrivate) {
      const rows = await run.rows(true)
      const record = await rows.record(row)
      if (isOutside(run.found)) return observedStates(record)
      const worlds = worldsOf(record)
      if (worlds.length === 0) return noWorld(record)
      const lines = [(await rows.line(row)).toString('utf8')]
      const states = await replay({
        lines,
        worlds,
        madeOf: madeOf(run.found),
        origins: await readOriginLines(run.found, [record]),
      })
      return seesPrivate ? states : withoutPrivate(states)
    },
    async statesOfLines(run, lines, seesPrivate) {
      const records = lines.map((line) => sealedShape(JSON.parse(line)) as SealedRecord)
      if (isOutside(run)) return records.map(observedStates)
      const [first] = records
      if (!first) return []
      const worlds = worldsOf(first)
      if (worlds.length === 0) return records.map(noWorld)
      const origins = await readOriginLines(run, records)
      const states: EpisodeStates[] = []
      // What ends the thread is the fault of one episode: another thread goes on behind it.
      while (states.length < lines.length)
        states.push(
          ...(await replayInThread({ lines: lines.slice(states.length), worlds, madeOf: madeOf(run), origins })),
        )
      return seesPrivate ? states : states.map(withoutPrivate)
    },
  }

  function worldsOf({ environment: { name, version } }: SealedRecord): string[] {
    return [...given, ...[`${name}@${version}`, name].flatMap((one) => locateByName(one) ?? [])]
  }
}

function isOutside({ manifest }: Pick<FoundRun, 'manifest'>): boolean {
  return (manifest.configuration.environment.system ?? 'episodic') !== 'episodic'
}

function madeOf({ manifest: { sources } }: Pick<FoundRun, 'manifest'>): StatesData['madeOf'] {
  return sources?.world?.madeOf ?? null
}

async function readOriginLines(
  { folder }: Pick<FoundRun, 'folder'>,
  records: readonly SealedRecord[],
): Promise<string[]> {
  if (!records.some(({ origin }) => origin)) return []
  return [...(await readOrigins(folder)).values()].map(({ record }) => JSON.stringify(record))
}

function noWorld({ environment: { name } }: SealedRecord): EpisodeStates {
  return unavailable(
    `There is no world ${name} under worlds/ or examples/ of ${shownPath(process.cwd())}, where the command was started. Start it there, or with --world <path>.`,
  )
}

/** Replays lines up to the first one that ends the thread, whose states are unavailable. */
function replayInThread(data: StatesData): Promise<[EpisodeStates, ...EpisodeStates[]]> {
  const { promise, resolve } = Promise.withResolvers<[EpisodeStates, ...EpisodeStates[]]>()
  const worker = new Worker(ENTRY, { workerData: data, resourceLimits: { maxOldGenerationSizeMb: MEGABYTES } })
  const states: EpisodeStates[] = []
  const end = (why: string) => resolve([...states, unavailable(why)] as [EpisodeStates])
  const startTimer = () =>
    setTimeout(() => end(`The replay took longer than ${SECONDS} s and was stopped.`), SECONDS * 1_000)
  let timer = startTimer()
  worker.on('message', (one: EpisodeStates) => {
    states.push(one)
    clearTimeout(timer)
    if (states.length === data.lines.length) resolve(states as [EpisodeStates])
    else timer = startTimer()
  })
  worker.on('error', (error) => end(`The replay failed: ${(error as Error).message}`))
  worker.on('exit', () => end('The rules ended the thread in which they were replayed.'))
  return promise.finally(() => {
    clearTimeout(timer)
    void worker.terminate()
  })
}

/** When a module was last changed: a replay is kept only for the rules that made it. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function withoutPrivate(states: EpisodeStates): EpisodeStates {
  return {
    ...states,
    start: states.start && { ...states.start, private: null },
    steps: states.steps.map((step) => ({ ...step, private: [] })),
  }
}
