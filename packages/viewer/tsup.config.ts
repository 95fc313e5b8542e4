import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { defineConfig } from 'tsup'
import { bundleApp } from './src/lib/bundle-app.ts'

export default defineConfig({
  entry: ['src/published.ts'],
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
  // The pages are built here, so that the published package needs neither a bundler nor their libraries.
  async onSuccess() {
    const app = await bundleApp(resolve('app'))
    for (const [name, text] of Object.entries(app)) await writeFile(join('dist', name), text)
  },
})
