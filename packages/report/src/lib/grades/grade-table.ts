import type { GradeRecord, GradeValue } from './grade-record.ts'

interface Played {
  readonly task: string
  readonly attempt: number
  readonly try: number
}

export type GradeTable = ReturnType<typeof createGradeTable>

/** Creates a table of verdicts: of one grader on a play the latest revision, of votes the first decided one. */
export function createGradeTable(grades: readonly GradeRecord[]) {
  const byGrader = new Map<string, { values: Map<string, GradeValue>; tasks: Set<string> }>()
  const latest = new Map<string, GradeRecord>()
  for (const grade of grades) {
    const { grader, vote, revision } = grade
    const key = JSON.stringify([grader.kind, grader.name, grader.sha256, grader.who ?? '', vote, toPlayKey(grade)])
    if ((latest.get(key)?.revision ?? -1) < revision) latest.set(key, grade)
  }
  for (const grade of [...latest.values()].sort((a, b) => a.vote - b.vote || (a.at < b.at ? -1 : 1))) {
    const ofGrader = byGrader.get(grade.grader.name) ?? { values: new Map(), tasks: new Set() }
    byGrader.set(grade.grader.name, ofGrader)
    ofGrader.tasks.add(grade.task)
    const play = toPlayKey(grade)
    if (grade.value !== null && !ofGrader.values.has(play)) ofGrader.values.set(play, grade.value)
  }
  return {
    graders: [...byGrader.keys()].sort(),
    valueOf: (grader: string, episode: Played) => byGrader.get(grader)?.values.get(toPlayKey(episode)) ?? null,
    ofTasks: (grader: string) => byGrader.get(grader)?.tasks ?? new Set<string>(),
  }
}

export function toPlayKey({ task, attempt, try: number }: Played): string {
  return JSON.stringify([task, attempt, number])
}
