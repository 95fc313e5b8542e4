import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from './pages.ts'

/** What the search of the site finds: the text below one heading of a page. */
export interface PagePart {
  readonly title: string
  /** That of the page for what stands before its first heading. */
  readonly heading: string
  readonly text: string
  /** From the first folder of the site. */
  readonly url: string
  /** How much it counts beside others: reasons for what was decided count less than what is so. */
  readonly weight: number
}

/** Cuts the pages of a site at their headings. */
export function partsOf(folder: string, pages: Iterable<Page>): PagePart[] {
  return [...pages].flatMap(({ title, file, place }) => {
    const html = readFileSync(join(folder, `${place}.html`), 'utf8')
    const [, content = ''] = /<div class="tsd-panel tsd-typography">([\s\S]*?)<footer/.exec(html) ?? []
    const [first = '', ...others] = content.split(/(?=<h[2-4] id=")/)
    const weight = file.startsWith('docs/inside/') ? 0.3 : 1
    const part = (heading: string, text: string, anchor: string) => ({
      title,
      heading,
      text: text.replaceAll(heading, '').trim(),
      url: `${place}.html${anchor}`,
      weight,
    })
    return [
      part(title, textOf(first), ''),
      ...others.map((each) => {
        const [, anchor = '', heading = ''] = /^<h\d id="([^"]+)"[^>]*>([\s\S]*?)<\/h\d>/.exec(each) ?? []
        return part(textOf(heading), textOf(each), `#${anchor}`)
      }),
    ]
  })
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' }

function textOf(html: string): string {
  return html
    .replace(/<(svg|button)[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]+>/g, (tag) => (/^<\/?(p|li|pre|h\d|t[dhr]|div|br)\b/.test(tag) ? ' ' : ''))
    .replace(/&([a-z]+|#39);/g, (whole, name) => ENTITIES[name] ?? whole)
    .replace(/\s+/g, ' ')
    .trim()
}
