import { repr } from '../python/repr.ts'
import { PythonError } from './api.ts'

const DATE = '(\\d{4})-(1[0-2]|0[1-9]|[1-9])-(3[01]|[12]\\d|0[1-9]|[1-9]| [1-9])'
const FORMATS = {
  '%Y-%m-%d': new RegExp(`^${DATE}`),
  '%Y-%m-%d %H:%M:%S': new RegExp(`^${DATE}\\s+(2[0-3]|[01]\\d|\\d):([0-5]\\d|\\d):(6[01]|[0-5]\\d|\\d)`),
}

/**
 * Reads a time as `datetime.strptime` does, and returns its parts as a text that sorts by time. Throws what that does.
 */
export function readTime(text: string, format: keyof typeof FORMATS): string {
  const found = FORMATS[format].exec(text)
  if (!found) throw new PythonError(`time data ${repr(text)} does not match format ${repr(format)}`)
  if (found[0].length < text.length) throw new PythonError(`unconverted data remains: ${text.slice(found[0].length)}`)
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0] = found.slice(1).map(Number)
  if (year === 0) throw new PythonError('year 0 is out of range')
  if (day > new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate())
    throw new PythonError('day is out of range for month')
  const parts = [month, day, hours, minutes, seconds].map((part) => String(part).padStart(2, '0'))
  return [String(year).padStart(4, '0'), ...parts].join('-')
}

/** Returns whether a text is a day that `datetime.strptime` reads. */
export function isDate(text: string): boolean {
  try {
    return readTime(text, '%Y-%m-%d') !== ''
  } catch {
    return false
  }
}
