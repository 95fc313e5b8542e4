import type { EpisodeRecord } from '@episodic/protocol'
import { type GradableLine, sealNameOf } from '@episodic/report/grades/gradable-lines'
import { foldGrades, graderKeyOf, type Judgement } from '@episodic/report/grades/grade-fold'
import type { GradeRecord, GraderRef, GradeValue } from '@episodic/report/grades/grade-record'
import { graderNames } from '@episodic/report/grades/grader-names'
import { HarnessError, invalidOption } from '@episodic/run/base/harness-error'
import { gradesFileOf, readGrades } from '@episodic/run/folder/grades-file'
import type { ExportReward } from './rewards.ts'

const GRADER = 'grader:'

export function isGradeReward(name: string): boolean {
  return name.startsWith(GRADER) && name.length > GRADER.length
}

/**
 * Makes the verdicts of one grader the reward: 1 for `true`, 0 for `false`, or its score. An episode without a decision
 * has no reward.
 *
 * Rejects with `grader-unknown` if there is no such grader, or several, and with `option-invalid` if its values are
 * labels.
 *
 * @param reference - `grader:<name>`, or `grader:<name>@<version, person, or start of the hash>`.
 * @param folder - of the run.
 */
export async function gradeReward(reference: string, folder: string): Promise<ExportReward> {
  const file = gradesFileOf(folder)
  const records = await readGrades(file)
  const grader = chooseGrader(reference.slice(GRADER.length), records, file)
  const values = valuesOf(records, graderKeyOf(grader))
  for (const value of values.values())
    if (typeof value === 'string')
      throw invalidOption(
        `The grader ${grader.name} gives labels, such as "${value}", and a reward is a number. Use a grader of scale boolean or score.`,
      )
  return {
    name: `${GRADER}${grader.name}@${grader.who ?? grader.version} ${grader.sha256.slice(0, 8)}`,
    description: 'verdict of a grader',
    of(record) {
      const value = values.get(toSeatEpisodeKey(sealNameOf(record), record.task.id))
      return value === undefined ? null : Number(value)
    },
  }
}

export interface ExportedVerdicts {
  /** As readers know the grader: see `graderNames`. */
  readonly name: string
  /** `null` for an episode without a decision. */
  of(record: EpisodeRecord): GradeValue | null
}

export async function readVerdicts(folder: string): Promise<ExportedVerdicts[]> {
  const records = await readGrades(gradesFileOf(folder))
  const { graders } = foldGrades(records, [])
  const names = graderNames(graders)
  return graders.map(({ key }) => {
    const values = valuesOf(records, key)
    return {
      name: names.get(key) as string,
      of: (record) => values.get(toSeatEpisodeKey(sealNameOf(record), record.task.id)) ?? null,
    }
  })
}

/** What one grader decided, by the names of the episodes. */
function valuesOf(records: readonly GradeRecord[], key: string): ReadonlyMap<string, GradeValue> {
  const values = new Map<string, GradeValue>()
  const own = records.filter((record) => !record.planted && graderKeyOf(record.grader) === key)
  for (const [seat, graded] of Map.groupBy(own, (record) => record.seat ?? null))
    for (const { line, value } of judgementsOf(graded, seat))
      if (value !== null)
        values.set(toSeatEpisodeKey(line.seal, seat === null ? line.task : `${line.task}/${seat}`), value)
  return values
}

function chooseGrader(wanted: string, records: readonly GradeRecord[], file: string): GraderRef {
  const graders = [...new Map(records.map(({ grader }) => [graderKeyOf(grader), grader])).values()]
  const at = wanted.lastIndexOf('@')
  const [name, which] = at > 0 ? [wanted.slice(0, at), wanted.slice(at + 1)] : [wanted, '']
  const isChosen = ({ version, who, sha256 }: GraderRef) =>
    which !== '' && (version === which || who === which || sha256.startsWith(which))
  const whole = graders.filter((grader) => grader.name === wanted)
  const found = whole.length > 0 ? whole : graders.filter((grader) => grader.name === name && isChosen(grader))
  const [only] = found
  if (only && found.length === 1) return only
  const shown = (some: readonly GraderRef[]) =>
    some
      .map((one) => `${one.name}@${one.who ?? one.sha256.slice(0, 8)} (${one.kind}, version ${one.version})`)
      .join(', ')
  throw new HarnessError(
    'grader-unknown',
    found.length > 1
      ? `Several graders are named ${wanted}: ${shown(found)}. Give one as grader:<name>@<person, or start of the hash>.`
      : `${file} has no verdict of a grader "${wanted}". ${graders.length > 0 ? `It has: ${shown(graders)}.` : 'Grade the run first, with episodic grade.'}`,
  )
}

/** Folds verdicts on one seat. Whatever line they are on, the export decides whether it is written. */
function judgementsOf(records: readonly GradeRecord[], seat: string | null): readonly Judgement[] {
  const lines = records.map(
    ({ task, attempt, try: number, seal }): GradableLine => ({
      task,
      attempt,
      try: number,
      seal,
      seat,
      counts: true,
      success: false,
      draw: 0,
    }),
  )
  return foldGrades(records, lines).graders.flatMap(({ judgements }) => judgements)
}

/** Names an episode of one seat in an export, where each seat has a task of its own. */
function toSeatEpisodeKey(seal: string, task: EpisodeRecord['task']['id']): string {
  return `${seal} ${task}`
}
