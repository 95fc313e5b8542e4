import { once } from 'node:events'
import { SEARCH_FIELDS, type SearchField } from '@episodic/report/view/search-hit'
import pLimit from 'p-limit'
import type { ViewedRuns } from '../folder/viewed-runs.ts'
import { begin, type Exchange } from '../http/answer.ts'
import { HttpProblem } from '../http-problem.ts'
import { searchRun } from './search-run.ts'

const AT_ONCE = 4
/** Hits that are sent; more are counted. */
const MOST_HITS = 500
const MOST_CHARACTERS = 1_000

/**
 * Answers with the hits of a search as they are found, a line of JSON each, and with how far it is. It ends with the
 * request. With `each=row` these are the first hit of every row, however many.
 */
export async function answerSearch({ query, response, signal }: Exchange, runs: ViewedRuns): Promise<void> {
  const text = query.get('q') ?? ''
  if (text === '' || text.length > MOST_CHARACTERS)
    throw new HttpProblem('invalid', `Search for 1 to ${MOST_CHARACTERS} characters.`)
  await runs.scan()
  const ids = query.get('runs')
  const searched =
    ids === null
      ? runs.all()
      : ids
          .split(',')
          .filter(Boolean)
          .map((id) => runs.get(id))
  const fields = fieldsIn(query.get('fields'))
  const eachRow = query.get('each') === 'row'
  begin(response, 200, { 'content-type': 'application/x-ndjson' })
  let sent = 0
  const limit = pLimit(AT_ONCE)
  const search = async (run: (typeof searched)[number]) => {
    if (signal.aborted) return
    let row = -1
    for await (const found of searchRun(run, { text, fields, signal })) {
      const isHit = 'row' in found
      // The hits of a row come one after another.
      if (isHit && (eachRow ? found.row === row : sent >= MOST_HITS)) continue
      if (isHit) {
        sent += 1
        row = found.row
      }
      if (!response.write(`${JSON.stringify(found)}\n`)) await once(response, 'drain', { signal })
    }
  }
  await Promise.all(searched.map((run) => limit(search, run)))
  response.end()
}

function fieldsIn(text: string | null): readonly SearchField[] | undefined {
  if (text === null) return undefined
  const names = text.split(',').filter(Boolean)
  const unknown = names.filter((name) => !(SEARCH_FIELDS as readonly string[]).includes(name))
  if (unknown.length > 0) throw new HttpProblem('invalid', `There is no field ${unknown.join(', ')} to search in.`)
  return names as SearchField[]
}
