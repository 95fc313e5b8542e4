import { repr } from '../python/repr.ts'
import { valueError } from './suite.ts'

// A date with a time is a text, `2024-05-15 10:00:00`: in this form texts compare as dates do.

const PARTS: Readonly<Record<string, string>> = {
  '%Y': '(\\d{4})',
  '%m': '(1[0-2]|0[1-9]|[1-9])',
  '%d': '(3[01]|[12]\\d|0[1-9]|[1-9]| [1-9])',
  '%H': '(2[0-3]|[01]\\d|\\d)',
  '%M': '([0-5]\\d|\\d)',
}

/** Reads a text as `strptime` does, with its errors. */
export function parseTime(text: string, format: '%Y-%m-%d' | '%Y-%m-%d %H:%M'): string {
  const pattern = format.replace(' ', '\\s+').replace(/%\w/g, (part) => PARTS[part] as string)
  const found = new RegExp(`^${pattern}`).exec(text)
  if (!found) throw valueError(`time data ${repr(text)} does not match format '${format}'`)
  const rest = text.slice(found[0].length)
  if (rest !== '') throw valueError(`unconverted data remains: ${rest}`)
  return written(found.slice(1).map(Number))
}

const ISO = /^(\d{4})-?(\d\d)-?(\d\d)(?:.(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d+))?)?)?(Z|[+-]\d\d:?\d\d)?)?$/su

/** Reads a text as `fromisoformat` does, with its errors; weeks are not read. */
export function parseIso(text: string): string {
  const found = ISO.exec(text)
  if (!found) throw valueError(`Invalid isoformat string: ${repr(text)}`)
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = ''] = found
  const time = written([year, month, day, hour, minute, second].map(Number))
  const micro = fraction === '' || Number(fraction) === 0 ? '' : `.${fraction.slice(0, 6).padEnd(6, '0')}`
  const offset = zone === 'Z' ? '+00:00' : zone.replace(/^(...)(\d\d)$/, '$1:$2')
  return `${time}${micro}${offset}`
}

function written([year = 0, month = 0, day = 0, ...time]: readonly number[]): string {
  if (year === 0) throw valueError('year 0 is out of range')
  if (month < 1 || month > 12) throw valueError('month must be in 1..12')
  if (day < 1 || day > new Date(Date.UTC(2000, month, 0)).getUTCDate() || !isDay(year, month, day))
    throw valueError('day is out of range for month')
  for (const [i, name] of ['hour', 'minute', 'second'].entries())
    if ((time[i] ?? 0) > (i === 0 ? 23 : 59)) throw valueError(`${name} must be in 0..${i === 0 ? 23 : 59}`)
  const two = (part = 0) => String(part).padStart(2, '0')
  const date = [String(year).padStart(4, '0'), two(month), two(day)].join('-')
  return `${date} ${[0, 1, 2].map((i) => two(time[i])).join(':')}`
}

function isDay(year: number, month: number, day: number): boolean {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day
}

const milliseconds = (time: string) => Date.parse(`${time.slice(0, 19).replace(' ', 'T')}Z`)

/** Returns the time that is as long after `start` as `until` is after `from`. */
export function shifted(start: string, from: string, until: string): string {
  return after(start, milliseconds(until) - milliseconds(from))
}

/** Returns the time so many milliseconds after another. */
export function after(start: string, span: number): string {
  return new Date(milliseconds(start) + span).toISOString().slice(0, 19).replace('T', ' ') + start.slice(19)
}

/** Reads a time of the environment's file, which is a date of YAML or a text. */
export function fileTime(value: unknown): string {
  return parseIso(String(value).replace(' ', 'T'))
}
