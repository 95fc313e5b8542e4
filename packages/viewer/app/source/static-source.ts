import {
  type ComparedRuns,
  decodeColumns,
  type EpisodeStates,
  type GradeRecord,
  type GradeSummary,
  lineFileOf,
  type RowWords,
  type RunDetail,
  STATIC_FILES,
  type StaticRuns,
  unpackStaticIndex,
} from '@episodic/report'
import { keepAnswers } from './keep-answers.ts'
import { createSharedSource, isOf, MOST_TASKS } from './shared-source.ts'
import { type Source, SourceError } from './source.ts'

/** Files of words, lines and states that are kept: those that were read last. */
const MOST_FILES = 16

/** Reads what a folder says of its runs. Rejects with a `SourceError`. */
export async function readStaticRuns(folder: string): Promise<StaticRuns> {
  const runs = await readJson<StaticRuns>(`${folder}/${STATIC_FILES.runs}`)
  if (runs.format !== 1) throw new SourceError('damaged', `The data of this page has format ${runs.format}.`)
  return runs
}

/**
 * A source over static files beside the page: each is asked for whole, with a plain GET, so that any web server serves
 * them.
 *
 * @param folder - their address, relative to the page.
 */
export function createStaticSource(folder: string, content: StaticRuns): Source {
  const kept = new Map<string, Promise<unknown>>()
  /** Reads a file, or returns it as it was read before. */
  const once = <T>(name: string, read: (address: string) => Promise<T>): Promise<T> => {
    const known = kept.get(name) as Promise<T> | undefined
    const answer = known ?? read(`${folder}/${name}`)
    kept.delete(name)
    kept.set(name, answer)
    answer.catch(() => kept.delete(name))
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_FILES) break
      kept.delete(oldest)
    }
    return answer
  }
  const indexOf = keepAnswers(async (run) => unpackStaticIndex(await read(`${folder}/${STATIC_FILES.index(run)}`)))
  const columnsOf = keepAnswers(async (run) => decodeColumns(await read(`${folder}/${STATIC_FILES.columns(run)}`)))
  const wordsOf = async (run: string, rows: readonly number[]): Promise<readonly RowWords[]> => {
    const { places, wordsPerFile } = await indexOf(run)
    const numbers = new Set(rows.map((row) => Math.floor((places[row] ?? 0) / wordsPerFile)))
    const files = await Promise.all(
      [...numbers].map((number) => once(STATIC_FILES.words(run, number), readJson<readonly RowWords[]>)),
    )
    const found = new Map(files.flat().map((words) => [words.row, words]))
    return rows.flatMap((row) => found.get(row) ?? [])
  }
  const linesIn = (run: string, file: number) => once(STATIC_FILES.lines(run, file), readLines)
  return createSharedSource({
    name: 'This folder',
    withheld: content.withheld,
    entries: content.runs,
    detail: (run) => readJson<RunDetail>(`${folder}/${STATIC_FILES.detail(run)}`),
    columns: columnsOf,
    words: wordsOf,
    async tasks(run, prefix) {
      const [{ tasks }, { columns }] = await Promise.all([indexOf(run), columnsOf(run)])
      const chosen = tasks.flatMap((id, number) => (id.startsWith(prefix) ? [number] : [])).slice(0, MOST_TASKS)
      const rows = new Map<number, number[]>(chosen.map((number) => [number, []]))
      for (const [row, number] of (columns.task ?? []).entries()) rows.get(number)?.push(row)
      const firsts = await wordsOf(
        run,
        [...rows.values()].map(([row = 0]) => row),
      )
      return [...rows].map(([number, own], i) => ({
        task: tasks[number] as string,
        prompt: firsts[i]?.prompt ?? '',
        rows: own,
      }))
    },
    async text(run, row) {
      const index = await indexOf(run)
      const place = index.places[row]
      if (place === undefined) return undefined
      const file = lineFileOf(index, place)
      return (await linesIn(run, file))[place - (index.lineFiles[file] as number)] || undefined
    },
    async states(run, row) {
      const index = await indexOf(run)
      const place = index.places[row]
      if (place === undefined || !content.states) return null
      const file = lineFileOf(index, place)
      const states = await once(STATIC_FILES.states(run, file), readJson<readonly (EpisodeStates | null)[]>)
      return states[place - (index.lineFiles[file] as number)] ?? null
    },
    size: (run) => content.runs.find(({ id }) => id === run)?.bytes ?? 0,
    async *texts(run) {
      const { places, lineFiles } = await indexOf(run)
      const rows = new Uint32Array(places.length)
      for (const [row, place] of places.entries()) rows[place] = row
      for (const [file, first] of lineFiles.entries()) {
        const lines = await readLines(`${folder}/${STATIC_FILES.lines(run, file)}`)
        yield lines.flatMap((text, i) => (text === '' ? [] : [[rows[first + i] as number, text] as const]))
      }
    },
    async compared(runs, baseline) {
      const number = content.compared.findIndex((compared) => isOf(compared, runs, baseline))
      return number < 0 ? null : readJson<ComparedRuns>(`${folder}/${STATIC_FILES.compared(number)}`)
    },
    grades: (run) => readJson<GradeRecord[]>(`${folder}/${STATIC_FILES.grades(run)}`),
    gradeSummary: (run) => readJson<GradeSummary>(`${folder}/${STATIC_FILES.gradeSummary(run)}`),
  })
}

async function readJson<T>(address: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await read(address)))
}

async function readLines(address: string): Promise<readonly string[]> {
  return new TextDecoder().decode(await read(address)).split('\n')
}

/** Reads a gzipped file. Some servers say of such a file how it is packed, and the browser has then unpacked it. */
async function read(address: string): Promise<Uint8Array> {
  const response = await fetch(address).catch(() => {
    throw new SourceError(
      'unreachable',
      'The files beside this page cannot be read. Serve its folder with a web server: a page that is opened as a file cannot read others.',
    )
  })
  if (!response.ok)
    throw new SourceError(
      'not-found',
      `The web server answered ${response.status} to ${address}. Is the folder complete?`,
    )
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
  try {
    const unzipped = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
    return new Uint8Array(await new Response(unzipped).arrayBuffer())
  } catch (cause) {
    throw new SourceError('damaged', `${address} cannot be read: ${(cause as Error).message}`)
  }
}
