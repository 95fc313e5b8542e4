import { encodeColumns } from '@episodic/report/rows/columns-codec'
import type { RunEntry } from '@episodic/report/view/run-entry'
import { gradesFileOf, readGrades } from '@episodic/run/folder/grades-file'
import type { Continuations } from '../continuations.ts'
import { addGrade } from '../folder/add-grade.ts'
import { compareRunsById } from '../folder/compare-by-id.ts'
import type { ViewedRun } from '../folder/viewed-run.ts'
import type { ViewedRuns } from '../folder/viewed-runs.ts'
import { HttpProblem } from '../http-problem.ts'
import { answerSearch } from '../search/answer-search.ts'
import type { StatesSource } from '../states-source.ts'
import { areEqual, checkOwnPage } from './access.ts'
import { answerBytes, answerJson, begin, type Exchange, readJson } from './answer.ts'
import { createRunEvents } from './run-events.ts'

export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  answer(exchange: Exchange): Promise<void>
}

const MOST_ROWS = 200

export function createRoutes({
  runs,
  states,
  plays,
  readOnly = false,
}: {
  readonly runs: ViewedRuns
  readonly states: StatesSource
  /** What plays continuations; left out, nothing does. */
  readonly plays?: Continuations | undefined
  readonly readOnly?: boolean
}): Route[] {
  const get = (path: string, answer: Route['answer']): Route => ({ method: 'GET', path, answer })
  const runOf = async ({ parts }: Exchange) => {
    await runs.scan()
    return runs.get(parts.run as string)
  }
  const ofRun = (path: string, answer: (run: ViewedRun, exchange: Exchange) => unknown): Route =>
    get(`/api/r/:run${path}`, async (exchange) => answerJson(exchange, await answer(await runOf(exchange), exchange)))
  return [
    get('/api/runs', async (exchange) => answerJson(exchange, (await runs.entries()) satisfies RunEntry[])),
    ofRun('', (run) => run.detail()),
    ofRun('/listing', (run) => run.listing()),
    get('/api/r/:run/columns', async (exchange) => {
      const names = exchange.query.get('names')
      const rows = await (await runOf(exchange)).rows()
      await answerBytes(exchange, encodeColumns(rows.columns(names?.split(',').filter(Boolean))))
    }),
    ofRun('/rows', async (run, { query }) => {
      const rows = (query.get('rows') ?? '').split(',').filter(Boolean).map(wholeNumber)
      if (rows.length > MOST_ROWS) throw new HttpProblem('invalid', `Ask for at most ${MOST_ROWS} rows at once.`)
      return (await run.rows()).words(rows)
    }),
    ofRun('/task/:prefix', async (run, { parts }) => (await run.rows(true)).tasks(parts.prefix as string)),
    ofRun('/playing/:task/:attempt', (run, { parts }) =>
      run.follow(parts.task as string, wholeNumber(parts.attempt as string)),
    ),
    get('/api/r/:run/line/:row', async (exchange) => {
      const rows = await (await runOf(exchange)).rows(true)
      const line = await rows.line(wholeNumber(exchange.parts.row as string))
      begin(exchange.response, 200, { 'content-type': 'application/json', 'content-length': line.length })
      exchange.response.end(line)
    }),
    ofRun('/states/:row', (run, { parts, query }) =>
      states.statesOf(run, wholeNumber(parts.row as string), query.get('private') === '1'),
    ),
    ofRun('/grades', ({ found }) => readGrades(gradesFileOf(found.folder), { messages: true })),
    ofRun('/grade-summary', (run) => run.gradeSummary()),
    {
      method: 'POST',
      path: '/api/r/:run/grades',
      async answer(exchange) {
        if (readOnly)
          throw new HttpProblem('read-only', 'This server was started with --read-only, and keeps no verdicts.')
        const run = await runOf(exchange)
        answerJson(exchange, await addGrade(run, await readJson(exchange.request)), 201)
      },
    },
    {
      method: 'POST',
      path: '/api/play/:token/:run/:action',
      async answer(exchange) {
        const { token = '', action = '' } = exchange.parts
        checkOwnPage(exchange.request)
        if (!plays || !areEqual(token, plays.token))
          throw new HttpProblem('forbidden', 'Open the address that `episodic view --play` has printed.')
        const answer = Object.entries(plays.answers).find(([name]) => name === action)?.[1]
        if (!answer) throw new HttpProblem('not-found', `There is nothing to ${action}.`)
        answerJson(exchange, await answer(await runOf(exchange), await readJson(exchange.request), runs))
      },
    },
    get('/api/compare', async (exchange) => {
      await runs.scan()
      const ids = (exchange.query.get('runs') ?? '').split(',').filter(Boolean)
      answerJson(exchange, await compareRunsById(runs, ids, exchange.query.get('base') ?? undefined))
    }),
    get('/api/search', (exchange) => answerSearch(exchange, runs)),
    get('/api/events', createRunEvents(runs)),
  ]
}

/** Returns the route of a path, and what its open parts are. Throws `not-found` and `not-allowed`. */
export function findRoute(routes: readonly Route[], method: string, path: string) {
  const parts = path.split('/')
  const fitting = routes.flatMap((route) => {
    const open = openParts(route.path.split('/'), parts)
    return open ? [{ route, parts: open }] : []
  })
  if (fitting.length === 0) throw new HttpProblem('not-found', `There is nothing at ${path}.`)
  const asked = method === 'HEAD' ? 'GET' : method
  const found = fitting.find(({ route }) => route.method === asked)
  if (!found) throw new HttpProblem('not-allowed', `${path} does not take ${method}.`)
  return found
}

function openParts(names: readonly string[], parts: readonly string[]): Record<string, string> | null {
  if (names.length !== parts.length) return null
  const open: Record<string, string> = {}
  for (const [i, name] of names.entries()) {
    const part = parts[i] as string
    if (!name.startsWith(':')) {
      if (name !== part) return null
      continue
    }
    try {
      open[name.slice(1)] = decodeURIComponent(part)
    } catch {
      throw new HttpProblem('invalid', `${part} is not a part of an address.`)
    }
  }
  return open
}

function wholeNumber(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new HttpProblem('invalid', `${text} is not the number of a row.`)
  return Number(text)
}
