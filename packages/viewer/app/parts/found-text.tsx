import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { splitByMatches } from './matches.ts'
import { PlainText } from './plain-text.tsx'

/** The text that is searched for on a screen; empty for none. */
export const FoundContext = createContext('')

/** A text as it is, in which the occurrences of what is searched for are marked. */
export function FoundText({ text }: { readonly text: string }) {
  const wanted = useContext(FoundContext)
  const parts = wanted ? splitByMatches(text, wanted) : null
  if (!parts || parts.length <= 1) return <PlainText text={text} />
  return (
    <>
      {parts.map((part, i) =>
        i % 2 === 1 ? (
          <mark>
            <PlainText text={part} />
          </mark>
        ) : (
          <PlainText text={part} />
        ),
      )}
    </>
  )
}
