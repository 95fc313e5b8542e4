import type { SealedRecord } from '@episodic/protocol'
import { type GradeRecord, graderKeyOf, sealNameOf } from '@episodic/report'

/** Returns the verdicts on a line that count: of each grader and vote the one with the highest revision. */
export function ownGrades(grades: readonly GradeRecord[], record: SealedRecord): GradeRecord[] {
  const seal = sealNameOf(record)
  const latest = new Map<string, GradeRecord>()
  for (const grade of grades) {
    if (grade.seal !== seal || grade.planted) continue
    const key = `${graderKeyOf(grade.grader)} ${grade.vote} ${grade.seat ?? ''}`
    const known = latest.get(key)
    if (!known || grade.revision > known.revision) latest.set(key, grade)
  }
  return [...latest.values()].sort((a, b) => (a.grader.name < b.grader.name ? -1 : 1))
}
