import { studentPoint } from '@episodic/protocol/internal'

export const LABELS_NEEDED = 30

/** Values are from 0 to 1. */
export interface LabelledEpisode {
  readonly task: string
  readonly judge: number
  readonly person: number | null
}

export interface CorrectedMean {
  /** `null` while labels are missing. */
  readonly mean: number | null
  readonly low: number | null
  readonly high: number | null
  readonly labelled: number
  readonly missing: number
}

/**
 * Corrects the mean of a judge: its mean over all episodes, plus the mean of (person − judge) over those that people
 * labelled, which have to be a random sample. So the result does not depend on how good the judge is; a good judge
 * makes its interval narrower.
 *
 * Prediction-powered inference: Angelopoulos, Bates, Fannjiang, Jordan & Zrnic, Science 382 (2023), 669–674. The
 * standard error is robust to episodes of one task that are alike, and counts an episode that is in both means once in
 * each. It is at least that of one label that contradicts the judge: that n labels contain none does not show that
 * there are none.
 */
export function correctedMean(episodes: readonly LabelledEpisode[]): CorrectedMean {
  const differences = episodes.flatMap(({ judge, person }) => (person === null ? [] : [person - judge]))
  const labelled = differences.length
  const missing = Math.max(0, LABELS_NEEDED - labelled)
  if (missing > 0) return { mean: null, low: null, high: null, labelled, missing }
  const judged = meanOf(episodes.map(({ judge }) => judge))
  const correction = meanOf(differences)
  const mean = clamp(judged + correction)
  const tasks = [...Map.groupBy(episodes, ({ task }) => task).values()]
  const labelledTasks = tasks.filter((task) => task.some(({ person }) => person !== null)).length
  if (labelledTasks < 2) return { mean, low: null, high: null, labelled, missing }
  const variance = Math.max(
    varianceOf(
      tasks,
      ({ judge, person }) =>
        (judge - judged) / episodes.length + (person === null ? 0 : (person - judge - correction) / labelled),
    ),
    varianceOf(tasks, ({ judge }) => (judge - judged) / episodes.length) + 1 / labelled ** 2,
  )
  const half = studentPoint(labelledTasks - 1) * Math.sqrt(variance)
  return { mean, low: clamp(judged + correction - half), high: clamp(judged + correction + half), labelled, missing }
}

function varianceOf(
  tasks: readonly (readonly LabelledEpisode[])[],
  partOf: (episode: LabelledEpisode) => number,
): number {
  const sums = tasks.map((task) => task.reduce((sum, episode) => sum + partOf(episode), 0))
  return (tasks.length / (tasks.length - 1)) * sums.reduce((total, sum) => total + sum ** 2, 0)
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function clamp(share: number): number {
  return Math.max(0, Math.min(1, share))
}
