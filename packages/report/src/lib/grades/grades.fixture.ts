import { playRun } from '../fold/simulated-run.fixture.ts'
import { createGradableLines, type GradableLine } from './gradable-lines.ts'
import type { GradeRecord } from './grade-record.ts'

/** The lines of a simulated run, in the order of their draw. */
export function someLines(tasks = 6, attempts = 2): GradableLine[] {
  const lines = createGradableLines()
  for (const record of playRun({ tasks, attempts, failures: 0 })) lines.add(record)
  return lines.list()
}

/** A verdict on a line: of a person if `who` is given, else of a function. */
export function aGrade(
  { task, attempt, try: number, seal }: GradableLine,
  {
    who,
    name = 'polite',
    sha256 = 'sha',
    kind = 'function',
    ...rest
  }: Partial<GradeRecord> & {
    readonly who?: string | undefined
    readonly name?: string
    readonly sha256?: string
    readonly kind?: 'function' | 'model'
  } = {},
): GradeRecord {
  return {
    format: 1,
    run: 'run',
    task,
    attempt,
    try: number,
    seal,
    grader: { name, version: '1', sha256, ...(who === undefined ? { kind } : { kind: 'person', who }) },
    vote: 0,
    revision: 0,
    drawn: true,
    value: true,
    why: '',
    evidence: [],
    at: '2026-01-01T00:00:00.000Z',
    ...rest,
  }
}
