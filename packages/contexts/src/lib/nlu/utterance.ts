import nlp from 'compromise/one'
import type { Vocabulary } from './vocabulary.ts'

/** A word as rules read it. */
export interface Word {
  /** Lower case, without accents, contractions written out: `what's` is the two words `what` and `is`. */
  readonly normal: string
  /** Where it stands in the utterance's text. The words of one contraction stand in the same place. */
  readonly start: number
  readonly end: number
  /** Whether it was written in capitals alone, as the code of an airport is. */
  readonly capitals: boolean
  /** Whether it was misspelled and stands corrected. */
  readonly corrected: boolean
}

/** What somebody said, split into words, its typing errors corrected. */
export interface Utterance {
  /** The text with its corrections. */
  readonly text: string
  readonly words: readonly Word[]
}

/** Words and numbers: `2pax` is two of them, `3rd` and `o'clock` are one. */
const WORDS = /\p{N}+(?:st|nd|rd|th)(?![\p{L}\p{N}])|\p{N}+|\p{L}[\p{L}\p{M}]*(?:['’]\p{L}[\p{L}\p{M}]*)*/giu

/** Splits a text into words, and corrects those that are a typing error away from one of the vocabulary. Linear in the text's length. */
export function readUtterance(text: string, vocabulary: Vocabulary): Utterance {
  const words: Word[] = []
  let read = ''
  let from = 0
  for (const { 0: written, index } of text.matchAll(WORDS)) {
    read += text.slice(from, index)
    from = index + written.length
    const normals = writeOut(plain(written))
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

/** A word or a name in lower case and without accents. */
export function plain(written: string): string {
  return written.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('’', "'").toLowerCase()
}

/** The words of a name, as an utterance has them. */
export function wordsOf(name: string): string[] {
  return [...name.matchAll(WORDS)].flatMap(([written]) => writeOut(plain(written)))
}

/** What compromise knows of contractions: whole words (`gonna`), and endings after an apostrophe (`'ll`). */
const CONTRACTIONS = contractions()

/** The words that a contraction stands for, so that phrases need to be written in one way. */
function writeOut(word: string): readonly string[] {
  const whole = CONTRACTIONS.whole.get(word)
  if (whole) return whole
  const apostrophe = word.lastIndexOf("'")
  if (apostrophe < 0) return [word]
  const [start, ending] = [word.slice(0, apostrophe), word.slice(apostrophe + 1)]
  if (ending === 't' && start.endsWith('n')) return [start.slice(0, -1), 'not']
  const rest = CONTRACTIONS.endings.get(ending)
  // A possessive is the word itself, and so is a name such as O'Hare.
  return rest ? [start, ...rest] : [ending === 's' ? start : word].map((one) => one.replaceAll("'", ''))
}

function contractions() {
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
