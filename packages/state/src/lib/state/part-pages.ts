import { type PageNode, pageOf } from './page-node.ts'
import { type ReadPages, readTree } from './read-tree.ts'
import { containerShownBy, Views } from './view.ts'

/**
 * Returns the first page of an object or array of a large state, and those of its pages that are not in `known`, and
 * adds them to it: a reader who has a page has all pages below it. Returns `null` for an object that has no page of its
 * own.
 */
export function pagesOfPart(part: object, known: Set<string>) {
  const container = containerShownBy(part)
  const first = container && pageOf(container)
  if (!first) return null
  const pages: [string, string][] = []
  const visit = (page: PageNode) => {
    if (known.has(page.name)) return
    known.add(page.name)
    for (const child of page.children()) visit(child)
    pages.push([page.name, page.text])
    // Of what is stored, the text is written again when it is needed again.
    if (page.kept) page.keep()
  }
  visit(first)
  return { page: first.name, pages }
}

export async function readPart(page: string, read: ReadPages): Promise<object> {
  return new Views({}).of(await readTree(page, read)) as object
}
