import type { GradeRecord } from '@episodic/report/grades/grade-record'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import { decodeColumns } from '@episodic/report/rows/columns-codec'
import { findInRecord } from '@episodic/report/search/find-in-record'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import type { EmbeddedRun, EmbeddedRuns } from '@episodic/report/view/embedded-runs'
import { rowWords } from '@episodic/report/view/row-words'
import type { RowWords } from '@episodic/report/view/run-entry'
import type { SearchHit, SearchProgress } from '@episodic/report/view/search-hit'
import { type SearchQuery, type Source, SourceError } from './source.ts'

const MOST_TASKS = 20
const MOST_HITS = 500
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

/** A source over the data within the page. What was left out of the page is not there, and every answer says so. */
export function createEmbeddedSource(content: EmbeddedRuns): Source {
  const runs = new Map(content.runs.map((run) => [run.detail.entry.id, run]))
  const columns = new Map<string, EpisodeColumns>()
  const store = createGradeStore()
  const listeners = new Set<(run: string | null) => void>()
  const find = async (id: string): Promise<EmbeddedRun> => {
    const run = runs.get(id)
    if (!run) throw new SourceError('run-unknown', `This file does not contain the run ${id}.`)
    return run
  }
  const detail = async (id: string) => (await find(id)).detail
  const howToOpen = ({ detail: { commands } }: EmbeddedRun) =>
    `To see all of it: \`${commands.view ?? 'episodic view <folder>'}\``
  return {
    can: { states: true, grade: store !== null, watch: false },
    withheld: content.withheld,
    runs: async () => content.runs.map(({ detail }) => detail.entry),
    run: detail,
    listing: detail,
    async columns(id) {
      const known = columns.get(id) ?? decodeColumns(bytesOf((await find(id)).columns))
      columns.set(id, known)
      return known
    },
    async words(id, rows) {
      const { words } = await find(id)
      return rows.flatMap((row) => words[row] ?? [])
    },
    async tasks(id, prefix) {
      const { words } = await find(id)
      const matching = Map.groupBy(
        words.filter(({ task }) => task.startsWith(prefix)),
        ({ task }) => task,
      )
      return [...matching]
        .slice(0, MOST_TASKS)
        .map(([task, own]) => ({ task, prompt: (own[0] as RowWords).prompt, rows: own.map(({ row }) => row) }))
    },
    playing: async () => null,
    async line(id, row) {
      const run = await find(id)
      const text = run.lines[row]
      if (text === undefined)
        throw new SourceError(
          'not-embedded',
          `This file has the figures of this episode but not its steps, to stay small. ${howToOpen(run)}`,
        )
      return { record: JSON.parse(text), text }
    },
    async states(id, row) {
      const run = await find(id)
      const why = `This file was made without states. ${howToOpen(run)}`
      return run.states?.[row] ?? { source: 'unavailable', why, partsAt: null, start: null, steps: [] }
    },
    async *search(query, signal) {
      for (const run of runs.values())
        if (!query.runs || query.runs.includes(run.detail.entry.id)) yield* searchLines(run, query, signal)
    },
    async compare(ids, baseline) {
      const found = content.compared.find((compared) => isOf(compared, ids, baseline))
      if (found) return found
      throw new SourceError(
        'not-embedded',
        'This file does not contain this comparison. `episodic bundle <run> <run> --compare` makes it.',
      )
    },
    grades: async (id) => [...(await find(id)).grades, ...(store?.read(id) ?? [])],
    gradeSummary: async (id) => (await find(id)).gradeSummary,
    async grade(id, grade) {
      await find(id)
      if (!store)
        throw new SourceError(
          'read-only',
          'This browser keeps nothing for this page. Open the run with `episodic view`.',
        )
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

/** Whether a comparison is of these runs, in any order and but for those that are left out. */
function isOf({ runs, baseline, leftOut }: ComparedRuns, asked: readonly string[], askedBaseline: string): boolean {
  const isLeftOut = (id: string) => leftOut.some(({ run }) => run === id)
  const wanted = [...new Set(asked)].filter((id) => !isLeftOut(id)).toSorted()
  return (baseline === askedBaseline || isLeftOut(askedBaseline)) && runs.toSorted().join() === wanted.join()
}

async function* searchLines(
  { detail, lines }: EmbeddedRun,
  { text, fields, firstOfRow = false }: SearchQuery,
  signal: AbortSignal,
): AsyncGenerator<SearchHit | SearchProgress> {
  const run = detail.entry.id
  const all = Object.entries(lines)
  const totalBytes = all.reduce((sum, [, line]) => sum + line.length, 0)
  let [hits, bytes] = [0, 0]
  for (const [place, [key, line]] of all.entries()) {
    if (place > 0 && place % LINES_AT_ONCE === 0) {
      yield { run, hits, bytes, totalBytes, done: false }
      await new Promise((resolve) => setTimeout(resolve))
    }
    if (signal.aborted) return
    bytes += line.length
    const row = Number(key)
    const record = JSON.parse(line)
    const { task, attempt, try: number } = rowWords(record)
    let inRow = 0
    for (const found of findInRecord(record, text, fields)) {
      hits += 1
      inRow += 1
      if (firstOfRow ? inRow === 1 : hits <= MOST_HITS) yield { run, row, task, attempt, try: number, ...found }
    }
  }
  yield { run, hits, bytes, totalBytes, done: true }
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}

const NAME = 'episodic.grades'

/** The verdicts that a browser keeps for the runs of files, by run; `null` where a page may keep nothing. */
function createGradeStore(storage: () => Storage = () => localStorage) {
  let kept: Storage
  try {
    kept = storage()
    kept.setItem(`${NAME}?`, '')
    kept.removeItem(`${NAME}?`)
  } catch {
    return null
  }
  const keyOf = (run: string) => `${NAME}.${run}`
  return {
    read: (run: string): readonly GradeRecord[] =>
      (kept.getItem(keyOf(run)) ?? '').split('\n').flatMap((line) => {
        try {
          return line === '' ? [] : [JSON.parse(line) as GradeRecord]
        } catch {
          // Another program wrote it.
          return []
        }
      }),
    /** Throws a `SourceError` if the browser has no room left. */
    add(run: string, grade: GradeRecord) {
      try {
        kept.setItem(keyOf(run), `${kept.getItem(keyOf(run)) ?? ''}${JSON.stringify(grade)}\n`)
      } catch {
        throw new SourceError('storage-full', 'This browser has no room left for verdicts. Download those it has.')
      }
    },
  }
}
