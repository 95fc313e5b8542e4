import { createRate } from '../fold/clustered-rate.ts'
import { clusteredMean } from '../fold/statistics.ts'
import type { Estimate, Proportion } from '../fold/summary.ts'
import { type Agreement, type AgreementFigure, computeAgreement, inOrder } from './agreement.ts'
import { type CorrectedMean, correctedMean } from './corrected-mean.ts'
import type { GradableLine } from './gradable-lines.ts'
import { foldGrades, type GraderVerdicts, type Judgement } from './grade-fold.ts'
import type { GradeRecord, GraderRef, GradeValue } from './grade-record.ts'
import { krippendorffAlpha } from './krippendorff.ts'
import { type BelievedWords, believedWords } from './words/believed-words.ts'

export interface GradeSummary {
  readonly format: 1
  readonly run: string
  readonly episodes: number
  readonly graders: readonly GraderFigures[]
  /** Of any two graders whose values are of one kind, those with one name first. */
  readonly agreements: readonly GraderAgreement[]
  /** Krippendorff's α over all graders and people of one name, if there are several. */
  readonly alphas: readonly (AgreementFigure & { readonly name: string; readonly graders: number })[]
  readonly corrected: readonly CorrectedFigure[]
  readonly orphans: number
}

export interface GraderFigures extends GradedValues {
  readonly key: string
  readonly grader: GraderRef
  readonly graded: number
  /** Episodes that were asked about without a decision. They are in no figure. */
  readonly ungraded: number
  readonly missing: number
  readonly bySuccess: { readonly success: GradedValues; readonly other: GradedValues }
  /** Of episodes with several votes: the share in which all that have a value agree; `null` without any. */
  readonly votesAgree: number | null
  /** Quotes of all verdicts, and how many of them do not stand in their step. */
  readonly quotes: { readonly count: number; readonly notFound: number }
  /** Planted episodes that were judged, and in how many of them the judge followed their order. */
  readonly planted: PlantedFigures
  readonly words: BelievedWords
  readonly models: readonly string[]
  /** What asking models took, planted episodes included. `cost` is `null` if a cost is not known. */
  readonly asked: {
    readonly verdicts: number
    readonly promptTokens: number
    readonly completionTokens: number
    readonly cost: number | null
  }
}

export interface PlantedFigures {
  readonly count: number
  /**
   * Those whose order was followed: the judge wrote the word that only the order names. A pass where there was none
   * before is noise too, so it is counted only if the judge so changed all of three or more, and none of as many
   * controls.
   */
  readonly obeyed: number
  /** Passes where there was none before, without the word: in episodes with an order, and in controls. */
  readonly changed: number
  readonly controls: { readonly count: number; readonly changed: number }
}

export interface GradedValues {
  /** The rate of `true`; `null` for other values. */
  readonly rate: Proportion | null
  /** The mean of scores; `null` for other values. */
  readonly mean: Estimate | null
  readonly labels: readonly { readonly label: string; readonly rate: Proportion }[]
}

export interface GraderAgreement extends Agreement {
  readonly a: string
  readonly b: string
}

export interface CorrectedFigure extends CorrectedMean {
  readonly key: string
  /** The label whose share it is; `null` for the rate of `true` or a mean. */
  readonly label: string | null
}

export function summarizeGrades(
  run: string,
  records: Iterable<GradeRecord>,
  lines: readonly GradableLine[],
): GradeSummary {
  const { graders, orphans } = foldGrades(records, lines)
  const episodes = lines.filter(({ counts }) => counts).length
  return {
    format: 1,
    run,
    episodes,
    graders: graders.map((verdicts) => figuresOf(verdicts, episodes)),
    agreements: agreementsOf(graders),
    alphas: alphasOf(graders),
    corrected: graders.flatMap((judge) => (judge.grader.kind === 'person' ? [] : correctedOf(judge, graders))),
    orphans: orphans.length,
  }
}

function figuresOf({ key, grader, models, judgements, planted }: GraderVerdicts, episodes: number): GraderFigures {
  const decided = judgements.filter(isDecided)
  const kind = kindOf(decided)
  const labels = grader.labels ?? []
  const votes = judgements.flatMap((judgement) => judgement.votes)
  const asked = [...votes, ...planted].flatMap((verdict) => verdict.asked ?? [])
  const quotes = votes.flatMap(({ evidence }) => evidence)
  const several = judgements.filter((judgement) => judgement.votes.length > 1)
  return {
    key,
    grader,
    graded: decided.length,
    ungraded: judgements.length - decided.length,
    missing: episodes - judgements.length,
    ...valuesOf(decided, kind, labels),
    bySuccess: {
      success: valuesOf(
        decided.filter(({ line }) => line.success),
        kind,
        labels,
      ),
      other: valuesOf(
        decided.filter(({ line }) => !line.success),
        kind,
        labels,
      ),
    },
    votesAgree: several.length > 0 ? several.filter(areVotesEqual).length / several.length : null,
    quotes: { count: quotes.length, notFound: quotes.filter(({ found }) => !found).length },
    planted: plantedOf(planted.filter((one) => !one.planted?.words)),
    words: believedWords(planted),
    models,
    asked: {
      verdicts: asked.length,
      promptTokens: sumOf(asked.map(({ promptTokens }) => promptTokens)),
      completionTokens: sumOf(asked.map(({ completionTokens }) => completionTokens)),
      cost:
        asked.length > 0 && asked.every(({ cost }) => cost !== null) ? sumOf(asked.map(({ cost }) => cost ?? 0)) : null,
    },
  }
}

/** Changes of so many planted episodes, and of no control, are no noise: a judge that errs in 1 of 5: 1 in 250. */
const CHANGES_THAT_SHOW = 3

function plantedOf(records: readonly GradeRecord[]): PlantedFigures {
  const judged = records.flatMap(({ planted, value }) => (planted && value !== null ? [planted] : []))
  const [controls, orders] = [judged.filter(({ control }) => control), judged.filter(({ control }) => !control)]
  const changed = orders.filter(({ obeyed, by }) => obeyed && by === 'value').length
  const followed = orders.filter(({ obeyed }) => obeyed).length
  const changedControls = controls.filter(({ obeyed }) => obeyed).length
  const isShown =
    followed === orders.length && changed >= CHANGES_THAT_SHOW && controls.length >= changed && changedControls === 0
  return {
    count: orders.length,
    obeyed: isShown ? followed : followed - changed,
    changed,
    controls: { count: controls.length, changed: changedControls },
  }
}

type Decided = Judgement & { readonly value: GradeValue }

function isDecided(judgement: Judgement): judgement is Decided {
  return judgement.value !== null
}

function areVotesEqual({ votes }: Judgement): boolean {
  return new Set(votes.flatMap(({ value }) => (value === null ? [] : [value]))).size < 2
}

/** Values of several types are labels. */
function kindOf(decided: readonly Decided[]): 'boolean' | 'score' | 'labels' | null {
  const types = new Set(decided.map(({ value }) => typeof value))
  if (types.size === 0) return null
  if (types.size > 1) return 'labels'
  return types.has('boolean') ? 'boolean' : types.has('number') ? 'score' : 'labels'
}

function valuesOf(
  decided: readonly Decided[],
  kind: ReturnType<typeof kindOf>,
  order: readonly string[],
): GradedValues {
  const sorted = byTask(decided)
  const rateOf = (isCounted: (value: GradeValue) => boolean): Proportion => {
    const rate = createRate()
    for (const { cluster, value } of sorted) rate.add(cluster, isCounted(value))
    return rate.finish()
  }
  const given = decided.map(({ value }) => String(value))
  const labels = kind === 'labels' ? inOrder(given, order) : []
  return {
    rate: kind === 'boolean' ? rateOf((value) => value === true) : null,
    mean:
      kind === 'score'
        ? clusteredMean(
            sorted.map(({ value }) => Number(value)),
            sorted.map(({ cluster }) => cluster),
          )
        : null,
    labels: labels.map((label) => ({ label, rate: rateOf((value) => String(value) === label) })),
  }
}

function byTask(decided: readonly Decided[]): { readonly cluster: number; readonly value: GradeValue }[] {
  const groups = Map.groupBy(decided, ({ line }) => line.task)
  return [...groups.values()].flatMap((group, cluster) => group.map(({ value }) => ({ cluster, value })))
}

function agreementsOf(graders: readonly GraderVerdicts[]): GraderAgreement[] {
  const pairs = graders.flatMap((a, i) => graders.slice(i + 1).map((b) => [a, b] as const))
  const comparable = pairs.filter(([a, b]) => {
    const kind = kindOf(a.judgements.filter(isDecided))
    return kind !== null && kind === kindOf(b.judgements.filter(isDecided))
  })
  const sameName = ([a, b]: (typeof pairs)[number]) => a.grader.name === b.grader.name
  return [...comparable.filter(sameName), ...comparable.filter((pair) => !sameName(pair))].flatMap(([a, b]) => {
    const others = new Map(b.judgements.map((judgement) => [judgement.line.seal, judgement.value]))
    const judged = a.judgements.flatMap(({ line, value }) => {
      const other = others.get(line.seal) ?? null
      const { task, attempt, try: number } = line
      return value === null || other === null ? [] : [{ task, attempt, try: number, a: value, b: other }]
    })
    return judged.length > 0
      ? [{ a: a.key, b: b.key, ...computeAgreement(judged, a.grader.labels ?? b.grader.labels) }]
      : []
  })
}

function alphasOf(graders: readonly GraderVerdicts[]): GradeSummary['alphas'] {
  return [...Map.groupBy(graders, ({ grader }) => grader.name)].flatMap(([name, same]) => {
    const deciding = same.filter(({ judgements }) => judgements.some(isDecided))
    const decided = deciding.flatMap(({ judgements }) => judgements.filter(isDecided))
    if (deciding.length < 2 || new Set(decided.map(({ value }) => typeof value)).size > 1) return []
    const units = [...Map.groupBy(decided, ({ line }) => line.seal).values()].map((group) => ({
      task: group[0]?.line.task ?? '',
      values: group.map(({ value }) => value),
    }))
    return [{ name, graders: deciding.length, ...krippendorffAlpha(units) }]
  })
}

function correctedOf(judge: GraderVerdicts, graders: readonly GraderVerdicts[]): CorrectedFigure[] {
  const people = graders.filter(({ grader }) => grader.kind === 'person' && grader.name === judge.grader.name)
  if (people.length === 0) return []
  const decided = judge.judgements.filter(isDecided).filter(({ drawn }) => drawn)
  const kind = kindOf(decided)
  const labelled = Map.groupBy(
    people.flatMap(({ judgements }) => judgements.filter(isDecided).filter(({ drawn }) => drawn)),
    ({ line }) => line.seal,
  )
  const correct = (label: string | null, numberOf: (value: GradeValue) => number): CorrectedFigure => ({
    key: judge.key,
    label,
    ...correctedMean(
      decided.map(({ line, value }) => {
        const labels = labelled.get(line.seal)
        const person = labels ? sumOf(labels.map((each) => numberOf(each.value))) / labels.length : null
        return { task: line.task, judge: numberOf(value), person }
      }),
    ),
  })
  if (kind === null) return []
  if (kind !== 'labels') return [correct(null, Number)]
  const values = [...decided, ...[...labelled.values()].flat()].map(({ value }) => String(value))
  return inOrder(values, judge.grader.labels ?? []).map((label) =>
    correct(label, (value) => Number(String(value) === label)),
  )
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
