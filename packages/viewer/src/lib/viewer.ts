import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { EmbeddedRuns } from '@episodic/report/view/embedded-runs'

/** Each page as a script and its style; `play` is that of a server that continues episodes. */
export const APP_FILES = ['page.js', 'page.css', 'play.js', 'play.css', 'markup.js'] as const
export type BundledApp = { readonly [name in (typeof APP_FILES)[number]]: string }

export interface Viewer {
  /**
   * Returns the page of a server, which gets its data from `/api` on the same address.
   *
   * @param plays - whether it can continue episodes.
   */
  serverPage(plays: boolean): string
  /**
   * Returns a page that contains its data and makes no requests; its policy forbids them. With the first run's figures
   * as markup, so that they can be read without JavaScript. The same bytes for the same data, on one version of Node.
   */
  filePage(content: EmbeddedRuns): string
}

interface Markup {
  renderMarkup(content: EmbeddedRuns): string
}

export async function createViewer(app: BundledApp): Promise<Viewer> {
  const module = `data:text/javascript;base64,${Buffer.from(app['markup.js']).toString('base64')}`
  const { renderMarkup }: Markup = await import(module)
  const script = scriptText(app['page.js'])
  const playScript = scriptText(app['play.js'])
  const policy = (connect: string, scripts: readonly string[], style: string) =>
    [
      "default-src 'none'",
      `script-src ${scripts.map((text) => `'${hashOf(text)}'`).join(' ')}`,
      `style-src '${hashOf(style)}'`,
      `connect-src ${connect}`,
      'img-src data:',
      'media-src data:',
      "base-uri 'none'",
      "form-action 'none'",
    ].join('; ')
  const page = (title: string, connect: string, scripts: readonly string[], body: string, style = app['page.css']) =>
    [
      '<!doctype html>',
      '<html lang="en">',
      '<head>',
      '<meta charset="utf-8">',
      `<meta http-equiv="Content-Security-Policy" content="${policy(connect, scripts, style)}">`,
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      '<meta name="referrer" content="no-referrer">',
      `<title>${escapeText(title)}</title>`,
      `<style>${style}</style>`,
      '</head>',
      '<body>',
      body,
      `<script>${scripts[0]}</script>`,
      '</body>',
      '</html>',
      '',
    ].join('\n')
  // The same in every page, and slow to pack.
  let code: string | undefined
  return {
    serverPage: (plays) =>
      page(
        'Episodic',
        "'self'",
        [plays ? playScript : script],
        '<div id="app"></div>',
        app[plays ? 'play.css' : 'page.css'],
      ),
    filePage(content) {
      code ??= packed('code', script)
      const body = [`<div id="app">${renderMarkup(content)}</div>`, packed('data', JSON.stringify(content)), code]
      return page(content.title, "'none'", [LOADER, script], body.join('\n'))
    },
  }
}

/** Runs the packed script of a file, a third as large. The page's policy has the hashes of both. */
const LOADER = `(async () => {
  const packed = Uint8Array.from(atob(document.getElementById('code').textContent), (c) => c.charCodeAt(0))
  const script = document.createElement('script')
  script.textContent = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).text()
  document.body.append(script)
})()`

/** An element with a text that the page unpacks: gzipped, in base64. */
function packed(id: string, text: string): string {
  const bytes = gzipSync(text, { level: 9 })
  return `<script type="application/octet-stream" id="${id}">${bytes.toString('base64')}</script>`
}

/** Within a script element, text cannot contain its end tag. */
function scriptText(script: string): string {
  return script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
