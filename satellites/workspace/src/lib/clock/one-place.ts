const LOCALE = 'en-US'

/** The end of a text of a date that says its zone, or that is a date alone of ISO 8601, which is in UTC. */
const HAS_ZONE = /(Z|UT|UTC|GMT|[+-]\d\d:?\d\d)\s*(\(.*\))?$|^\d{4}(-\d\d){0,2}$/i

/**
 * Puts this thread into the zone UTC and a fixed locale, for good, whatever the machine has: what is local of a date is
 * that of UTC. Returns what reads a text of a date so. Call it before a library is loaded.
 */
export function installOnePlace(): (text: string) => number {
  const { prototype } = Date
  const methods = prototype as unknown as Record<string, (...args: unknown[]) => unknown>
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const [, verb, part] = /^([gs]et)UTC(.+)$/.exec(name) ?? []
    if (verb && part) methods[`${verb}${part}`] = methods[name] as (typeof methods)[string]
  }
  prototype.getTimezoneOffset = () => 0
  const day = prototype.toUTCString
  prototype.toDateString = function toDateString() {
    // "Wed, 01 Jan 2025 00:00:00 GMT" as "Wed Jan 01 2025"
    const [weekday = '', date, month, year] = day.call(this).split(/,? /)
    return year === undefined ? weekday : `${weekday} ${month} ${date} ${year}`
  }
  prototype.toTimeString = function toTimeString() {
    return `${day.call(this).slice(-12, -4)} GMT+0000 (Coordinated Universal Time)`
  }
  prototype.toString = function toText() {
    return Number.isNaN(this.getTime()) ? 'Invalid Date' : `${this.toDateString()} ${this.toTimeString()}`
  }
  const intl = Intl as unknown as Record<string, new (locale?: unknown, options?: object) => object>
  for (const name of 'Collator DateTimeFormat NumberFormat PluralRules RelativeTimeFormat ListFormat'.split(' ')) {
    const make = ([locale = LOCALE, options]: readonly [unknown?, { readonly timeZone?: string }?]) => [
      locale,
      { ...options, timeZone: options?.timeZone ?? 'UTC' },
    ]
    intl[name] = new Proxy(intl[name] as (typeof intl)[string], {
      construct: (real, args, target) => Reflect.construct(real, make(args as never), target),
      apply: (real, self, args) => Reflect.apply(real as never, self, make(args as never)),
    })
  }
  for (const [owner, name] of [
    [prototype, 'toLocaleString'],
    [prototype, 'toLocaleDateString'],
    [prototype, 'toLocaleTimeString'],
    [Number.prototype, 'toLocaleString'],
  ] as const) {
    const own = owner as unknown as typeof methods
    const real = own[name] as (typeof methods)[string]
    own[name] = function toLocale(this: unknown, locale: unknown = LOCALE, options: unknown = {}) {
      return real.call(this, locale, { timeZone: 'UTC', ...(options as object) })
    }
  }
  const parse = Date.parse
  return (text) => {
    const at = HAS_ZONE.test(text.trim()) ? Number.NaN : parse(/\dT\d/.test(text) ? `${text}Z` : `${text} UTC`)
    return Number.isNaN(at) ? parse(text) : at
  }
}
