import { gunzipSync } from 'node:zlib'
import type { EmbeddedRuns } from '@episodic/report'

/** The data that a page contains, as JSON. */
export function pageJson(html: string): string {
  const [data = ''] = /(?<=id="data">)[^<]*/.exec(html) ?? []
  return gunzipSync(Buffer.from(data, 'base64')).toString('utf8')
}

/** The runs that a page contains. */
export function pageContent(html: string): EmbeddedRuns {
  return JSON.parse(pageJson(html))
}
