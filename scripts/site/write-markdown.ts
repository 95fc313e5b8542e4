import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { root } from '../workspace.ts'
import { CODE, type Drawer, followLink, type Page } from './pages.ts'

/**
 * Writes each page as Markdown beside its HTML, with the pictures that it shows, and for language models `llms.txt`,
 * the list of the pages, and `llms-full.txt`, all of them but the decisions. See https://llmstxt.org.
 */
export async function writeMarkdown(
  folder: string,
  drawers: readonly Drawer[],
  pages: ReadonlyMap<string, Page>,
): Promise<void> {
  /** The texts of the pages by file, with links from the first folder of the site. */
  const texts = new Map<string, string>()
  for (const page of pages.values()) {
    const text = await readFile(join(root, page.file), 'utf8')
    texts.set(page.file, toSite(text, page.file, '', pages).text)
    const { text: own, pictures } = toSite(text, page.file, dirname(page.place), pages)
    await write(`${page.place}.md`, own)
    for (const picture of pictures) {
      await mkdir(dirname(join(folder, picture)), { recursive: true })
      await copyFile(join(root, 'docs', picture), join(folder, picture))
    }
  }
  const [heading, summary = ''] = (texts.get('README.md') as string).split('\n\n')
  const list = drawers.map(({ title, pages }) => `## ${title}\n\n${pages.map(itemOf).join('\n')}`)
  await write('llms.txt', `${heading}\n\n> ${summary.replaceAll('\n', ' ')}\n\n${list.join('\n\n')}\n`)
  const whole = ['README.md', ...drawers.slice(0, -1).flatMap(({ pages }) => pages.map(({ file }) => file))]
  await write('llms-full.txt', whole.map((file) => texts.get(file)).join('\n\n'))

  async function write(place: string, text: string): Promise<void> {
    await mkdir(dirname(join(folder, place)), { recursive: true })
    await writeFile(join(folder, place), text)
  }
}

function itemOf({ title, place, about }: Page): string {
  return `- [${title}](${place}.md)${about ? `: ${about}` : ''}`
}

/** The text of a page with links as they lead from a folder of the site, and the pictures that it shows. */
function toSite(text: string, file: string, folder: string, pages: ReadonlyMap<string, Page>) {
  const pictures = new Set<string>()
  const from = (target: string) => relative(folder, target)
  // Code is left as it is.
  const parts = text.split(CODE)
  const linked = parts.map((part, index) =>
    index % 2 === 1
      ? part
      : part.replace(/\]\((?!https?:|#|mailto:)([^)\s]+)\)/g, (_, link: string) => {
          const followed = followLink(file, link, pages)
          if ('page' in followed) return `](${from(`${followed.page.place}.md`)}${followed.anchor})`
          if ('url' in followed) return `](${followed.url})`
          pictures.add(followed.picture)
          return `](${from(followed.picture)})`
        }),
  )
  return { text: linked.join(''), pictures }
}
