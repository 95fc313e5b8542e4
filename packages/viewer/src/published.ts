import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { APP_FILES, type BundledApp, createViewer, type Viewer } from './lib/viewer.ts'

let viewer: Promise<Viewer> | undefined

export function loadViewer(): Promise<Viewer> {
  viewer ??= readApp().then(createViewer)
  return viewer
}

async function readApp() {
  const read = async (name: string) => [name, await readFile(join(import.meta.dirname, name), 'utf8')] as const
  return Object.fromEntries(await Promise.all(APP_FILES.map(read))) as BundledApp
}
