import { canonicalJson, type Json } from '@episodic/protocol'
import { compareText, type GradableLine } from './gradable-lines.ts'
import type { GradeRecord, GraderRef, GradeValue } from './grade-record.ts'

export interface GraderVerdicts {
  /** Equal for verdicts that are comparable, see {@link graderKeyOf}. */
  readonly key: string
  readonly grader: GraderRef
  /** The model that a judge asks; if it does not say, those that answered. Empty for other graders. */
  readonly models: readonly string[]
  readonly judgements: readonly Judgement[]
  readonly planted: readonly GradeRecord[]
}

export interface Judgement {
  readonly line: GradableLine
  /** The majority of the votes, or the mean of scores; `null` if no vote has a value, or none has most votes. */
  readonly value: GradeValue | null
  /** Whether the line was drawn at random, in every vote. */
  readonly drawn: boolean
  readonly votes: readonly GradeRecord[]
}

export interface GradeFold {
  /** In the order of names, versions and people. */
  readonly graders: readonly GraderVerdicts[]
  readonly orphans: readonly GradeRecord[]
}

/** Returns what is equal for comparable verdicts alone: the grader's name and hash, and the person. */
export function graderKeyOf({ kind, name, sha256, who = '' }: GraderRef): string {
  return JSON.stringify([kind, name, sha256, who])
}

/** Folds verdicts in any order: of a grader (or person), line and vote the highest revision, then the latest. */
export function foldGrades(records: Iterable<GradeRecord>, lines: Iterable<GradableLine>): GradeFold {
  const bySeal = new Map([...lines].map((line) => [line.seal, line]))
  const latest = new Map<string, GradeRecord>()
  for (const record of records) {
    const { grader, seal, vote, seat = '' } = record
    const name = `${graderKeyOf(grader)} ${seal} ${vote} ${seat}`
    const known = latest.get(name)
    if (!known || compareRevisions(known, record) < 0) latest.set(name, record)
  }
  const orphans: GradeRecord[] = []
  const graders = new Map<string, GradedBy>()
  for (const record of latest.values()) {
    const key = graderKeyOf(record.grader)
    const found: GradedBy = graders.get(key) ?? { grader: record.grader, lines: new Map(), planted: [] }
    graders.set(key, found)
    const line = bySeal.get(record.seal)
    if (record.planted) found.planted.push(record)
    else if (!line) orphans.push(record)
    else if (line.counts && line.seat === (record.seat ?? null))
      found.lines.set(line.seal, [...(found.lines.get(line.seal) ?? []), record])
  }
  const order = new Map([...bySeal.keys()].map((seal, i) => [seal, i]))
  return {
    graders: [...graders]
      .map(([key, { grader, lines: graded, planted }]) => ({
        key,
        grader,
        models: modelsOf(grader, [...[...graded.values()].flat(), ...planted]),
        planted: planted.sort(comparePlaces),
        judgements: [...graded]
          .sort(([a], [b]) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
          .map(([seal, votes]) => judgementOf(bySeal.get(seal) as GradableLine, votes)),
      }))
      .sort((a, b) => compareGraders(a.grader, b.grader)),
    orphans: orphans.sort(comparePlaces),
  }
}

function modelsOf({ model }: GraderRef, records: readonly GradeRecord[]): string[] {
  if (model !== undefined) return [model]
  return [...new Set(records.flatMap(({ asked }) => asked?.model ?? []))].sort()
}

interface GradedBy {
  readonly grader: GraderRef
  readonly lines: Map<string, GradeRecord[]>
  readonly planted: GradeRecord[]
}

function judgementOf(line: GradableLine, records: readonly GradeRecord[]): Judgement {
  const votes = [...records].sort((a, b) => a.vote - b.vote)
  const values = votes.flatMap(({ value }) => (value === null ? [] : [value]))
  return { line, value: joinVotes(values), drawn: votes.every(({ drawn }) => drawn), votes }
}

function joinVotes(values: readonly GradeValue[]): GradeValue | null {
  const scores = values.filter((value) => typeof value === 'number')
  if (scores.length > 0 && scores.length === values.length)
    return scores.reduce((sum, score) => sum + score, 0) / scores.length
  const counts = Map.groupBy(values, (value) => value)
  const [first, second] = [...counts].sort(([, a], [, b]) => b.length - a.length)
  return first && first[1].length > (second?.[1].length ?? 0) ? first[0] : null
}

function compareRevisions(a: GradeRecord, b: GradeRecord): number {
  return a.revision - b.revision || compareText(a.at, b.at) || compareText(toRecordText(a), toRecordText(b))
}

function comparePlaces(a: GradeRecord, b: GradeRecord): number {
  return compareText(a.task, b.task) || a.attempt - b.attempt || compareText(toRecordText(a), toRecordText(b))
}

function compareGraders(a: GraderRef, b: GraderRef): number {
  const wordsOf = ({ name, kind, version, who = '', sha256 }: GraderRef) => [name, kind, version, who, sha256]
  const [one, other] = [wordsOf(a), wordsOf(b)]
  return one.reduce((order, word, i) => order || compareText(word, other[i] as string), 0)
}

function toRecordText(record: GradeRecord): string {
  return canonicalJson(record as unknown as Json)
}
