import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './workspace.ts'

const pages = globSync('**/*.md', {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist|CHANGELOG\.md|site)$/.test(path),
}).sort()

const read = (page: string): string => readFileSync(join(root, page), 'utf8')
const withoutCode = (text: string): string => text.replace(/^ *(`{3,})[\s\S]*?^ *\1 *$/gm, '')

/** The links of a page to files of this repository, each as a path from the root and the heading in it. */
function listLinks(page: string): { link: string; path: string; heading: string }[] {
  const found = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$|\b(?:src|href)="([^"]+)"/gm)]
  return found.flatMap(([, inline, reference, attribute]) => {
    const link = (inline ?? reference ?? attribute) as string
    const [published, own] = link.split('https://github.com/episodic/episodic/blob/main/')
    if (own === undefined && /^[a-z]+:/.test(published as string)) return []
    const [path = '', heading = ''] = (own ?? link).split('#')
    const file = path === '' ? page : normalize(join(own === undefined ? dirname(page) : '.', path))
    return [{ link, path: file, heading }]
  })
}

/** The anchors of a page, as GitHub makes them from its headings. */
function listAnchors(page: string): string[] {
  const counts = new Map<string, number>()
  return [...withoutCode(read(page)).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => {
    const slug = heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
}

describe('the links of the pages', () => {
  it.each(pages)('%s links to files and headings that exist', (page) => {
    const dead = listLinks(page).filter(({ path, heading }) => {
      if (!existsSync(join(root, path))) return true
      return heading !== '' && path.endsWith('.md') && !listAnchors(path).includes(heading)
    })
    expect(dead.map(({ link }) => link)).toEqual([])
  })
})

describe('the commands of the pages', () => {
  const tests = globSync('{packages,satellites,apps,examples,bench,chaos,interop,scripts}/**/*.test.ts', {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|dist)$/.test(path),
  })

  it.each(pages)('%s runs tests that exist', (page) => {
    const commands = [...read(page).matchAll(/\bpnpm (unit|system) ([\w./-]+)/g)]
    const empty = commands.filter(
      ([, project, path = '']) =>
        !tests.some((file) => file.includes(path) && file.endsWith('.system.test.ts') === (project === 'system')),
    )
    expect(empty.map(([command]) => command)).toEqual([])
  })
})

describe('docs/README.md', () => {
  it('lists every page', () => {
    const listed = listLinks('docs/README.md').map(({ path }) => path)
    const all = pages.filter((page) => /^docs\/(?!inside\/decisions\/).+\//.test(page))
    expect(all.filter((page) => !listed.includes(page))).toEqual([])
  })
})
