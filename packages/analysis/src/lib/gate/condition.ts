import type { OptionText } from '@episodic/run/base/options'
import { InvalidArgumentError } from 'commander'

export interface Condition {
  readonly way: '>=' | '<='
  /** Of a share from 0 to 1. */
  readonly limit: number
}

/** `>=0.8` or `>=80%`. */
export const shareCondition: OptionText<Condition> = {
  read(text) {
    const { way, limit, isPercent } = readCondition(text) ?? {}
    const share = limit === undefined ? Number.NaN : isPercent ? limit / 100 : limit
    if (way && share >= 0 && share <= 1) return { way, limit: share }
    throw new InvalidArgumentError("Write >= or <= and a share, from 0 to 1 or in per cent, for example '>=80%'.")
  },
}

export interface GradeCondition extends Condition {
  /** The name of the grader; with `: ` and a label if it says labels. */
  readonly grader: string
  readonly isPercent: boolean
}

/** `polite>=80%` or `tone: rude<=0.05`; can be given several times. */
export const gradeConditions: OptionText<readonly GradeCondition[]> = {
  read(text, earlier = []) {
    const [, grader = '', condition = ''] = /^(.*?)\s*((?:>=|<=).*)$/.exec(text.trim()) ?? []
    const { way, limit = 0, isPercent = false } = readCondition(condition) ?? {}
    if (grader !== '' && way) return [...earlier, { grader, way, limit: isPercent ? limit / 100 : limit, isPercent }]
    throw new InvalidArgumentError("Write a grader, >= or <= and a limit, for example 'polite>=80%' or 'quality>=3.5'.")
  },
}

/** `<=12.5`. */
export const numberCondition: OptionText<Condition> = {
  read(text) {
    const { way, limit = 0, isPercent } = readCondition(text) ?? {}
    if (way && !isPercent) return { way, limit }
    throw new InvalidArgumentError("Write >= or <= and a number, for example '<=12.5'.")
  },
}

/** `3points`: percentage points, as a share. */
export const marginText: OptionText<number> = {
  read(text) {
    const [, points = ''] = /^\s*(\d{1,3}(?:\.\d+)?)\s*points?\s*$/.exec(text) ?? []
    const margin = Number(points) / 100
    if (points !== '' && margin > 0 && margin < 1) return margin
    throw new InvalidArgumentError('Write a number of percentage points above 0, for example 3points.')
  },
}

function readCondition(text: string) {
  const [, way, number, percent] = /^\s*(>=|<=)\s*(-?\d+(?:\.\d+)?)\s*(%?)\s*$/.exec(text) ?? []
  if (way === undefined) return null
  return { way: way as Condition['way'], limit: Number(number), isPercent: percent === '%' }
}
