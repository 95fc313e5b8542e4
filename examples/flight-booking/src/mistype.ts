import type { Rng } from '@episodic/protocol'

/** The shortest word that is still readable with a typing error. */
const LEAST_LENGTH = 5

/** Swaps two neighbouring letters inside one of the longer words of a text. */
export function mistype(text: string, rng: Rng): string {
  const words = [...text.matchAll(/\p{L}+/gu)].filter(([word]) => word.length >= LEAST_LENGTH)
  if (words.length === 0) return text
  const { 0: word, index } = rng.pick(words)
  // The first letter stays: people rarely mistype it.
  const at = index + rng.int(1, word.length - 2)
  return `${text.slice(0, at)}${text[at + 1]}${text[at]}${text.slice(at + 2)}`
}
