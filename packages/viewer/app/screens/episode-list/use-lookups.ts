import type { GradeValue } from '@episodic/report/grades/grade-record'
import type { GradeTable } from '@episodic/report/grades/grade-table'
import type { QueryLookups, QueryNeeds } from '@episodic/report/query/compile-query'
import type { EpisodeColumns } from '@episodic/report/rows/columns'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLoaded, useSource } from '../../source/use-source.ts'

interface TextRows {
  readonly rows: ReadonlySet<number>
  readonly done: boolean
  readonly failed: boolean
}

const NOT_YET: TextRows = { rows: new Set(), done: false, failed: false }

const AT_ONCE = 8

export function useLookups(
  run: string,
  { texts, tasks, graders }: QueryNeeds,
  episodes: EpisodeColumns | null,
  grades: GradeTable,
) {
  const source = useSource()
  const [found, setFound] = useState<ReadonlyMap<string, TextRows>>(new Map())
  const textKey = JSON.stringify(texts)
  useEffect(() => {
    const end = new AbortController()
    setFound(new Map())
    const searchFor = async (text: string) => {
      const rows = new Set<number>()
      for await (const answer of source.search({ text, runs: [run], firstOfRow: true }, end.signal))
        if ('row' in answer) rows.add(answer.row)
      return { rows, done: true, failed: false }
    }
    for (const text of new Set(texts))
      searchFor(text)
        .catch(() => ({ ...NOT_YET, done: true, failed: true }))
        .then((rows) => end.signal.aborted || setFound((before) => new Map([...before, [text, rows]])))
    return () => end.abort()
  }, [source, run, textKey])

  const taskKey = JSON.stringify(tasks)
  const ofTasks = useLoaded(
    async (from) => {
      const prefixes = tasks.map(async (prefix) => {
        const found = await from.tasks(run, prefix)
        return [prefix, new Set(found.flatMap(({ rows }) => rows))] as const
      })
      return new Map(await Promise.all(prefixes))
    },
    [run, taskKey],
  )

  const graderKey = JSON.stringify(graders)
  const byRow = useLoaded(
    async (from) => {
      const values = new Map<string, GradeValue>()
      const wanted = [...new Set(graders)].flatMap((grader) => [...grades.ofTasks(grader)])
      const attempt = episodes?.columns.attempt
      const tries = episodes?.columns.try
      for (let i = 0; i < wanted.length; i += AT_ONCE)
        await Promise.all(
          wanted.slice(i, i + AT_ONCE).map(async (task) => {
            const exact = (await from.tasks(run, task)).find((one) => one.task === task)
            for (const row of exact?.rows ?? [])
              for (const grader of graders) {
                const at = { task, attempt: attempt?.[row] as number, try: tries?.[row] as number }
                const value = grades.valueOf(grader, at)
                if (value !== null) values.set(`${grader} ${row}`, value)
              }
          }),
        )
      return values
    },
    [run, graderKey, grades, episodes],
  )
  return useMemo(() => {
    const textRows = texts.map((text) => found.get(text) ?? NOT_YET)
    const lookups: QueryLookups = {
      rowsWithText: (text) => (found.get(text) ?? NOT_YET).rows,
      rowsOfTask: (prefix) => ofTasks.value?.get(prefix) ?? NOT_YET.rows,
      ...(grades.graders.length > 0 && {
        gradeOf: (grader: string, row: number) => byRow.value?.get(`${grader} ${row}`) ?? null,
      }),
    }
    return {
      lookups,
      loading:
        textRows.some(({ done }) => !done) ||
        (tasks.length > 0 && ofTasks.loading) ||
        (graders.length > 0 && byRow.loading),
      failed: texts.filter((_, i) => textRows[i]?.failed),
    }
  }, [found, ofTasks, byRow, textKey, taskKey, graderKey, grades])
}
