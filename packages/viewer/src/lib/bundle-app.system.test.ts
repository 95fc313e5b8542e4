import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleApp } from './bundle-app.ts'
import type { BundledApp } from './viewer.ts'

const KB = 1_000

describe('the bundled pages', () => {
  let app: BundledApp
  beforeAll(async () => {
    app = await bundleApp(join(import.meta.dirname, '../../app'))
  })

  it('stay small: every report carries them', () => {
    const { 'page.js': script, 'page.css': style } = app
    expect(script.length).toBeLessThan(277 * KB)
    expect(gzipSync(script).length).toBeLessThan(102 * KB)
    expect(style.length).toBeLessThan(36 * KB)
  })

  it('play only where they are those of a server that plays', () => {
    expect(app['play.js']).toContain('Continue from here')
    expect(app['page.js']).not.toContain('Continue from here')
    expect(app['page.css']).not.toContain('.continue')
  })

  it('contain no schema library, which is as large as half of them', () => {
    expect(app['page.js']).not.toContain('ZodError')
  })

  it('name no address on the network', () => {
    const addresses = app['page.js'].match(/https?:\/\/[^"'`\s)]+/g) ?? []
    // Namespaces of elements are names, and nothing is requested from them.
    expect(addresses.filter((address) => !address.startsWith('http://www.w3.org/'))).toEqual([])
  })
})
