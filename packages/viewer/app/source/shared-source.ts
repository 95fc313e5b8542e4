import {
  type ComparedRuns,
  type EpisodeColumns,
  type EpisodeStates,
  findInRecord,
  type GradeRecord,
  type GradeSummary,
  type RowWords,
  type RunDetail,
  type RunEntry,
  rowWords,
  type SearchHit,
  type SearchProgress,
  type TaskRows,
} from '@episodic/report'
import { createGradeStore } from './grade-store.ts'
import { type SearchQuery, type Source, SourceError } from './source.ts'

export const MOST_TASKS = 20
const MOST_HITS = 500

/**
 * Runs that were shared, as a file or as a folder: what differs between the two. Methods reject with a {@link
 * SourceError}.
 */
export interface SharedRuns {
  /** In sentences: "This file". */
  readonly name: string
  readonly withheld: readonly string[]
  readonly entries: readonly RunEntry[]
  detail(run: string): Promise<RunDetail>
  columns(run: string): Promise<EpisodeColumns>
  words(run: string, rows: readonly number[]): Promise<readonly RowWords[]>
  /** At most {@link MOST_TASKS}. */
  tasks(run: string, prefix: string): Promise<readonly TaskRows[]>
  /** `undefined` for an episode that has figures only. */
  text(run: string, row: number): Promise<string | undefined>
  /** `null` if there are none. */
  states(run: string, row: number): Promise<EpisodeStates | null>
  /** Characters of the lines. */
  size(run: string): number
  /** All lines, in groups: between two of them the page responds. */
  texts(run: string): AsyncIterable<readonly (readonly [row: number, text: string])[]>
  compared(runs: readonly string[], baseline: string): Promise<ComparedRuns | null>
  grades(run: string): Promise<readonly GradeRecord[]>
  gradeSummary(run: string): Promise<GradeSummary>
}

/** A source over runs that were shared. What was left out is not there, and every answer says so. */
export function createSharedSource(shared: SharedRuns): Source {
  const { name, entries } = shared
  const store = createGradeStore()
  const listeners = new Set<(run: string | null) => void>()
  const known = <T>(run: string, answer: () => Promise<T>): Promise<T> =>
    entries.some(({ id }) => id === run)
      ? answer()
      : Promise.reject(new SourceError('run-unknown', `${name} does not contain the run ${run}.`))
  const howToOpen = async (run: string) => {
    const { commands } = await shared.detail(run)
    return `To see all of it: \`${commands.view ?? 'episodic view <folder>'}\``
  }
  return {
    can: { states: true, grade: store !== null, watch: false },
    withheld: shared.withheld,
    runs: async () => entries,
    run: (run) => known(run, () => shared.detail(run)),
    listing: (run) => known(run, () => shared.detail(run)),
    columns: (run) => known(run, () => shared.columns(run)),
    words: (run, rows) => known(run, () => shared.words(run, rows)),
    tasks: (run, prefix) => known(run, () => shared.tasks(run, prefix)),
    playing: async () => null,
    async line(run, row) {
      const text = await known(run, () => shared.text(run, row))
      if (text === undefined)
        throw new SourceError(
          'not-embedded',
          `${name} has the figures of this episode but not its steps, to stay small. ${await howToOpen(run)}`,
        )
      return { record: JSON.parse(text), text }
    },
    async states(run, row) {
      const states = await known(run, () => shared.states(run, row))
      if (states) return states
      const why = `${name} was made without states. ${await howToOpen(run)}`
      return { source: 'unavailable', why, partsAt: null, start: null, steps: [] }
    },
    async *search(query, signal) {
      for (const { id } of entries)
        if (!query.runs || query.runs.includes(id)) yield* searchTexts(shared, id, query, signal)
    },
    async compare(runs, baseline) {
      const found = await shared.compared(runs, baseline)
      if (found) return found
      throw new SourceError(
        'not-embedded',
        `${name} does not contain this comparison. \`episodic compare <run> <run> --html\` or \`episodic bundle --compare\` makes it.`,
      )
    },
    grades: (run) => known(run, async () => [...(await shared.grades(run)), ...(store?.read(run) ?? [])]),
    gradeSummary: (run) => known(run, () => shared.gradeSummary(run)),
    grade: (run, grade) =>
      known(run, async () => {
        if (!store)
          throw new SourceError(
            'read-only',
            'This browser keeps nothing for this page. Open the run with `episodic view`.',
          )
        store.add(run, grade)
        for (const listener of listeners) listener(run)
      }),
    ownGrades: async (run) => store?.read(run) ?? [],
    watch(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Whether a comparison is of these runs, in any order and but for those that are left out. */
export function isOf(
  { runs, baseline, leftOut }: Pick<ComparedRuns, 'runs' | 'baseline' | 'leftOut'>,
  asked: readonly string[],
  askedBaseline: string,
): boolean {
  const isLeftOut = (id: string) => leftOut.some(({ run }) => run === id)
  const wanted = [...new Set(asked)].filter((id) => !isLeftOut(id)).toSorted()
  return (baseline === askedBaseline || isLeftOut(askedBaseline)) && runs.toSorted().join() === wanted.join()
}

async function* searchTexts(
  shared: SharedRuns,
  run: string,
  { text, fields, firstOfRow = false }: SearchQuery,
  signal: AbortSignal,
): AsyncGenerator<SearchHit | SearchProgress> {
  const totalBytes = shared.size(run)
  let [hits, bytes] = [0, 0]
  for await (const group of shared.texts(run)) {
    for (const [row, line] of group) {
      if (signal.aborted) return
      bytes += line.length
      let inRow = 0
      const record = JSON.parse(line)
      const { task, attempt, try: number } = rowWords(record)
      for (const found of findInRecord(record, text, fields)) {
        hits += 1
        inRow += 1
        if (firstOfRow ? inRow === 1 : hits <= MOST_HITS) yield { run, row, task, attempt, try: number, ...found }
      }
    }
    yield { run, hits, bytes, totalBytes, done: false }
  }
  yield { run, hits, bytes, totalBytes, done: true }
}
