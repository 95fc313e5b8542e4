import { useEffect, useState } from 'preact/hooks'
import { formatRoute, type Route } from '../route/route.ts'
import { openRoute } from '../route/use-route.ts'

export const SEARCH_BOX = 'search-box'

/** Searches the words of all episodes; within a run, of its episodes. */
export function SearchBox({ route }: { readonly route: Route }) {
  const searched = route.screen === 'search' ? route.query : ''
  const run = 'run' in route && !route.run.includes(',') ? route.run : ''
  const [text, setText] = useState(searched)
  useEffect(() => setText(searched), [searched])
  const label = run ? 'Search the episodes of this run' : 'Search all episodes'
  return (
    <search class="search-box">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          // So that the next keys choose a place instead of being typed.
          event.currentTarget.querySelector('input')?.blur()
          const target: Route = { screen: 'search', query: text.trim(), run }
          if (text.trim() && formatRoute(target) !== location.hash) openRoute(target)
        }}
      >
        <input
          id={SEARCH_BOX}
          type="search"
          value={text}
          placeholder={label}
          aria-label={label}
          autocomplete="off"
          spellcheck={false}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <kbd>/</kbd>
      </form>
    </search>
  )
}
