import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { readJson, root } from '../workspace.ts'

/** A page of the documentation. */
export interface Page {
  readonly title: string
  /** What it answers, in Markdown; `''` for a decision. */
  readonly about: string
  /** From the root of the repository: `docs/write/seats.md`. */
  readonly file: string
  /** On the site, without extension: `write/seats`. */
  readonly place: string
}

/** Pages under one heading. */
export interface Drawer {
  readonly title: string
  readonly pages: readonly Page[]
}

/** Where the repository is read. */
export const REPOSITORY: string = readJson('apps/episodic/package.json').repository.url.replace(/^git\+|\.git$/g, '')

/** Code in Markdown, in which nothing is a link: as the only group, so that a text can be split at it. */
export const CODE = /(^ *```[\s\S]*?^ *```$|`[^`\n]*`)/gm

/** The list of all pages, whose order is that of the site. */
const LIST = 'docs/README.md'

/** Lists the pages in the order of `docs/README.md`, and the decisions after them, but their list, which is there. */
export function listDrawers(): Drawer[] {
  const [, ...sections] = readFileSync(join(root, LIST), 'utf8').split(/^## /m)
  const drawers = sections.map((section) => ({
    title: section.slice(0, section.indexOf('\n')).trim(),
    pages: [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+\.md)\): (.*(?:\n {2}.*)*)/gm)].map(
      ([, title = '', link = '', about = '']) => toPage(title, join('docs', link), about.replace(/\s+/g, ' ')),
    ),
  }))
  const decisions = globSync('docs/inside/decisions/[!R]*.md', { cwd: root }).sort()
  return [...drawers, { title: 'Decisions', pages: decisions.map((file) => toPage(headingOf(file), file, '')) }]
}

function toPage(title: string, file: string, about: string): Page {
  return { title, about, file, place: file.replace(/^docs\//, '').replace(/\.md$/, '') }
}

function headingOf(file: string): string {
  const [, heading = file] = /^# (.+)$/m.exec(readFileSync(join(root, file), 'utf8')) ?? []
  return heading
}

/**
 * Says where a relative link of a file leads on the site: to a page; to a picture of the docs; or to the repository,
 * for what is not on the site. Throws for a file that does not exist.
 *
 * @param file Where the link is, from the root.
 */
export function followLink(
  file: string,
  link: string,
  pages: ReadonlyMap<string, Page>,
): { readonly page: Page; readonly anchor: string } | { readonly picture: string } | { readonly url: string } {
  const [path = '', anchor = ''] = link.split(/(?=#)/)
  const target = relative(root, resolve(root, dirname(file), path))
  const page = pages.get(target)
  if (page) return { page, anchor }
  if (/\.(png|svg)$/.test(target)) return { picture: target.replace(/^docs\//, '') }
  if (!existsSync(join(root, target))) throw new Error(`${file} links to ${link}, which does not exist.`)
  const kind = statSync(join(root, target)).isDirectory() ? 'tree' : 'blob'
  return { url: `${REPOSITORY}/${kind}/main/${target}${anchor}` }
}

/** All pages by file: those of the drawers, the list of them, and the README of the repository, which comes first. */
export function indexPages(drawers: readonly Drawer[]): ReadonlyMap<string, Page> {
  const first = { title: 'Episodic', about: '', file: 'README.md', place: 'index' }
  const list = { title: 'All pages', about: '', file: LIST, place: 'pages' }
  return new Map([first, list, ...drawers.flatMap(({ pages }) => pages)].map((page) => [page.file, page]))
}
