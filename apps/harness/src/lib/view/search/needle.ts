export type Needle = ReturnType<typeof createNeedle>

/**
 * How often a text can be escaped in a line: once, or twice within the arguments of a call, which are JSON themselves.
 */
const ESCAPES = 2

/**
 * Creates a needle. Letters of ASCII match in both cases, others as typed and in their upper and lower form.
 *
 * @param text - not empty.
 */
export function createNeedle(text: string) {
  const letters = [...text].map(formsOf)
  const anyCase = letters.map((forms) => oneOf(forms)).join('')
  // Two places may overlap. One as typed counts before one in other cases.
  const asTyped = quoted(text)
  const laterAsTyped = text.length > 1 ? `(?=${anyCase})(?![^]{1,${text.length - 1}}${asTyped})` : ''
  const inText = `${asTyped}|${laterAsTyped}${anyCase}`
  const inBytes = lettersInBytes(letters)
  return {
    /** Finds it in a text. Global: keeps its place in `lastIndex`. */
    inText: () => new RegExp(inText, 'g'),
    /** Finds places in sealed lines, read as Latin-1, where it may stand. There may be others that only look alike. */
    inBytes: new RegExp(inBytes, 'g'),
  }
}

const BACKSLASH = '\\'
/**
 * Any number of backslashes, as themselves or as their codes. Not from the middle of a run, so that a run is read once.
 */
const BACKSLASHES = String.raw`(?<!\\)(?:\\(?:u005[cC])?)+`

/**
 * Returns an expression for the bytes of letters, each in its forms. Every text has one way to match it, so that its
 * time is linear: backslashes that follow each other match any number of them, with those by which the letter behind
 * them is escaped.
 */
function lettersInBytes(letters: readonly (readonly string[])[]): string {
  let isBehind = false
  return letters
    .map((forms) => {
      const wasBehind = isBehind
      isBehind = forms[0] === BACKSLASH
      if (isBehind) return wasBehind ? '' : BACKSLASHES
      const written = forms.flatMap(writtenForms)
      return oneOf(wasBehind ? written.map((form) => form.replace(/^\\+/, '')) : written)
    })
    .join('')
}

/** A letter as typed, in upper and in lower case, if these are single letters too. */
function formsOf(letter: string): string[] {
  const cases = [letter, letter.toUpperCase(), letter.toLowerCase()]
  return [...new Set(cases.filter((one) => [...one].length === 1))]
}

/** How a letter may stand in a line: as itself or escaped, once or twice, as bytes read as Latin-1. */
function writtenForms(letter: string): string[] {
  // Nobody writes a letter of ASCII as its code.
  if (/^[0-9a-z ]$/i.test(letter)) return [letter]
  const forms = new Set([letter])
  let [short, long] = [letter, letter]
  for (let i = 0; i < ESCAPES; i++) {
    short = JSON.stringify(short).slice(1, -1)
    long = i === 0 ? asCodes(letter) : JSON.stringify(long).slice(1, -1)
    forms.add(short).add(long).add(long.toUpperCase().replaceAll('\\U', '\\u'))
  }
  if (letter === '/') forms.add('\\/')
  return [...forms].map((form) => Buffer.from(form, 'utf8').toString('latin1'))
}

function asCodes(letter: string): string {
  return Array.from(
    { length: letter.length },
    (_, i) => `\\u${letter.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('')
}

/** An expression of texts, one of which has to match. */
function oneOf(texts: readonly string[]): string {
  const distinct = [...new Set(texts)]
  const single = distinct.filter((text) => text.length === 1)
  // The longest first, so that an escape is not taken for its backslash.
  const long = distinct.filter((text) => text.length > 1).sort((a, b) => b.length - a.length)
  const kinds = [...long.map(quoted), ...(single.length > 0 ? [`[${single.map(quoted).join('')}]`] : [])]
  return kinds.length === 1 ? (kinds[0] as string) : `(?:${kinds.join('|')})`
}

function quoted(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
