import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { CODE } from './pages.ts'

/** A link within a site to a file or to an anchor that it does not have. */
export interface DeadLink {
  /** From the folder of the site. */
  readonly page: string
  readonly link: string
}

/** Finds the dead links of the pages of a site, in HTML and in Markdown. */
export function findDeadLinks(folder: string): DeadLink[] {
  const anchors = new Map<string, ReadonlySet<string>>()
  return globSync('**/*.{html,md,txt}', { cwd: folder }).flatMap((page) =>
    listLinks(readFileSync(join(folder, page), 'utf8'), page)
      .filter((link) => !leads(page, link))
      .map((link) => ({ page, link })),
  )

  function leads(page: string, link: string): boolean {
    const [path = '', anchor = ''] = decodeURI(link).split('#')
    const target = path === '' ? page : normalize(join(dirname(page), path))
    const file = join(folder, target)
    if (!existsSync(file) || statSync(file).isDirectory()) return false
    return anchor === '' || !target.endsWith('.html') || anchorsOf(target).has(anchor)
  }

  function anchorsOf(page: string): ReadonlySet<string> {
    const known = anchors.get(page)
    if (known) return known
    const found = new Set(
      [...readFileSync(join(folder, page), 'utf8').matchAll(/\bid="([^"]+)"/g)].map(([, id = '']) => id),
    )
    anchors.set(page, found)
    return found
  }
}

function listLinks(text: string, page: string): string[] {
  const pattern = page.endsWith('.html') ? /\b(?:href|src)="([^"]+)"/g : /\]\(([^)\s]+)\)/g
  const read = page.endsWith('.html') ? text : text.replace(CODE, '')
  return [...read.matchAll(pattern)]
    .map(([, link = '']) => link.replaceAll('&amp;', '&'))
    .filter((link) => !/^([a-z]+:|\/\/)/.test(link))
}
