import './style/page.css'
import './style/continue.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { ContinueLink, ContinueTab } from './continue/continue-tab.tsx'
import { LossSearch } from './continue/loss-search.tsx'
import { PlayContext } from './continue/play-context.ts'
import { createCachedSource } from './source/cached-source.ts'
import { createServerSource } from './source/server-source.ts'

const KEPT = 'episodic-play'

const root = document.getElementById('app')
const token = takeToken()
if (root)
  render(
    <PlayContext.Provider
      value={token === undefined ? null : { Tab: ContinueTab, Below: LossSearch, Link: ContinueLink }}
    >
      <App source={createCachedSource(createServerSource(token))} />
    </PlayContext.Provider>,
    root,
  )

/** Takes what plays out of the address, and keeps it for this tab. */
function takeToken(): string | undefined {
  const [path = '', query = ''] = location.hash.split('?')
  const parameters = new URLSearchParams(query)
  const given = parameters.get('play')
  if (given === null) return sessionStorage.getItem(KEPT) ?? undefined
  sessionStorage.setItem(KEPT, given)
  parameters.delete('play')
  history.replaceState(null, '', parameters.size > 0 ? `${path}?${parameters}` : path)
  return given
}
