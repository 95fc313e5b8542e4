import type Nlp from 'compromise/one'
import { loadPackage } from '../model/load-package.ts'
import type { Vocabulary } from './vocabulary.ts'

export interface Word {
  /** Lower case, without accents, contractions expanded: `what's` is the two words `what` and `is`. */
  readonly normal: string
  /** Its range in the utterance's text. The words of one contraction have the same range. */
  readonly start: number
  readonly end: number
  /** Whether it was written in capitals, like the code of an airport. */
  readonly capitals: boolean
  readonly corrected: boolean
}

export interface Utterance {
  readonly text: string
  readonly words: readonly Word[]
}

/** Words and numbers: `2pax` is two of them, `3rd` and `o'clock` are one. */
const WORDS = /\p{N}+(?:st|nd|rd|th)(?![\p{L}\p{N}])|\p{N}+|\p{L}[\p{L}\p{M}]*(?:['’]\p{L}[\p{L}\p{M}]*)*/giu

/** Splits a text into words, and corrects those a typing error away from the vocabulary. In linear time. */
export function readUtterance(text: string, vocabulary: Vocabulary): Utterance {
  const words: Word[] = []
  let read = ''
  let from = 0
  for (const { 0: written, index } of text.matchAll(WORDS)) {
    read += text.slice(from, index)
    from = index + written.length
    const normals = expand(plain(written))
    const [only] = normals
    const correction = normals.length === 1 && only !== undefined ? vocabulary.correct(only) : null
    const start = read.length
    read += correction ?? written
    const place = {
      start,
      end: read.length,
      corrected: correction !== null,
      capitals: written === written.toUpperCase(),
    }
    for (const normal of correction === null ? normals : [correction]) words.push({ normal, ...place })
  }
  return { text: read + text.slice(from), words }
}

export function plain(written: string): string {
  return written.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('’', "'").toLowerCase()
}

export function wordsOf(name: string): string[] {
  return [...name.matchAll(WORDS)].flatMap(([written]) => expand(plain(written)))
}

let loaded: { readonly nlp: typeof Nlp; readonly contractions: Contractions } | null = null

function language() {
  if (loaded) return loaded
  const nlp = loadPackage<typeof Nlp>('compromise/one', 'The interpreter by rules', 'compromise@14')
  loaded = { nlp, contractions: contractionsOf(nlp) }
  return loaded
}

function expand(word: string): readonly string[] {
  const { contractions } = language()
  const whole = contractions.whole.get(word)
  if (whole) return whole
  const apostrophe = word.lastIndexOf("'")
  if (apostrophe < 0) return [word]
  const [start, ending] = [word.slice(0, apostrophe), word.slice(apostrophe + 1)]
  if (ending === 't' && start.endsWith('n')) return [start.slice(0, -1), 'not']
  const rest = contractions.endings.get(ending)
  // A possessive is the word itself, and so is a name such as O'Hare.
  return rest ? [start, ...rest] : [ending === 's' ? start : word].map((one) => one.replaceAll("'", ''))
}

/** Compromise's contractions: whole words (`gonna`), and endings after an apostrophe (`'ll`). */
interface Contractions {
  readonly whole: ReadonlyMap<string, readonly string[]>
  readonly endings: ReadonlyMap<string, readonly string[]>
}

function contractionsOf(nlp: typeof Nlp): Contractions {
  const { one } = nlp.model() as {
    readonly one: { readonly contractions: readonly { word?: string; after?: string; out: readonly string[] }[] }
  }
  const whole = new Map<string, readonly string[]>()
  const endings = new Map<string, readonly string[]>([['d', ['would']]])
  for (const { word, after, out } of one.contractions) {
    if (word !== undefined) whole.set(word, out.map(plain))
    if (after !== undefined) endings.set(after, out)
  }
  for (const asked of ['how', 'it', 'there', 'when', 'where', 'who']) whole.set(`${asked}'s`, [asked, 'is'])
  return { whole, endings }
}

export interface WordRange {
  readonly start: number
  readonly end: number
}

export type Phrases = ReturnType<typeof Nlp.buildNet>

/** Prepares phrases in compromise's match syntax. Equal ones are removed: a net would keep only one. */
export function preparePhrases(phrases: Iterable<string>): Phrases {
  return language().nlp.buildNet([...new Set(phrases)].map((match) => ({ match })))
}

export function findPhrases({ words }: Utterance, phrases: Phrases): ReadonlyMap<string, readonly WordRange[]> {
  const places = new Map<string, WordRange[]>()
  if (words.length === 0) return places
  const document = language().nlp.tokenize(words.map(({ normal }) => normal).join(' '))
  const { found } = document.sweep(phrases, { tagger: false }) as unknown as Swept
  for (const { match, view } of found) {
    const found = view.fullPointer.map(([, start, end]) => ({ start, end }))
    places.set(match, [...(places.get(match) ?? []), ...found])
  }
  return places
}

interface Swept {
  readonly found: readonly {
    readonly match: string
    readonly view: { readonly fullPointer: readonly (readonly [sentence: number, start: number, end: number])[] }
  }[]
}
