import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundleApp } from './lib/bundle-app.ts'

// Writes the pages into `dist`, for the published command: it needs neither a bundler nor the libraries of the pages.

const home = join(import.meta.dirname, '..')
const app = await bundleApp(join(home, 'app'))
await mkdir(join(home, 'dist'), { recursive: true })
for (const [name, text] of Object.entries(app)) await writeFile(join(home, 'dist', name), text)
