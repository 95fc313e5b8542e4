import './style/page.css'
import type { RunEntry, StaticRuns } from '@episodic/report'
import { render } from 'preact'
import { App } from './app.tsx'
import { ErrorNote } from './parts/notes.tsx'
import { formatRoute, type Route } from './route/route.ts'
import { createCachedSource } from './source/cached-source.ts'
import { createEmbeddedSource, unpackEmbedded } from './source/embedded-source.ts'
import { createServerSource } from './source/server-source.ts'
import { type Source, SourceError } from './source/source.ts'
import { createStaticSource, readStaticRuns } from './source/static-source.ts'

const root = document.getElementById('app')
const data = document.getElementById('data')?.textContent
const folder = root?.dataset.folder
if (root && data) open(root, () => openFile(data))
else if (root && folder) open(root, () => openFolder(folder))
else if (root) render(<App source={createCachedSource(createServerSource())} />, root)

/** Shows what was shared. Until it is there, the figures that are in the page as markup stay. */
async function open(root: HTMLElement, openShared: () => Promise<{ home: Route; source: Source }>): Promise<void> {
  try {
    const { home, source } = await openShared()
    if (location.hash === '') history.replaceState(null, '', formatRoute(home))
    root.replaceChildren()
    render(<App source={source} />, root)
  } catch (error) {
    const note = error instanceof SourceError ? error : new SourceError('failed', (error as Error).message)
    render(<ErrorNote error={note} />, root)
  }
}

async function openFile(data: string) {
  const content = await unpackEmbedded(data)
  const runs = content.runs.map(({ detail }) => detail.entry)
  return { home: homeOf({ runs, compared: content.compared }), source: createEmbeddedSource(content) }
}

async function openFolder(folder: string) {
  const content = await readStaticRuns(folder)
  return { home: homeOf(content), source: createCachedSource(createStaticSource(folder, content)) }
}

/** What a file or a folder shows first: its comparison, its only run, or the list of its runs. */
function homeOf({
  runs,
  compared: [compared],
}: Pick<StaticRuns, 'compared'> & { readonly runs: readonly Pick<RunEntry, 'id'>[] }): Route {
  if (compared) return { screen: 'compare', runs: compared.runs, base: compared.baseline }
  const [run, ...others] = runs
  if (run && others.length === 0) return { screen: 'run', run: run.id, tab: 'overview' }
  return { screen: 'runs', query: '' }
}
