import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { EmbeddedRuns } from '@episodic/report'
import type { BundledApp } from './bundle-app.ts'

/** The pages that show runs. */
export interface Viewer {
  /** Returns the page of a server, which gets its data from `/api` on the same address. */
  serverPage(): string
  /**
   * Returns a page that contains its data and makes no requests; its policy forbids them. With the first run's figures as
   * markup, so that they can be read without JavaScript. The same bytes for the same data, on one version of Node.
   */
  filePage(content: EmbeddedRuns): string
}

/** Creates the pages from the texts of a bundle. */
export async function createViewer(app: BundledApp): Promise<Viewer> {
  const module = `data:text/javascript;base64,${Buffer.from(app['markup.js']).toString('base64')}`
  const { renderMarkup }: { renderMarkup: (content: EmbeddedRuns) => string } = await import(module)
  const script = scriptText(app['page.js'])
  const policy = (connect: string) =>
    [
      "default-src 'none'",
      `script-src '${hashOf(script)}'`,
      `style-src '${hashOf(app['page.css'])}'`,
      `connect-src ${connect}`,
      "base-uri 'none'",
      "form-action 'none'",
    ].join('; ')
  const page = (title: string, connect: string, body: string) =>
    [
      '<!doctype html>',
      '<html lang="en">',
      '<head>',
      '<meta charset="utf-8">',
      `<meta http-equiv="Content-Security-Policy" content="${policy(connect)}">`,
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      '<meta name="referrer" content="no-referrer">',
      `<title>${escapeText(title)}</title>`,
      `<style>${app['page.css']}</style>`,
      '</head>',
      '<body>',
      body,
      `<script>${script}</script>`,
      '</body>',
      '</html>',
      '',
    ].join('\n')
  return {
    serverPage: () => page('Episodic', "'self'", '<div id="app"></div>'),
    filePage(content) {
      const data = gzipSync(JSON.stringify(content), { level: 9 }).toString('base64')
      return page(
        content.title,
        "'none'",
        `<div id="app">${renderMarkup(content)}</div>\n<script type="application/octet-stream" id="data">${data}</script>`,
      )
    },
  }
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
