import { sealNameOf } from '@episodic/report/grades/gradable-lines'
import { type GradeRecord, gradeRecordSchema } from '@episodic/report/grades/grade-record'
import { appendGrades, gradesFileOf } from '@episodic/run/folder/grades-file'
import { z } from 'zod'
import { HttpProblem } from '../http-problem.ts'
import type { ViewedRun } from './viewed-run.ts'

/**
 * Adds a person's verdict on a line of a run. Rejects with `invalid` if it is none, or on a line that the run does not
 * have, and with `disk-failed`.
 */
export async function addGrade(run: ViewedRun, given: unknown): Promise<GradeRecord> {
  const parsed = gradeRecordSchema.safeParse(given)
  if (!parsed.success) throw new HttpProblem('invalid', `This is no verdict: ${z.prettifyError(parsed.error)}`)
  const grade = parsed.data
  if (grade.grader.kind !== 'person' || grade.grader.who === undefined)
    throw new HttpProblem('invalid', 'Only verdicts of people are taken, with their names in grader.who.')
  const rows = await run.rows(true)
  const { table } = rows
  const plays = (rows.ofTasks([grade.task]).get(grade.task) ?? []).filter(
    (row) => table.at('attempt', row) === grade.attempt && table.at('try', row) === grade.try,
  )
  const seals = await Promise.all(plays.map(async (row) => sealNameOf(await rows.record(row))))
  if (!seals.includes(grade.seal))
    throw new HttpProblem(
      'invalid',
      `The run has no line of task ${grade.task}, attempt ${grade.attempt} with this seal.`,
    )
  await appendGrades(gradesFileOf(run.found.folder), [grade])
  return grade
}
