import { readLines } from '@episodic/dataset/jsonl'
import type { GradeRecord } from '@episodic/report/grades/grade-record'
import { createGradeTable } from '@episodic/report/grades/grade-table'
import { compileQuery, needsOf } from '@episodic/report/query/compile-query'
import { parseQuery, type Query, type QueryProblem } from '@episodic/report/query/parse-query'
import { createRowTable } from '@episodic/report/rows/row-table'
import { sealedShape } from '@episodic/report/rows/sealed-shape'
import { findInRecord } from '@episodic/report/search/find-in-record'
import { HarnessError } from '../base/harness-error.ts'
import { jsonOf } from '../base/json.ts'

export interface QueriedLines {
  readonly file: string
  readonly grades: readonly GradeRecord[]
  /** Whose figures are meant, if there are several seats. Default: the first. */
  readonly seat?: string | undefined
}

/** Throws `query-invalid` with the place of what cannot be understood. */
export function readQuery(text: string): Query {
  const query = parseQuery(text)
  const [problem] = query.problems
  if (problem) throw invalid(text, problem)
  return query
}

/**
 * Returns the numbers, from 1, of the lines that match a query. Lines that are no sealed episodes match none, and of
 * equal lines the first one does.
 *
 * Rejects with `query-invalid` if the query cannot be understood, or asks for a reward term or a grader that the run
 * lacks.
 */
export async function matchingLines({ file, grades, seat }: QueriedLines, text: string): Promise<ReadonlySet<number>> {
  const query = readQuery(text)
  const { columns, texts, graders } = needsOf(query)
  const table = createRowTable({ seat })
  const lines: number[] = []
  const withText = new Map(texts.map((words) => [words, new Set<number>()]))
  for await (const { line, text: json } of readLines(file)) {
    // Of a torn line there is none.
    const record = sealedShape(jsonOf(json))
    const row = record && table.add(record)
    if (record === null || row === null) continue
    lines[row] = line
    for (const [words, rows] of withText) if (!findInRecord(record, words).next().done) rows.add(row)
  }
  const verdicts = createGradeTable(grades)
  const unknown = graders.find((name) => !verdicts.graders.includes(name))
  if (unknown !== undefined)
    throw invalid(text, {
      ...findTerm(query, `grade.${unknown}`),
      message: `The run has no verdicts of "${unknown}"; there are: ${verdicts.graders.join(', ') || 'none'}.`,
    })
  const taskOf = (row: number) => table.tasks[table.at('task', row)] ?? ''
  const compiled = compileQuery(query, table.columns(columns), {
    rowsWithText: (words) => withText.get(words) ?? new Set(),
    rowsOfTask: (prefix) => new Set([...lines.keys()].filter((row) => taskOf(row).startsWith(prefix))),
    gradeOf: (grader, row) =>
      verdicts.valueOf(grader, { task: taskOf(row), attempt: table.at('attempt', row), try: table.at('try', row) }),
  })
  const [problem] = compiled.problems
  if (problem) throw invalid(text, problem)
  return new Set(lines.filter((_, row) => compiled.matches(row)))
}

function findTerm({ terms }: Query, field: string) {
  const term = terms.find((one) => one.kind === 'field' && one.field === field)
  return { from: term?.from ?? 0, to: term?.to ?? 0 }
}

function invalid(text: string, { from, to, message }: QueryProblem): HarnessError {
  const mark = `${' '.repeat(from)}${'^'.repeat(Math.max(1, to - from))}`
  return new HarnessError('query-invalid', [
    `The query cannot be used, from character ${from + 1} on: ${message}`,
    `  ${text}`,
    `  ${mark}`,
  ])
}
