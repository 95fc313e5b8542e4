import type { Signature } from './commit.ts'

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** A time as git stores it: seconds since 1970, and the zone. */
export type GitTime = Pick<Signature, 'time' | 'zone'>

/** Returns the time that a text says, as `GIT_AUTHOR_DATE` may; `null` if it says none. */
export function parseDate(text: string): GitTime | null {
  const [, raw, rawZone] = /^@?(\d{5,})(?: ([+-]\d{4}))?$/.exec(text.trim()) ?? []
  if (raw !== undefined) return { time: Number(raw), zone: rawZone ?? '+0000' }
  const [, day, clock, digits] =
    /^(\d{4}-\d\d?-\d\d?)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)?)?\s*(Z|[+-]\d\d:?\d\d)?$/.exec(text.trim()) ??
    named(text.trim()) ??
    []
  if (day === undefined) return null
  const zone = digits === undefined || digits === 'Z' ? '+0000' : digits.replace(':', '')
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const [hours = 0, minutes = 0, seconds = 0] = (clock ?? '00:00').split(':').map(Number)
  const time = Date.UTC(year, month - 1, date, hours, minutes, seconds) / 1_000 - secondsOf(zone)
  return Number.isFinite(time) ? { time, zone } : null
}

/** Parses a date with the name of its month, such as `Thu, 07 Apr 2005 22:13:13 +0200` or git's own. */
function named(text: string): readonly string[] | null {
  const before = /^(?:\w{3},? )?(\d\d?) (\w{3}) (\d{4}) (\d\d:\d\d(?::\d\d)?)(?: ([+-]\d{4}))?$/.exec(text)
  const after = /^(?:\w{3},? )?(\w{3}) (\d\d?) (\d\d:\d\d(?::\d\d)?) (\d{4})(?: ([+-]\d{4}))?$/.exec(text)
  const [date, month, year, clock, zone] =
    before?.slice(1) ?? (after ? [after[2], after[1], after[4], after[3], after[5]] : [])
  const number = MONTHS.indexOf(month ?? '') + 1
  return number === 0 ? null : ['', `${year}-${number}-${date}`, clock as string, zone as string]
}

function secondsOf(zone: string): number {
  const seconds = Number(zone.slice(1, 3)) * 3_600 + Number(zone.slice(3)) * 60
  return zone.startsWith('-') ? -seconds : seconds
}

/** Returns a time in a format of `--date`, `null` for an unknown one; `now`, in seconds, is for relative ones. */
export function formatDate({ time, zone }: GitTime, format: string, now: number): string | null {
  const date = new Date((time + secondsOf(zone)) * 1_000)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getUTCFullYear()}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`
  const clock = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`
  const [weekday, month] = [DAYS[date.getUTCDay()], MONTHS[date.getUTCMonth()]]
  const formats: Readonly<Record<string, () => string>> = {
    default: () => `${weekday} ${month} ${date.getUTCDate()} ${clock} ${date.getUTCFullYear()} ${zone}`,
    local: () => `${weekday} ${month} ${date.getUTCDate()} ${clock} ${date.getUTCFullYear()}`,
    short: () => day,
    iso: () => `${day} ${clock} ${zone}`,
    iso8601: () => `${day} ${clock} ${zone}`,
    'iso-strict': () => `${day}T${clock}${zone === '+0000' ? '+00:00' : zone.replace(/(\d\d)$/, ':$1')}`,
    rfc: () => `${weekday}, ${date.getUTCDate()} ${month} ${date.getUTCFullYear()} ${clock} ${zone}`,
    rfc2822: () => `${weekday}, ${date.getUTCDate()} ${month} ${date.getUTCFullYear()} ${clock} ${zone}`,
    raw: () => `${time} ${zone}`,
    unix: () => String(time),
    human: () => `${weekday} ${month} ${date.getUTCDate()} ${clock} ${date.getUTCFullYear()} ${zone}`,
    relative: () => relative(Math.max(0, now - time)),
  }
  if (format.startsWith('format:')) return withFields(format.slice(7), date, zone)
  return formats[format]?.() ?? null
}

function withFields(format: string, date: Date, zone: string): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const fields: Readonly<Record<string, string>> = {
    Y: String(date.getUTCFullYear()),
    m: two(date.getUTCMonth() + 1),
    d: two(date.getUTCDate()),
    H: two(date.getUTCHours()),
    M: two(date.getUTCMinutes()),
    S: two(date.getUTCSeconds()),
    F: date.toISOString().slice(0, 10),
    T: date.toISOString().slice(11, 19),
    b: MONTHS[date.getUTCMonth()] as string,
    a: DAYS[date.getUTCDay()] as string,
    y: two(date.getUTCFullYear() % 100),
    z: zone,
    '%': '%',
  }
  return format.replace(/%(.)/g, (all, letter) => fields[letter] ?? all)
}

/** Returns how long ago a time is, as git says it. */
function relative(seconds: number): string {
  const ago = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'} ago`
  if (seconds < 90) return ago(seconds, 'second')
  const minutes = Math.floor((seconds + 30) / 60)
  if (minutes < 90) return ago(minutes, 'minute')
  const hours = Math.floor((minutes + 30) / 60)
  if (hours < 36) return ago(hours, 'hour')
  const days = Math.floor((hours + 12) / 24)
  if (days < 14) return ago(days, 'day')
  if (days < 70) return ago(Math.floor((days + 3) / 7), 'week')
  if (days < 365) return ago(Math.floor((days + 15) / 30), 'month')
  if (days < 1825) {
    const months = Math.floor((days * 12 * 2 + 365) / (365 * 2))
    const [years, rest] = [Math.floor(months / 12), months % 12]
    if (rest === 0) return ago(years, 'year')
    return `${years} year${years === 1 ? '' : 's'}, ${ago(rest, 'month')}`
  }
  return ago(Math.floor((days + 183) / 365), 'year')
}
