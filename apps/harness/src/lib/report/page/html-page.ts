import { hash } from 'node:crypto'
import { escapeHtml } from '../plots/svg.ts'

/** A page that needs nothing else. */
export interface HtmlPage {
  readonly title: string
  readonly style: string
  /** Markup, with whatever data the script reads. */
  readonly body: string
  /** Left out, no script runs at all. */
  readonly script?: string
}

/** Writes a page from which no request leaves, and whose policy forbids any. */
export function renderHtmlPage({ title, style, body, script }: HtmlPage): string {
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${contentPolicy(style, script)}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title><style>${style}</style></head><body>`,
    body,
    script === undefined ? '' : `<script>${script}</script>`,
    '</body></html>\n',
  ].join('')
}

/** Nothing is fetched, and only the page's own style and script run, whatever an observation smuggles in. */
function contentPolicy(style: string, script: string | undefined): string {
  const own = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`
  const scripts = script === undefined ? '' : `script-src ${own(script)}; `
  return `default-src 'none'; style-src ${own(style)}; ${scripts}base-uri 'none'; form-action 'none'`
}
