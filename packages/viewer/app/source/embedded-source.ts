import {
  decodeColumns,
  type EmbeddedRun,
  type EmbeddedRuns,
  type EpisodeColumns,
  type FoundText,
  findInRecord,
  type RowWords,
  type SearchHit,
  type SearchProgress,
} from '@episodic/report'
import { createGradeStore } from './grade-store.ts'
import { type SearchQuery, type Source, SourceError } from './source.ts'

const MOST_TASKS = 20
const MOST_HITS = 500
/** Lines that are searched before others get a turn: the page stays responsive. */
const LINES_AT_ONCE = 50

/** Reads the data that a page contains: JSON, gzipped, in base64. Throws a `SourceError` if it cannot be read. */
export async function unpackEmbedded(base64: string): Promise<EmbeddedRuns> {
  let content: EmbeddedRuns
  try {
    const unzipped = new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream('gzip'))
    content = JSON.parse(await new Response(unzipped).text())
  } catch (cause) {
    throw new SourceError('damaged', `The data of this page cannot be read: ${(cause as Error).message}`)
  }
  if (content.format !== 1) throw new SourceError('damaged', `The data of this page has format ${content.format}.`)
  return content
}

/** A source over the data within the page. What was left out of it is not there, and every answer says so. */
export function createEmbeddedSource(content: EmbeddedRuns): Source {
  const runs = new Map(content.runs.map((run) => [run.detail.entry.id, run]))
  const columns = new Map<string, EpisodeColumns>()
  const store = createGradeStore()
  const listeners = new Set<(run: string | null) => void>()
  const runOf = async (id: string): Promise<EmbeddedRun> => {
    const run = runs.get(id)
    if (!run) throw new SourceError('run-unknown', `This file does not contain the run ${id}.`)
    return run
  }
  return {
    can: { states: true, grade: store !== null, watch: false },
    withheld: content.withheld,
    runs: async () => content.runs.map(({ detail }) => detail.entry),
    run: async (id) => (await runOf(id)).detail,
    listing: async (id) => (await runOf(id)).detail,
    async columns(id) {
      const run = await runOf(id)
      const known = columns.get(id) ?? decodeColumns(bytesOf(run.columns))
      columns.set(id, known)
      return known
    },
    async words(id, rows) {
      const { words } = await runOf(id)
      return rows.flatMap((row) => words[row] ?? [])
    },
    async tasks(id, prefix) {
      const { words } = await runOf(id)
      const tasks = new Map<string, { prompt: string; rows: number[] }>()
      for (const { row, task, prompt } of words) {
        if (!task.startsWith(prefix)) continue
        const known = tasks.get(task)
        if (known) known.rows.push(row)
        else if (tasks.size < MOST_TASKS) tasks.set(task, { prompt, rows: [row] })
      }
      return [...tasks].map(([task, found]) => ({ task, ...found }))
    },
    async line(id, row) {
      const run = await runOf(id)
      const text = run.lines[row]
      if (text === undefined)
        throw new SourceError(
          'not-embedded',
          `This file has the figures of this episode but not its steps, to stay small. ${howToOpen(run)}`,
        )
      return { record: JSON.parse(text), text }
    },
    async states(id, row) {
      const run = await runOf(id)
      const why = `This file was made without states. ${howToOpen(run)}`
      return run.states?.[row] ?? { source: 'unavailable', why, partsAt: null, start: null, steps: [] }
    },
    search: (query, signal) => searchRuns(content.runs, query, signal),
    async compare(ids, baseline) {
      const wanted = [...new Set(ids)].toSorted().join()
      const found = content.compared.find(
        (compared) => compared.baseline === baseline && compared.runs.toSorted().join() === wanted,
      )
      if (found) return found
      throw new SourceError(
        'not-embedded',
        'This file does not contain this comparison. `episodic compare <run> <run> --html` or `episodic bundle --compare` makes it.',
      )
    },
    grades: async (id) => [...(await runOf(id)).grades, ...(store?.read(id) ?? [])],
    gradeSummary: async (id) => (await runOf(id)).gradeSummary,
    async grade(id, grade) {
      await runOf(id)
      if (!store)
        throw new SourceError('read-only', 'This browser keeps nothing for a file. Open the run with `episodic view`.')
      store.add(id, grade)
      for (const listener of listeners) listener(id)
    },
    ownGrades: async (id) => store?.read(id) ?? [],
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function howToOpen({ detail: { commands } }: EmbeddedRun): string {
  return `To see all of it: \`${commands.view ?? 'episodic view <folder>'}\``
}

async function* searchRuns(
  runs: readonly EmbeddedRun[],
  { text, runs: ids, fields, firstOfRow = false }: SearchQuery,
  signal: AbortSignal,
): AsyncGenerator<SearchHit | SearchProgress> {
  for (const { detail, words, lines } of runs) {
    const run = detail.entry.id
    if (ids && !ids.includes(run)) continue
    const rows = Object.keys(lines)
    const totalBytes = rows.reduce((sum, row) => sum + (lines[row]?.length ?? 0), 0)
    let [hits, bytes] = [0, 0]
    for (const [i, row] of rows.entries()) {
      if (i % LINES_AT_ONCE === LINES_AT_ONCE - 1) await new Promise((resolve) => setTimeout(resolve))
      if (signal.aborted) return
      const line = lines[row] as string
      bytes += line.length
      let inRow = 0
      for (const found of findInRecord(JSON.parse(line), text, fields)) {
        hits += 1
        inRow += 1
        if (firstOfRow ? inRow === 1 : hits <= MOST_HITS) yield hitOf(run, words[Number(row)], found)
      }
    }
    yield { run, hits, bytes, totalBytes, done: true }
  }
}

function hitOf(run: string, words: RowWords | undefined, found: FoundText): SearchHit {
  const { row = 0, task = '', attempt = 0, try: number = 0 } = words ?? {}
  return { run, row, task, attempt, try: number, ...found }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}
