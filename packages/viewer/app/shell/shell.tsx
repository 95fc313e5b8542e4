import type { ComponentChildren } from 'preact'
import { useContext, useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { KeysContext, useKeys } from '../keys/use-keys.ts'
import { RowListContext } from '../list/row-list.ts'
import { copyText } from '../parts/copy.tsx'
import { parentRoute } from '../route/parent-route.ts'
import { formatRoute, type Route } from '../route/route.ts'
import { openRoute } from '../route/use-route.ts'
import { useLoaded, useSource, useVersion } from '../source/use-source.ts'
import { Breadcrumbs } from './breadcrumbs.tsx'
import { KeyList } from './key-list.tsx'

export function Shell({ route, children }: { readonly route: Route; readonly children: ComponentChildren }) {
  const { withheld } = useSource()
  const keys = useContext(KeysContext)
  const list = useContext(RowListContext)
  const [listed, setListed] = useState(false)
  const [said, setSaid] = useState('')
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      // A dialog has its own keys.
      if (document.querySelector('dialog[open]')) return
      if (!event.defaultPrevented && keys.press(event)) event.preventDefault()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [keys])
  useEffect(() => {
    if (!said) return
    const timer = setTimeout(() => setSaid(''), 2_000)
    return () => clearTimeout(timer)
  }, [said])
  useKeys('Everywhere', [
    { key: '/', label: 'search', run: () => document.getElementById(SEARCH_BOX)?.focus() },
    {
      key: 'Escape',
      label: 'leave the field, or one level up',
      whileTyping: true,
      run() {
        const { activeElement } = document
        if (activeElement instanceof HTMLInputElement || activeElement instanceof HTMLTextAreaElement) {
          activeElement.blur()
          return
        }
        // From an episode back to the list that it was opened from.
        const from = list.current
        const up = parentRoute(route)
        if (route.screen === 'episode' && from?.run === route.run) location.hash = from.href
        else if (up) openRoute(up)
      },
    },
    {
      key: 'y',
      label: 'copy the link',
      run: async () => setSaid((await copyText(location.href)) ? 'Link copied' : 'The browser does not allow copying'),
    },
    { key: '?', label: 'this list', run: () => setListed(true) },
  ])
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to content
      </button>
      <header class="shell flow mid">
        <a class="brand" href="#/">
          Episodic
        </a>
        <Breadcrumbs route={route} />
        <SearchBox route={route} />
        <LiveMark />
        <button type="button" class="button icon" title="Keys (?)" aria-label="Keys" onClick={() => setListed(true)}>
          ?
        </button>
      </header>
      {withheld.length > 0 && <p class="withheld">{withheld.join(' ')}</p>}
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      {listed && <KeyList onClose={() => setListed(false)} />}
      <p class="said" role="status">
        {said}
      </p>
    </>
  )
}

function LiveMark() {
  const source = useSource()
  const version = useVersion(null)
  const { value, error } = useLoaded((from) => from.runs(), [], version)
  if (!source.can.watch) return null
  if (error?.code === 'unreachable')
    return (
      <span class="live lost" role="status">
        ! not connected
      </span>
    )
  const live = value?.filter(({ state }) => state === 'running').length ?? 0
  if (live === 0) return null
  return (
    <span class="live" role="status">
      <span class="dot" aria-hidden="true">
        ●
      </span>{' '}
      {live} live
    </span>
  )
}

const SEARCH_BOX = 'search-box'

function SearchBox({ route }: { readonly route: Route }) {
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
