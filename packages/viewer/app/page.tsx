import './style/page.css'
import type { EmbeddedRuns } from '@episodic/report/view/embedded-runs'
import { render } from 'preact'
import { App } from './app.tsx'
import { ErrorNote } from './parts/notes.tsx'
import { formatRoute, type Route } from './route/route.ts'
import { createCachedSource } from './source/cached-source.ts'
import { createEmbeddedSource, unpackEmbedded } from './source/embedded-source.ts'
import { createServerSource } from './source/server-source.ts'
import { asSourceError } from './source/source.ts'

const root = document.getElementById('app')
const data = document.getElementById('data')?.textContent
if (root && data) open(root, data)
else if (root) render(<App source={createCachedSource(createServerSource())} />, root)

/** Shows the data within the page. Until it is unpacked, the figures that are in the page as markup stay. */
async function open(root: HTMLElement, data: string): Promise<void> {
  try {
    const content = await unpackEmbedded(data)
    if (location.hash === '') history.replaceState(null, '', formatRoute(homeOf(content)))
    root.replaceChildren()
    render(<App source={createEmbeddedSource(content)} />, root)
  } catch (error) {
    render(<ErrorNote error={asSourceError(error)} />, root)
  }
}

/** What a file shows first: its comparison, its only run, or the list of its runs. */
function homeOf({ runs, compared: [compared] }: EmbeddedRuns): Route {
  if (compared) return { screen: 'compare', runs: compared.runs, base: compared.baseline }
  const [run, ...others] = runs
  if (run && others.length === 0) return { screen: 'run', run: run.detail.entry.id, tab: 'overview' }
  return { screen: 'runs', query: '' }
}
