const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const MONTH = `(${MONTHS.join('|')})[a-z]*\\.?`
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?'
const YEAR = '(?:,?\\s+((?:19|20)\\d\\d))?'
const UNITS =
  'zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')
/** `one` is left out, which mostly stands for something. */
const NUMBERS = new Map([
  ...UNITS.split(' ').map((word, i) => [word, i === 0 ? 0 : i + 1] as const),
  ...TENS.map((word, i) => [word, (i + 2) * 10] as const),
])
const NUMBER = [...NUMBERS.keys()].join('|')
const IN_WORDS = new RegExp(`\\b(?:${NUMBER})(?:[\\s-]+(?:and\\s+)?(?:${NUMBER}|one|hundred|thousand))*\\b`, 'gi')

/** Returns a text with dates as `m06d18 2026`, and numbers as digits alone, however they were written. */
export function inOneNotation(text: string): string {
  const date = (day: string, month: number, year = '') =>
    ` m${`${month}`.padStart(2, '0')}d${day.padStart(2, '0')} ${year} `
  const named = (name: string) => MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1
  return text
    .replace(/\b((?:19|20)\d\d)[-/.](\d{1,2})[-/.](\d{1,2})\b/g, (_, year, month, day) => date(day, +month, year))
    .replace(/\b(\d{1,2})([-/.])(\d{1,2})\2((?:19|20)\d\d)\b/g, (_, one, sign, other, year) =>
      // Only Americans write the month first, with a slash.
      (sign === '/' && +one <= 12) || +other > 12 ? date(other, +one, year) : date(one, +other, year),
    )
    .replace(new RegExp(`\\b${MONTH}\\s+${DAY}\\b${YEAR}`, 'gi'), (_, month, day, year) =>
      date(day, named(month), year),
    )
    .replace(new RegExp(`\\b${DAY}\\s+(?:of\\s+)?${MONTH}\\b${YEAR}`, 'gi'), (_, day, month, year) =>
      date(day, named(month), year),
    )
    .replace(IN_WORDS, (words) => `${numberOf(words.toLowerCase().split(/[\s-]+/))}`)
    .replace(/\b(\d+(?:\.\d+)?)k\b/gi, (_, thousands) => `${Math.round(Number(thousands) * 1_000)}`)
    .replace(/(?<![\d.,-])\d{1,3}(?:[,.'’]\d{3})+(?![\d-]|[.,]\d{3})/g, (number) => number.replace(/\D/g, ''))
}

function numberOf(words: readonly string[]): number {
  let [sum, part] = [0, 0]
  for (const word of words)
    if (word === 'thousand') [sum, part] = [sum + part * 1_000, 0]
    else if (word === 'hundred') part *= 100
    else part += word === 'one' ? 1 : (NUMBERS.get(word) ?? 0)
  return sum + part
}

/** Words in lower case with a space between them; letters and digits alone. */
export const spaced = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\d]+/gu, ' ')
    .trim()
export const plain = (text: string) => spaced(text).replaceAll(' ', '')

/** Whether a text has a value, whatever its notation: of a name all words, of a date without a year the day. */
export function has(text: string, value: string): boolean {
  const [all, wanted] = [` ${spaced(inOneNotation(text))} `, spaced(inOneNotation(value))]
  const [, day, year] = /^(m\d\dd\d\d) (\d{4})$/.exec(wanted) ?? []
  if (day) return new RegExp(` ${day} (?:${year} |(?!(?:19|20)\\d\\d ))`).test(all)
  if (all.includes(` ${wanted} `)) return true
  if (/\d/.test(wanted)) return plain(wanted).length > 4 && plain(all).includes(plain(wanted))
  return (
    /^[A-Z][\p{L}'’-]+(?: [A-Z][\p{L}'’-]+)+$/u.test(value) &&
    wanted.split(' ').every((one) => all.includes(` ${one} `))
  )
}

/** `logged` and `logging` are forms of `log`. */
const stem = (word: string) =>
  word.length > 4 ? word.replace(/(?:ment|ing|ed|e?s)$/, '').replace(/([bdglmnprt])\1$/, '$1') : word

/** Whether a text has all words of a name, in any order and form: `number of your loan` has `loan number`. */
export function names(text: string, name: string): boolean {
  const all = new Set(spaced(text).split(' ').map(stem))
  return spaced(name)
    .split(' ')
    .every((word) => all.has(stem(word)))
}
