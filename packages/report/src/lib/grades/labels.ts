import { canonicalJson, contentId } from '@episodic/protocol'
import type { GradableLine } from './gradable-lines.ts'
import { graderKeyOf } from './grade-fold.ts'
import type { GradeRecord, GraderRef, GradeValue } from './grade-record.ts'
import { type GraderScale, labelsOf } from './grader.ts'

/** A question that people answer: verdicts under its name are compared with those of graders. */
export interface LabelQuestion {
  readonly name: string
  readonly version: string
  readonly scale: GraderScale
}

/** Returns the reference that a person's verdicts carry. All people who answer a question share its hash. */
export function personRef(who: string, { name, version, scale }: LabelQuestion): GraderRef {
  return {
    name,
    version,
    sha256: contentId(canonicalJson({ name, version, scale })),
    kind: 'person',
    who,
    ...labelsOf(scale),
  }
}

/**
 * Returns the lines that a person has not labelled yet, the next one first, in the order of their draw: it depends on
 * hashes of the episodes alone, and is the same for all people. So what is labelled, wherever a person stops, is a
 * random sample of the run, and people label the same episodes first.
 *
 * @param records - all verdicts on the run.
 */
export function labelQueue(
  lines: readonly GradableLine[],
  records: Iterable<GradeRecord>,
  person: GraderRef,
): GradableLine[] {
  const key = graderKeyOf(person)
  const labelled = new Set<string>()
  for (const { grader, seal, seat = '' } of records) if (graderKeyOf(grader) === key) labelled.add(`${seal} ${seat}`)
  return lines
    .filter(({ counts, seal, seat }) => counts && !labelled.has(`${seal} ${seat ?? ''}`))
    .sort((a, b) => a.draw - b.draw)
}

export interface PersonVerdict {
  /** See {@link personRef}. */
  readonly person: GraderRef
  readonly run: string
  readonly line: Pick<GradableLine, 'task' | 'attempt' | 'try' | 'seal' | 'seat'>
  /** `null`: undecided. */
  readonly value: GradeValue | null
  readonly why?: string | undefined
  readonly evidence?: GradeRecord['evidence'] | undefined
  /** Whether the line was the next one of {@link labelQueue}. */
  readonly drawn: boolean
  /** All verdicts on the run so far: a further verdict of this person on this line takes the place of the earlier. */
  readonly earlier: Iterable<GradeRecord>
  /** ISO 8601. */
  readonly at: string
}

export function personVerdictOf(verdict: PersonVerdict): GradeRecord {
  const { person, run, line, value, why = '', evidence = [], drawn, earlier, at } = verdict
  const { task, attempt, try: number, seal, seat } = line
  return {
    format: 1,
    run,
    task,
    attempt,
    try: number,
    ...(seat !== null && { seat }),
    seal,
    grader: person,
    vote: 0,
    revision: nextRevision(earlier, { grader: person, seal, vote: 0, ...(seat !== null && { seat }) }),
    drawn,
    value,
    why,
    evidence,
    at,
  }
}

function nextRevision(
  earlier: Iterable<GradeRecord>,
  { grader, seal, seat, vote }: Pick<GradeRecord, 'grader' | 'seal' | 'seat' | 'vote'>,
): number {
  const key = graderKeyOf(grader)
  let next = 0
  for (const record of earlier)
    if (record.seal === seal && record.seat === seat && record.vote === vote && graderKeyOf(record.grader) === key)
      next = Math.max(next, record.revision + 1)
  return next
}
