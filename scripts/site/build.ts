import { readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import {
  Application,
  type CommentDisplayPart,
  Converter,
  DefaultTheme,
  type DocumentReflection,
  IndexEvent,
  JSX,
  LogLevel,
  type NavigationElement,
  type ProjectReflection,
  type Reflection,
  ReflectionKind,
  type Renderer,
  type Router,
  type RouterTarget,
  StructureRouter,
  type Theme,
} from 'typedoc'
import { listPublished, readJson, root } from '../workspace.ts'
import { partsOf } from './page-parts.ts'
import { type Drawer, followLink, indexPages, listDrawers, type Page, REPOSITORY } from './pages.ts'
import { writeMarkdown } from './write-markdown.ts'

/** The first page of the site, which TypeDoc calls the README of the project. */
const FIRST = 'README.md'

/**
 * Builds the documentation as a static site: the pages of `docs/` and the API reference with one search and one
 * navigation, each page also as Markdown, and `llms.txt` for language models. Throws where a page does not convert.
 *
 * @param folder What is in it is replaced.
 */
export async function buildSite(folder: string): Promise<void> {
  const drawers = listDrawers()
  const pages = indexPages(drawers)
  await rm(folder, { recursive: true, force: true })
  const { $schema, ...options } = readJson('typedoc.json')
  const app = await Application.bootstrapWithPlugins({
    ...options,
    // Nobody imports the others: names that they share with these are shown where these export them.
    entryPoints: listPublished().map((room) => room.folder),
    out: folder,
    projectDocuments: [...pages.keys()].filter((file) => file !== FIRST),
    router: 'site',
    theme: 'site',
    searchInComments: true,
    hideGenerator: true,
    includeHierarchySummary: false,
    customCss: 'scripts/site/site.css',
    customJs: 'scripts/site/search.js',
    navigationLinks: { GitHub: REPOSITORY },
    highlightLanguages: [
      'bash',
      'css',
      'html',
      'ini',
      'javascript',
      'json',
      'jsonc',
      'python',
      'sql',
      'toml',
      'tsx',
      'typescript',
      'yaml',
    ],
    markdownItLoader(parser: MarkdownParser) {
      nameCodeInHeadings(parser)
      leaveTextPlain(parser)
    },
    validation: { notExported: false, invalidLink: false, invalidPath: true },
    logLevel: LogLevel.Error,
  })
  // The search for pages is our own, and that of TypeDoc has the names of the API.
  app.renderer.on(IndexEvent.PREPARE_INDEX, (event) => {
    for (let i = event.searchResults.length - 1; i >= 0; i--)
      if (event.searchResults[i]?.isDocument()) event.removeResult(i)
  })
  const shown = new Map<RouterTarget, Page>()
  app.renderer.defineRouter('site', routerOf(shown))
  app.renderer.defineTheme('site', themeOf(drawers, shown))
  app.renderer.hooks.on('pageSidebar.begin', ({ page, relativeURL }) =>
    linkToMarkdown(shown.get(page.model), relativeURL),
  )
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document: DocumentReflection) => {
    const page = pageAt(document.project.files.getReflectionPath(document) ?? '', pages)
    document.name = page.title
    shown.set(document, page)
    completeLinks(document.content, page, pages)
  })
  const project = await app.convert()
  const first = pages.get(FIRST) as Page
  if (!project?.readme) throw new Error('The site was not converted.')
  shown.set(project, first)
  // TypeDoc has no name for the first entry of a package that has several.
  for (const entry of project.getReflectionsByKind(ReflectionKind.Module)) entry.name ||= 'index'
  completeLinks(project.readme, first, pages)
  await app.generateDocs(project, folder)
  if (app.logger.hasErrors()) throw new Error('The site has errors.')
  await writeSearch(folder, pages.values())
  await writeMarkdown(folder, drawers, pages)
}

function pageAt(path: string, pages: ReadonlyMap<string, Page>): Page {
  const page = pages.get(relative(root, path))
  if (!page) throw new Error(`${path} is no page of the site.`)
  return page
}

/** Lets links to what is not on the site lead to the repository, and those to the README to the first page. */
function completeLinks(content: CommentDisplayPart[], { file, place }: Page, pages: ReadonlyMap<string, Page>): void {
  for (const [index, part] of content.entries()) {
    if (part.kind !== 'relative-link') continue
    const followed = followLink(file, part.text, pages)
    if ('url' in followed) content[index] = { kind: 'text', text: followed.url }
    // TypeDoc names the folder, which is no page where no server serves it.
    if ('page' in followed && followed.page.file === FIRST)
      content[index] = { kind: 'text', text: relative(dirname(place), 'index.html') }
  }
}

/** Pages are where their files are in `docs`, and the API is in a folder of its own. */
function routerOf(shown: ReadonlyMap<RouterTarget, Page>): new (app: Application) => Router {
  return class extends StructureRouter {
    protected override getIdealBaseName(target: Reflection): string {
      return shown.get(target)?.place ?? `api/${super.getIdealBaseName(target)}`
    }
  }
}

/** The navigation has the drawers as `docs/README.md` orders them, then the packages. */
function themeOf(
  drawers: readonly Drawer[],
  shown: ReadonlyMap<RouterTarget, Page>,
): new (
  renderer: Renderer,
) => Theme {
  return class extends DefaultTheme {
    override buildNavigation(project: ProjectReflection): NavigationElement[] {
      const api = super.buildNavigation(project).filter(({ kind }) => kind !== ReflectionKind.Document)
      const elements = new Map([...shown].map(([target, { file }]) => [file, this.elementOf(target as Reflection)]))
      return [
        ...drawers.map(({ title, pages }) => ({
          text: title,
          children: pages.map(({ file }) => elements.get(file) as NavigationElement),
        })),
        { text: 'API', children: api },
      ]
    }

    private elementOf(target: Reflection): NavigationElement {
      return { text: target.name, path: this.router.getFullUrl(target), kind: target.kind }
    }
  }
}

/** What is used here of markdown-it, which TypeDoc reads Markdown with. */
interface Token {
  readonly type: string
  info?: string
  content: string
  children: Token[] | null
}
interface MarkdownParser {
  readonly core: {
    readonly ruler: {
      push(name: string, rule: (state: { readonly tokens: readonly Token[]; readonly Token: NewToken }) => void): void
    }
  }
}
type NewToken = new (type: string, tag: string, nesting: number) => Token

/** Lets code count in the anchor and the name of a heading: TypeDoc leaves it out. */
function nameCodeInHeadings(parser: MarkdownParser): void {
  parser.core.ruler.push('code-in-headings', ({ tokens, Token }) => {
    for (const [index, { type }] of tokens.entries()) {
      const inline = tokens[index + 1]
      if (type !== 'heading_open' || !inline?.children) continue
      inline.children = inline.children.flatMap((child) => {
        if (child.type !== 'code_inline') return [child]
        const html = (content: string) => Object.assign(new Token('html_inline', '', 0), { content })
        const text = Object.assign(new Token('text', '', 0), { content: child.content })
        return [html('<code>'), text, html('</code>')]
      })
    }
  })
}

/** Lets a block without a language be text: TypeDoc takes it for TypeScript. */
function leaveTextPlain(parser: MarkdownParser): void {
  parser.core.ruler.push('plain-text', ({ tokens }) => {
    for (const token of tokens) if (token.type === 'fence' && token.info === '') token.info = 'text'
  })
}

/** Writes what the search of the site loads: its library, and the parts of all pages. */
async function writeSearch(folder: string, pages: Iterable<Page>): Promise<void> {
  const library = await readFile(new URL('../umd/index.js', import.meta.resolve('minisearch')), 'utf8')
  const parts = JSON.stringify(partsOf(folder, pages))
  await writeFile(join(folder, 'assets/pages.js'), `${library}\nwindow.pageParts = ${parts}\n`)
}

function linkToMarkdown(page: Page | undefined, relativeUrl: (place: string) => string | undefined): JSX.Element {
  if (!page) return JSX.createElement(JSX.Fragment, null)
  const href = relativeUrl(`${page.place}.md`)
  return JSX.createElement('p', null, JSX.createElement('a', { href }, 'This page as Markdown'))
}
