import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createViewer, type Viewer } from './lib/viewer.ts'

let viewer: Promise<Viewer> | undefined

/** Returns the pages, as they were built when the package was published. */
export function loadViewer(): Promise<Viewer> {
  viewer ??= readApp().then(createViewer)
  return viewer
}

async function readApp() {
  const [script, style, markup] = await Promise.all(
    ['page.js', 'page.css', 'markup.js'].map((name) => readFile(join(import.meta.dirname, name), 'utf8')),
  )
  return { 'page.js': script as string, 'page.css': style as string, 'markup.js': markup as string }
}
