import type { Json } from '@episodic/protocol'
import type { casual, Parser } from 'chrono-node/en'
import { loadPackage } from '../model/load-package.ts'
import type { Entity, EntityMatch } from './entity.ts'
import type { Utterance } from './utterance.ts'

/** Words relative to the last date, not to today. `The day after tomorrow` is not: it names its own reference. */
const OF_ANOTHER_DAY = /\b(?:after|later|before|earlier|next day|following day)\b(?! tomorrow| yesterday)/i

/** Times of day are removed first: another slot may ask for one, and chrono would merge it with the day. */
const TIME_OF_DAY = /\b(?:in the |at )?(?:morning|afternoon|evening|noon|night|midnight)\b/gi

/** Dates that chrono does not parse: `the following day`, and `the 12th`, which is the next day with that number. */
const MORE_DAYS: readonly Parser[] = [
  {
    pattern: () => /\b(?:the )?following day\b/i,
    extract: ({ refDate }) => dayOf(new Date(refDate.getFullYear(), refDate.getMonth(), refDate.getDate() + 1, 12)),
  },
  {
    pattern: () => /\b(?:on )?the (\d{1,2})(?:st|nd|rd|th)\b(?! (?:one|option|choice))/i,
    extract({ refDate }, match) {
      const day = Number(match[1])
      const months = day < refDate.getDate() ? 1 : 0
      const date = new Date(refDate.getFullYear(), refDate.getMonth() + months, day, 12)
      return date.getDate() === day ? dayOf(date) : null
    },
  },
]

/** A quick test that every date passes, so that most utterances need no parser. `Now` is a time, not a day. */
const MAY_NAME_A_DAY =
  /\d|day|week|fortnight|month|year|tomorrow|tonight|tmr|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)/i

let parser: typeof casual | null = null

function dateParser(): typeof casual {
  if (parser) return parser
  const chrono = loadPackage<typeof import('chrono-node/en')>('chrono-node/en', 'The entity day()', 'chrono-node@2')
  parser = chrono.casual.clone()
  parser.parsers.push(...MORE_DAYS)
  return parser
}

const WORDS =
  'january february march april june july august september october november december monday tuesday wednesday thursday friday saturday sunday today tomorrow tonight after before next following weekend week weeks days month later'.split(
    ' ',
  )

/**
 * Creates an entity for days, as `2026-03-09`: `tomorrow`, `on Friday`, `3 December`, `in two weeks`, `12/3` (the third
 * of December), and, relative to the last day, `the day after` and `a week later`. Days are in UTC, and a date without
 * a year is the next one. A month or an hour alone is not a day. Throws `package-missing` if the package `chrono-node`
 * is not installed.
 */
export function day(): Entity {
  const chrono = dateParser()
  return {
    words: WORDS,
    find(utterance, context) {
      if (!MAY_NAME_A_DAY.test(utterance.text)) return []
      const anchor = OF_ANOTHER_DAY.test(utterance.text) ? timeOf(context.last) : null
      const matches: EntityMatch[] = []
      const days = utterance.text.replace(TIME_OF_DAY, (time) => '|'.repeat(time.length))
      for (const { index, text, start } of chrono.parse(days, noonOf(anchor ?? context.now), { forwardDate: true })) {
        if (!start.isCertain('day') && !start.isCertain('weekday')) continue
        const value = [start.get('year'), start.get('month'), start.get('day')]
          .map((part, i) => String(part).padStart(i === 0 ? 4 : 2, '0'))
          .join('-')
        const range = wordRange(utterance, index, index + text.length)
        if (range && timeOf(value) !== null) matches.push({ ...range, value })
      }
      return matches
    },
  }
}

/** Noon of a UTC day in the machine's zone, which chrono uses: no change of clocks skips noon. */
function noonOf(time: number): Date {
  const date = new Date(time)
  return new Date(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate(), 12)
}

function dayOf(date: Date): { year: number; month: number; day: number } {
  return { year: date.getFullYear(), month: date.getMonth() + 1, day: date.getDate() }
}

function timeOf(value: Json): number | null {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return null
  const time = Date.parse(`${value}T00:00:00Z`)
  return Number.isNaN(time) ? null : time
}

function wordRange({ words }: Utterance, from: number, to: number): { start: number; end: number } | null {
  const start = words.findIndex((word) => word.end > from)
  const end = words.findLastIndex((word) => word.start < to) + 1
  return start >= 0 && end > start ? { start, end } : null
}
