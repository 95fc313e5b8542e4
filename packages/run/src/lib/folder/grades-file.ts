import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readLines } from '@episodic/dataset/jsonl'
import { wellFormed } from '@episodic/protocol/internal'
import { type GradeRecord, gradeRecordSchema } from '@episodic/report/grades/grade-record'
import { jsonAs } from '../base/json.ts'
import { cannotWrite, openToAppend } from '../base/own-files.ts'
import { RUN_FILES } from './record/run-folder.ts'

const NEWLINE = 0x0a

export function gradesFileOf(folder: string): string {
  return join(folder, RUN_FILES.grades)
}

export interface ReadGradesOptions {
  /** Keeps the messages of judges, which are most of the file. Default: false. */
  readonly messages?: boolean
  readonly onSkipped?: (line: number) => void
}

export async function readGrades(
  file: string,
  { messages = false, onSkipped = () => {} }: ReadGradesOptions = {},
): Promise<GradeRecord[]> {
  const grades: GradeRecord[] = []
  if (!existsSync(file)) return grades
  for await (const { line, text } of readLines(file)) {
    if (text.trim() === '') continue
    const grade = wellFormed(jsonAs(gradeRecordSchema, text))
    if (!grade) onSkipped(line)
    else if (messages || !grade.asked) grades.push(grade)
    else grades.push({ ...grade, asked: { ...grade.asked, messages: [] } })
  }
  return grades
}

/**
 * Appends verdicts, each as one line, in one write: several processes may append to the file at once, and a line that
 * another left torn stays a line of its own. Rejects with `disk-failed`.
 */
export async function appendGrades(file: string, grades: readonly GradeRecord[]): Promise<void> {
  const text = grades.map((grade) => `${JSON.stringify(grade)}\n`).join('')
  try {
    await using handle = await openToAppend(file)
    const { size } = await handle.stat()
    const last = Buffer.alloc(1, NEWLINE)
    if (size > 0) await handle.read(last, 0, 1, size - 1)
    const bytes = Buffer.from(last[0] === NEWLINE ? text : `\n${text}`)
    const { bytesWritten } = await handle.write(bytes)
    // A disk that fills up accepts part of a write. What is missing fails in the next one.
    if (bytesWritten < bytes.length) await handle.write(bytes, bytesWritten)
  } catch (cause) {
    throw cannotWrite(file, cause as Error)
  }
}

/** Appends verdicts as they come: those that come during a write are in the next one. */
export function createGradeAppender(file: string): (grade: GradeRecord) => Promise<void> {
  let waiting: GradeRecord[] = []
  let last: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null
  const writeWaiting = () => {
    const batch = waiting
    waiting = []
    next = null
    return appendGrades(file, batch)
  }
  return (grade) => {
    waiting.push(grade)
    // A write that failed has rejected for its own verdicts.
    next ??= last.catch(() => {}).then(writeWaiting)
    last = next
    return next
  }
}
