import { constants, existsSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type GradeRecord, gradeRecordSchema } from '@episodic/report'
import { z } from 'zod'
import { HarnessError } from '../../harness-error.ts'
import { RUN_FILES } from '../../run/record/run-folder.ts'
import { Refusal } from '../refusal.ts'
import type { ViewedRun } from './viewed-run.ts'

/** Reads the verdicts beside a run. A torn last line, and what is no verdict, is left out. */
export async function readGrades(folder: string): Promise<GradeRecord[]> {
  const path = join(folder, RUN_FILES.grades)
  if (!existsSync(path)) return []
  const lines = (await readFile(path, 'utf8')).split('\n')
  return lines.flatMap((line) => {
    try {
      return [gradeRecordSchema.parse(JSON.parse(line))]
    } catch {
      return []
    }
  })
}

/** Adds a person's verdict on a line of a run. Rejects with `invalid` if it is none, and with `disk-failed`. */
export async function addGrade(run: ViewedRun, given: unknown): Promise<GradeRecord> {
  const parsed = gradeRecordSchema.safeParse(given)
  if (!parsed.success) throw new Refusal('invalid', `This is no verdict: ${z.prettifyError(parsed.error)}`)
  const grade = parsed.data
  if (grade.grader.kind !== 'person' || grade.grader.who === undefined)
    throw new Refusal('invalid', 'Only verdicts of people are taken, with their names in grader.who.')
  const rows = (await run.rowsOfTasks([grade.task])).get(grade.task) ?? []
  const { table } = await run.index()
  const plays = rows.filter((row) => table.at('attempt', row) === grade.attempt && table.at('try', row) === grade.try)
  const seals = await Promise.all(plays.map((row) => run.sealOf(row)))
  if (!seals.includes(grade.seal))
    throw new Refusal('invalid', `The run has no line of task ${grade.task}, attempt ${grade.attempt} with this seal.`)
  await append(join(run.found.folder, RUN_FILES.grades), `${JSON.stringify(grade)}\n`)
  return grade
}

async function append(path: string, line: string): Promise<void> {
  try {
    // Not through a link, which may lead out of the folder.
    await using file = await open(
      path,
      constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW,
    )
    const { size } = await file.stat()
    const last = Buffer.alloc(1)
    if (size > 0) await file.read(last, 0, 1, size - 1)
    // A torn last line is ended, so that it does not swallow this one.
    const isTorn = size > 0 && last[0] !== 0x0a
    await file.write(`${isTorn ? '\n' : ''}${line}`)
    await file.datasync()
  } catch (cause) {
    throw new HarnessError('disk-failed', `Cannot write ${path}: ${(cause as Error).message}`, { cause })
  }
}
