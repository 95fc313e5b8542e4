import type { GradeRecord } from '@episodic/report/grades/grade-record'
import type { GraderScale } from '@episodic/report/grades/grader'

export interface LabelChoice {
  /** `1` to `9`. */
  readonly key: string
  readonly name: string
  readonly value: Exclude<GradeRecord['value'], null>
}

/** Reads the scale in an address: `boolean`, `score`, or two to nine labels with commas between them. */
export function parseScale(text: string): GraderScale | null {
  if (text === 'boolean' || text === 'score') return text
  const [first, second, ...others] = [...new Set(text.split(',').map((label) => label.trim()))].filter(Boolean)
  return first !== undefined && second !== undefined && others.length <= 7 ? [first, second, ...others] : null
}

/** The answers of a scale. A score is given in fifths: 0, 0.25, 0.5, 0.75 and 1. */
export function choicesOf(scale: GraderScale): LabelChoice[] {
  if (scale === 'boolean')
    return [
      { key: '1', name: 'yes', value: true },
      { key: '2', name: 'no', value: false },
    ]
  if (scale === 'score')
    return ['not at all', 'a little', 'half', 'mostly', 'fully'].map((name, i) => ({
      key: String(i + 1),
      name: `${i / 4} ${name}`,
      value: i / 4,
    }))
  return scale.map((label, i) => ({ key: String(i + 1), name: label, value: label }))
}
