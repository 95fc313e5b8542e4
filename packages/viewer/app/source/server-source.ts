import type { GradeRecord } from '@episodic/report/grades/grade-record'
import type { GradeSummary } from '@episodic/report/grades/grade-summary'
import { decodeColumns } from '@episodic/report/rows/columns-codec'
import type { ComparedRuns } from '@episodic/report/view/compared-runs'
import type {
  FollowedEpisode,
  RowWords,
  RunDetail,
  RunEntry,
  RunListing,
  TaskRows,
} from '@episodic/report/view/run-entry'
import type { SearchHit, SearchProgress } from '@episodic/report/view/search-hit'
import type { EpisodeStates } from '@episodic/report/view/state-changes'
import { type Source, SourceError } from './source.ts'

/** @param token - with which it plays. */
export function createServerSource(token?: string): Source {
  return {
    ...(token && { play: (action, run, asked) => post(`/api/play/${token}/${run}/${action}`, asked) }),
    can: { states: true, grade: true, watch: true },
    withheld: [],
    runs: () => json<RunEntry[]>('/api/runs'),
    run: (run) => json<RunDetail>(`/api/r/${run}`),
    listing: (run) => json<RunListing>(`/api/r/${run}/listing`),
    async columns(run, names) {
      const answer = await get(`/api/r/${run}/columns?names=${names.map(encodeURIComponent).join(',')}`)
      return decodeColumns(new Uint8Array(await answer.arrayBuffer()))
    },
    words: (run, rows) => json<RowWords[]>(`/api/r/${run}/rows?rows=${rows.join(',')}`),
    tasks: (run, prefix) => json<TaskRows[]>(`/api/r/${run}/task/${encodeURIComponent(prefix)}`),
    playing: (run, task, attempt) =>
      json<FollowedEpisode | null>(`/api/r/${run}/playing/${encodeURIComponent(task)}/${attempt}`),
    async line(run, row) {
      const text = await (await get(`/api/r/${run}/line/${row}`)).text()
      return { record: JSON.parse(text), text }
    },
    states: (run, row) => json<EpisodeStates>(`/api/r/${run}/states/${row}?private=1`),
    async *search({ text, runs, fields, firstOfRow }, signal) {
      const query = new URLSearchParams({
        q: text,
        ...(runs && { runs: runs.join(',') }),
        ...(fields && { fields: fields.join(',') }),
        ...(firstOfRow && { each: 'row' }),
      })
      const { body } = await get(`/api/search?${query}`, { signal })
      if (body) for await (const line of readLines(body)) yield JSON.parse(line) as SearchHit | SearchProgress
    },
    compare: (runs, base) => json<ComparedRuns>(`/api/compare?runs=${runs.join(',')}&base=${base}`),
    grades: (run) => json<GradeRecord[]>(`/api/r/${run}/grades`),
    gradeSummary: (run) => json<GradeSummary>(`/api/r/${run}/grade-summary`),
    grade: (run, grade) => post(`/api/r/${run}/grades`, grade),
    ownGrades: async () => [],
    watch: listenToEvents,
  }
}

async function json<T>(path: string): Promise<T> {
  return (await get(path)).json()
}

async function post<T>(path: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  return (await get(path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
}

async function get(path: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(path, init).catch((error) => {
    if (init?.signal?.aborted) throw error
    throw new SourceError('unreachable', 'The server does not answer. Is `episodic view` still running?')
  })
  if (response.ok) return response
  const { error } = await response.json().catch(() => ({ error: null }))
  throw new SourceError(
    error?.code ?? String(response.status),
    error?.message ?? `The server answered ${response.status}.`,
  )
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncIterable<string> {
  let rest = ''
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter(Boolean)
  }
  if (rest) yield rest
}

const NAME = 'episodic-events'

/**
 * Listens to the events of the server, with one connection for all tabs of a browser: browsers allow six connections to
 * a host, and a stream of events takes one of them for as long as it is open. The tab that holds a lock has the
 * connection and passes events on; if it is closed, another one takes the lock. Returns a function that ends it.
 *
 * @param listener - called with the run that has changed, `null` if any may have, as the connection was made or lost.
 */
function listenToEvents(listener: (run: string | null) => void): () => void {
  const end = new AbortController()
  // Without a secure context there are no locks, and each tab has its own connection.
  if (!('locks' in navigator) || typeof BroadcastChannel === 'undefined') return openEvents(listener)
  const channel = new BroadcastChannel(NAME)
  channel.onmessage = ({ data }) => listener(data)
  const pass = (run: string | null) => {
    listener(run)
    channel.postMessage(run)
  }
  navigator.locks
    .request(NAME, { signal: end.signal }, () => {
      const close = openEvents(pass)
      return new Promise<void>((resolve) => {
        end.signal.addEventListener('abort', () => {
          close()
          resolve()
        })
      })
    })
    .catch((error) => {
      if (!end.signal.aborted) throw error
    })
  return () => {
    end.abort()
    channel.close()
  }
}

function openEvents(listener: (run: string | null) => void): () => void {
  const events = new EventSource('/api/events')
  events.addEventListener('run', ({ data }) => listener(JSON.parse(data)))
  events.onopen = () => listener(null)
  events.onerror = () => listener(null)
  return () => events.close()
}
