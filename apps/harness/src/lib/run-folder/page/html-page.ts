import { hash } from 'node:crypto'
import { escapeHtml } from '../../base/svg.ts'

/** A self-contained page. */
export interface HtmlPage {
  readonly title: string
  readonly style: string
  /** Markup, including the data of the script. */
  readonly body: string
  /** Without it, the page runs no script. */
  readonly script?: string
}

/** Renders a page that makes no requests; its content security policy forbids them. */
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

/** Forbids all requests, and all styles and scripts but the page's own, in case an observation contains markup. */
function contentPolicy(style: string, script: string | undefined): string {
  const own = (text: string) => `'sha256-${hash('sha256', text, 'base64')}'`
  const scripts = script === undefined ? '' : `script-src ${own(script)}; `
  return `default-src 'none'; style-src ${own(style)}; ${scripts}base-uri 'none'; form-action 'none'`
}
