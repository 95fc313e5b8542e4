import { join } from 'node:path'

import { bundleApp } from './lib/bundle-app.ts'
import { createViewer, type Viewer } from './lib/viewer.ts'

let viewer: Promise<Viewer> | undefined

export function loadViewer(): Promise<Viewer> {
  viewer ??= bundleApp(join(import.meta.dirname, '../app')).then(createViewer)
  return viewer
}
