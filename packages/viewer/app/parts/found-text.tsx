import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { splitByMatches } from './matches.ts'
import { PlainText, withSigns } from './plain-text.tsx'

/** The text that is searched for on a screen; empty for none. */
export const FoundContext = createContext('')

/** Half of them are marks: more would stop the page, and nobody looks at them. Even. */
const MOST_PARTS = 2_000

/** A text as it is, in which the occurrences of what is searched for are marked. */
export function FoundText({ text }: { readonly text: string }) {
  const wanted = useContext(FoundContext)
  const parts = wanted ? splitByMatches(text, wanted) : []
  if (parts.length <= 1) return <PlainText text={text} />
  const rest = parts.splice(MOST_PARTS).join('')
  if (rest) parts.push(rest)
  // One frame around all of them: letters of words that run from right to left stay in their order.
  return <bdi>{parts.map((part, i) => (i % 2 === 1 ? <mark>{withSigns(part)}</mark> : withSigns(part)))}</bdi>
}
