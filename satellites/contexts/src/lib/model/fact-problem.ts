interface Said {
  readonly facts: readonly string[]
  readonly said: string | null
  readonly history: readonly { readonly text: string; readonly replies: readonly string[] }[]
}

/**
 * Returns which fact a text drops or invents, as the predicate of a sentence; `null` if none.
 *
 * It checks numbers (prices, times, flight numbers), codes in capitals, names, and whether a question is asked. Each
 * number, code and name of the replies has to be in the text, numbers in digits; each one of the text has to be in the
 * replies or in what the user has said. All other words are free.
 */
export function factProblem(text: string, { facts, said, history }: Said): string | null {
  const replies = facts.join('\n')
  const dropped = droppedFact(text, replies)
  if (dropped !== null) return dropped
  const known = [replies, said ?? '', ...history.flatMap((entry) => [entry.text, ...entry.replies])].join('\n')
  // Numbers from the history do not count: an earlier price is out of date.
  const invented = inventedFact(text, known, `${replies}\n${said ?? ''}`)
  if (invented !== null) return invented
  return replies.trimEnd().endsWith('?') && !text.includes('?') ? 'asks nothing, where the user was to be asked' : null
}

function droppedFact(text: string, replies: string): string | null {
  const { numbers, codes, names } = tokensOf(replies)
  const own = tokensOf(text)
  const dropped =
    numbers.find((number) => !own.numbers.includes(number)) ??
    codes.find((code) => !own.words.includes(code)) ??
    names.find((name) => !own.words.some((word) => isSameName(word, name)))
  return dropped === undefined ? null : `left out "${dropped}"`
}

/**
 * Returns the first number, code or name of a text that its sources do not contain; `null` if there is none.
 *
 * @param known - the source of names and codes.
 * @param counted - the source of numbers.
 */
export function inventedFact(text: string, known: string, counted: string): string | null {
  const { words } = tokensOf(known)
  const { numbers } = tokensOf(counted)
  const own = tokensOf(text)
  const invented =
    own.numbers.find((number) => !numbers.includes(number)) ??
    own.codes.find((code) => !words.includes(code)) ??
    own.names.find((name) => !words.some((word) => isSameName(word, name)))
  return invented === undefined ? null : `invented "${invented}"`
}

interface Tokens {
  readonly words: readonly string[]
  /** Without digit grouping and leading zeros: the `08` of a date is 8. */
  readonly numbers: readonly string[]
  /** Two capitals or more. */
  readonly codes: readonly string[]
  /** Words with a capital that do not begin a sentence. */
  readonly names: readonly string[]
}

/** Numbers with the separators in them, words, and ends of sentences. */
const TOKENS = /\p{N}+(?:[.,:]\p{N}+)*|\p{L}[\p{L}\p{M}]*(?:['’-]\p{L}[\p{L}\p{M}]*)*|[.!?:\n]/gu

function tokensOf(text: string): Tokens {
  const tokens = { words: [] as string[], numbers: [] as string[], codes: [] as string[], names: [] as string[] }
  let begins = true
  for (const [token] of text.matchAll(TOKENS)) {
    if (/^\p{N}/u.test(token))
      tokens.numbers.push(token.replace(/,(?=\p{N}{3}(?!\p{N}))/gu, '').replace(/^0+(?=\p{N}+$)/u, ''))
    else if (/^\p{L}/u.test(token)) {
      const word = token.replaceAll('’', "'")
      tokens.words.push(word)
      if (/^\p{Lu}{2,}$/u.test(word) && word !== 'OK') tokens.codes.push(word)
      else if (/^\p{Lu}/u.test(word) && !begins && !FIRST_PERSON.test(word)) tokens.names.push(word)
    }
    begins = /^[.!?:\n]$/.test(token)
  }
  return tokens
}

const FIRST_PERSON = /^I(?:'\p{L}+)?$/u

/** `Thu` and `Thursday` are one name, and so are `Dubai` and `Dubai's`. */
function isSameName(one: string, other: string): boolean {
  const [shorter, longer] = [one, other].map((name) => name.toLowerCase()).sort((a, b) => a.length - b.length) as [
    string,
    string,
  ]
  return shorter === longer || (shorter.length >= 3 && longer.startsWith(shorter))
}
