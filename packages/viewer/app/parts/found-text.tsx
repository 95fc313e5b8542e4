import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { splitByMatches } from './matches.ts'
import { plain, withSigns } from './plain-text.tsx'

/** The text that is searched for on a screen; empty for none. */
export const FoundContext = createContext('')

/** Half of them are marks: more would stop the page, and nobody looks at them. Even. */
const MOST_PARTS = 2_000
/** Of a block. */
const MOST_CHARACTERS = 128 * 1024

/** A text as it is, in which the occurrences of what is searched for are marked. */
export function FoundText({ text }: { readonly text: string }) {
  const blocks = toBlocks(text)
  if (blocks.length === 1) return <FoundBlock text={text} most={MOST_PARTS} />
  const most = 2 * Math.ceil(MOST_PARTS / blocks.length / 2)
  return blocks.map((block, i) => (
    <span key={i} class="text-block">
      <FoundBlock text={block} most={most} />
    </span>
  ))
}

/**
 * Splits a long text into blocks, of which a browser lays out only those that are seen: after a line where it can,
 * otherwise after so many characters. Joined with line breaks where the text has them, they are the text.
 */
export function toBlocks(text: string): readonly string[] {
  if (text.length <= MOST_CHARACTERS) return [text]
  const blocks: string[] = []
  for (let from = 0; from < text.length; ) {
    const to = from + MOST_CHARACTERS
    const line = to < text.length ? text.lastIndexOf('\n', to) : -1
    const end = line > from ? line : isSecondHalf(text, to) ? to - 1 : to
    blocks.push(text.slice(from, end))
    // A block begins on a line of its own.
    from = end + (line > from ? 1 : 0)
  }
  return blocks
}

function isSecondHalf(text: string, place: number): boolean {
  const code = text.charCodeAt(place)
  return code >= 0xdc00 && code <= 0xdfff
}

function FoundBlock({ text, most }: { readonly text: string; readonly most: number }) {
  const wanted = useContext(FoundContext)
  const parts = wanted ? splitByMatches(text, wanted) : []
  if (parts.length <= 1) return plain(text)
  const rest = parts.splice(most).join('')
  if (rest) parts.push(rest)
  // One frame around all of them: letters of words that run from right to left stay in their order.
  return <bdi>{parts.map((part, i) => (i % 2 === 1 ? <mark>{withSigns(part)}</mark> : withSigns(part)))}</bdi>
}
