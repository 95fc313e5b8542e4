import { decodeColumns, type EmbeddedRun, type EmbeddedRuns, type EpisodeColumns } from '@episodic/report'
import { createSharedSource, isOf, MOST_TASKS } from './shared-source.ts'
import { type Source, SourceError } from './source.ts'

/** Lines that are searched before others get a turn. */
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

/** A source over the data within the page. */
export function createEmbeddedSource(content: EmbeddedRuns): Source {
  const runs = new Map(content.runs.map((run) => [run.detail.entry.id, run]))
  const columns = new Map<string, EpisodeColumns>()
  const runOf = (id: string) => runs.get(id) as EmbeddedRun
  return createSharedSource({
    name: 'This file',
    withheld: content.withheld,
    entries: content.runs.map(({ detail }) => detail.entry),
    detail: async (id) => runOf(id).detail,
    async columns(id) {
      const known = columns.get(id) ?? decodeColumns(bytesOf(runOf(id).columns))
      columns.set(id, known)
      return known
    },
    words: async (id, rows) => rows.flatMap((row) => runOf(id).words[row] ?? []),
    async tasks(id, prefix) {
      const tasks = new Map<string, { prompt: string; rows: number[] }>()
      for (const { row, task, prompt } of runOf(id).words) {
        if (!task.startsWith(prefix)) continue
        const known = tasks.get(task)
        if (known) known.rows.push(row)
        else if (tasks.size < MOST_TASKS) tasks.set(task, { prompt, rows: [row] })
      }
      return [...tasks].map(([task, found]) => ({ task, ...found }))
    },
    text: async (id, row) => runOf(id).lines[row],
    states: async (id, row) => runOf(id).states?.[row] ?? null,
    size: (id) => Object.values(runOf(id).lines).reduce((sum, { length }) => sum + length, 0),
    async *texts(id) {
      const lines = Object.entries(runOf(id).lines).map(([row, text]) => [Number(row), text] as const)
      for (let from = 0; from < lines.length; from += LINES_AT_ONCE) {
        if (from > 0) await new Promise((resolve) => setTimeout(resolve))
        yield lines.slice(from, from + LINES_AT_ONCE)
      }
    },
    compared: async (ids, baseline) => content.compared.find((compared) => isOf(compared, ids, baseline)) ?? null,
    grades: async (id) => runOf(id).grades,
    gradeSummary: async (id) => runOf(id).gradeSummary,
  })
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
}
