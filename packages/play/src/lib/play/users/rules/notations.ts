const MONTHS = 'january february march april may june july august september october november december'.split(' ')
const MONTH = `(sept|${MONTHS.map((name) => name.replace(/^(...)(.+)$/, '$1(?:$2)?')).join('|')})\\.?`
const DAY = '(\\d{1,2})(?:st|nd|rd|th)?'
const YEAR = '(?:,?\\s+((?:19|20)\\d\\d))?'
const MONTH_FIRST = new RegExp(`\\b${MONTH}\\s+${DAY}\\b${YEAR}`, 'gi')
const DAY_FIRST = new RegExp(`\\b${DAY}\\s+(?:of\\s+)?${MONTH}\\b${YEAR}`, 'gi')
const WORDS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety'
const NUMBERS = new Map(WORDS.split(' ').map((word, i) => [word, i < 20 ? i : (i - 18) * 10]))
const NUMBER = WORDS.replace('one ', '').replaceAll(' ', '|')
const DIGIT = NUMBER.split('|').slice(0, 9).join('|')
/** Alone, `one` mostly stands for something. */
const IN_WORDS = new RegExp(
  `\\b(?:${NUMBER}|(?:a|one)(?=[\\s-]+(?:hundred|thousand)\\b)|one(?=[\\s-]+(?:${DIGIT})\\b))(?:(?:(?<=hundred|thousand)\\s+and)?[\\s-]+(?:${NUMBER}|one(?!\\s+way|-(?!one|${NUMBER}))|hundred|thousand)\\b)*\\b`,
  'gi',
)
/** `401k` is no amount, and neither is a run of `5k`. */
const AMOUNT_IN_K = /(?<=[$€£]\s?|\b(?:about|up to)\s+)(\d+(?:\.\d+)?)k\b/gi
export const IN_K = /\b(\d+(?:\.\d+)?)k\b/gi

/** Returns a text with dates as `m06d18 2026`, and numbers as digits alone, however they were written. */
export function inOneNotation(text: string, inK = AMOUNT_IN_K): string {
  const read = (day: string, month: string) => `m${month.padStart(2, '0')}d${day.padStart(2, '0')}`
  const date = (day: string, month: string, year = '') => ` ${read(day, month)} ${year} `
  const named = (name: string) => `${MONTHS.findIndex((one) => one.startsWith(name.slice(0, 3).toLowerCase())) + 1}`
  return text
    .replace(/\b((?:19|20)\d\d)[-/.](\d{1,2})[-/.](\d{1,2})\b/g, (_, year, month, day) => date(day, month, year))
    .replace(/(?<=\w) at (?=[a-z][\w-]*(?:(?:\.| dot )[\w-]+)*? dot [a-z]{2,}\b)/gi, '@')
    .replace(/ dot (?=\w)/gi, '.')
    .replace(/\b(\d{1,2})([-/.])(\d{1,2})\2((?:19|20)?\d\d)(?![-/.]?\d)/g, (whole, one, sign, other, digits) => {
      if (Math.min(one, other) > 12 || Math.max(one, other) > 31) return whole
      const year = digits.length > 2 ? digits : `${digits > 40 ? 19 : 20}${digits}`
      // Only Americans write the month first, with a slash: either reading is meant if both are months.
      if (sign === '/' && one !== other && Math.max(one, other) <= 12)
        return ` ${read(other, one)}-${read(one, other)} ${year} `
      return other > 12 ? date(other, one, year) : date(one, other, year)
    })
    .replace(MONTH_FIRST, (_, month, day, year) => date(day, named(month), year))
    .replace(DAY_FIRST, (_, day, month, year) => date(day, named(month), year))
    .replace(IN_WORDS, (words) => numberOf(words.toLowerCase().split(/[\s-]+/)))
    .replace(inK, (_, thousands) => `${Math.round(Number(thousands) * 1_000)}`)
    .replace(/(?<![\d.,-])\d{1,3}(?:[,.'’]\d{3})+(?![\d-]|[.,]\d{3})/g, (number) => number.replace(/\D/g, ''))
}

/** Adds what is smaller than the magnitude before it; puts the rest side by side: `nineteen ninety-nine`. */
function numberOf(words: readonly string[]): string {
  let [said, sum, part, below, last] = ['', 0, 0, Number.POSITIVE_INFINITY, 0]
  for (const word of words) {
    const value = word === 'a' ? 1 : NUMBERS.get(word)
    if (word === 'thousand') [sum, part, below] = [sum + part * 1_000, 0, 1_000]
    // `Two hundred three hundred` is two numbers.
    else if (word === 'hundred' && part > 100)
      [said, sum, part, below] = [`${said}${sum + part - last} `, 0, last * 100, 100]
    else if (word === 'hundred') [part, below] = [part * 100, 100]
    else if (value !== undefined) {
      if (value < below) part += value
      else [said, sum, part] = [`${said}${sum + part}`, 0, value]
      ;[below, last] = [value < 20 ? 0 : 10, value]
    }
  }
  return `${said}${sum + part}`
}

/** Words in lower case with a space between them; letters and digits alone. */
export const spaced = (text: string) => (text.toLowerCase().match(/[\p{L}\d]+/gu) ?? []).join(' ')
export const plain = (text: string) => spaced(text).replaceAll(' ', '')

/** Whether a text has a value, whatever its notation: of a name all words, of a date without a year the day. */
export function has(text: string, value: string): boolean {
  const [all, wanted] = [` ${spaced(inOneNotation(text, IN_K))} `, spaced(inOneNotation(value, IN_K))]
  const [, day, other = day, year] = /^(m\d\dd\d\d)(?: (m\d\dd\d\d))? (\d{4})$/.exec(wanted) ?? []
  if (day) return new RegExp(` (?:${day}|${other}) (?:m\\S+ )*(?:${year} |(?!(?:19|20)\\d\\d |m\\d))`).test(all)
  if (all.includes(` ${wanted} `)) return true
  if (/\d/.test(wanted)) return plain(wanted).length > 4 && plain(all).includes(plain(wanted))
  const isName = /^[A-Z][\p{L}'’-]+(?: [A-Z][\p{L}'’-]+)+$/u.test(value)
  return isName && wanted.split(' ').every((one) => all.includes(` ${one} `))
}

/** `logged` and `logging` are forms of `log`. */
const stem = (word: string) =>
  word.length > 4 ? word.replace(/(?:ment|ing|ed|e?s)$/, '').replace(/([bdglmnprt])\1$/, '$1') : word
const stems = (text: string) => spaced(text).split(' ').map(stem)

/** Whether a text has all words of a name, in any order and form: `number of your loan` has `loan number`. */
export const names = (text: string, name: string) => stems(name).every((word) => stems(text).includes(word))
