import { formatQuery, parseQuery, type QueryTerm } from '@episodic/report/query/parse-query'
import { RESULTS, type Result } from '@episodic/report/query/query-fields'
import { formatCount } from '@episodic/report/text/format'
import { RESULT_SIGNS } from '../../parts/result.tsx'

interface ResultChipsProps {
  readonly query: string
  readonly counts: { readonly [result in Result]: number }
  onChange(query: string): void
}

/** Chips that choose episodes by how they ended. Several may be pressed; if none is, all are shown. */
export function ResultChips({ query, counts, onChange }: ResultChipsProps) {
  const chosen = chosenResults(query)
  return (
    <fieldset class="flow tight">
      <legend class="unseen">Results</legend>
      {RESULTS.map((result) => (
        <button
          key={result}
          type="button"
          class={`pill ${result}`}
          aria-pressed={chosen.includes(result)}
          disabled={counts[result] === 0 && !chosen.includes(result)}
          onClick={() => onChange(toggleResult(query, result))}
        >
          <span class="result-sign" aria-hidden="true">
            {RESULT_SIGNS[result].sign}
          </span>{' '}
          {RESULT_SIGNS[result].name} <b>{formatCount(counts[result])}</b>
        </button>
      ))}
    </fieldset>
  )
}

const isResult = (term: QueryTerm) =>
  term.kind === 'field' && term.field === 'result' && !term.negated && term.operator !== '!='

export function chosenResults(query: string): Result[] {
  const values = parseQuery(query).terms.flatMap((term) => (term.kind === 'field' && isResult(term) ? term.values : []))
  return RESULTS.filter((result) => values.includes(result))
}

/** The query without a choice of results. What is not understood in it stays as it was written. */
export function withoutResults(query: string): string {
  return parseQuery(query)
    .terms.filter(isResult)
    .toReversed()
    .reduce((rest, { from, to }) => `${rest.slice(0, from).trimEnd()} ${rest.slice(to).trimStart()}`.trim(), query)
}

export function toggleResult(query: string, result: Result): string {
  const chosen = chosenResults(query)
  const values = RESULTS.filter((one) => chosen.includes(one) !== (one === result))
  const term =
    values.length > 0 ? formatQuery([{ kind: 'field', field: 'result', operator: ':', values, negated: false }]) : ''
  return `${term} ${withoutResults(query)}`.trim()
}
