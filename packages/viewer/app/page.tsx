import { render } from 'preact'
import './style/page.css'
import { App } from './app.tsx'
import { ErrorNote } from './parts/notes.tsx'
import { homeOf } from './route/home.ts'
import { formatRoute } from './route/route.ts'
import { createCachedSource } from './source/cached-source.ts'
import { createEmbeddedSource, unpackEmbedded } from './source/embedded-source.ts'
import { createServerSource } from './source/server-source.ts'
import { SourceError } from './source/source.ts'

const root = document.getElementById('app')
const data = document.getElementById('data')?.textContent
if (root && data) openFile(root, data)
else if (root) render(<App source={createCachedSource(createServerSource())} />, root)

/** Shows what the file contains. Until it is unpacked, the figures that are in it as markup stay. */
async function openFile(root: HTMLElement, data: string): Promise<void> {
  try {
    const content = await unpackEmbedded(data)
    if (location.hash === '') history.replaceState(null, '', formatRoute(homeOf(content)))
    root.replaceChildren()
    render(<App source={createEmbeddedSource(content)} />, root)
  } catch (error) {
    const note = error instanceof SourceError ? error : new SourceError('failed', (error as Error).message)
    render(<ErrorNote error={note} />, root)
  }
}
