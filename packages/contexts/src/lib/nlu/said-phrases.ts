import nlp from 'compromise/one'
import type { Utterance } from './utterance.ts'

/** Words of an utterance: the first, and the one behind the last. */
export interface Place {
  readonly start: number
  readonly end: number
}

/** Phrases, made ready to be found in one go. */
export type Phrases = ReturnType<typeof nlp.buildNet>

/** Makes phrases in compromise's match syntax ready to be found. A net keeps one of equal phrases. */
export function gatherPhrases(phrases: Iterable<string>): Phrases {
  return nlp.buildNet([...new Set(phrases)].map((match) => ({ match })))
}

/** Where each phrase is said. */
export function saidPhrases({ words }: Utterance, phrases: Phrases): ReadonlyMap<string, readonly Place[]> {
  const said = new Map<string, Place[]>()
  if (words.length === 0) return said
  const document = nlp.tokenize(words.map(({ normal }) => normal).join(' '))
  const { found } = document.sweep(phrases, { tagger: false }) as unknown as Swept
  for (const { match, view } of found) {
    const places = view.fullPointer.map(([, start, end]) => ({ start, end }))
    said.set(match, [...(said.get(match) ?? []), ...places])
  }
  return said
}

/** What compromise finds in one go; its own types leave it open. */
interface Swept {
  readonly found: readonly {
    readonly match: string
    readonly view: { readonly fullPointer: readonly (readonly [sentence: number, start: number, end: number])[] }
  }[]
}
