import { resolve } from 'node:path'
import { buildSite } from './site/build.ts'
import { findDeadLinks } from './site/dead-links.ts'
import { root } from './workspace.ts'

// `pnpm site [folder]`: builds the documentation and the API reference as a static site, and checks its links.
// Default: `site`.

const folder = resolve(root, process.argv[2] ?? 'site')
await buildSite(folder)
const dead = findDeadLinks(folder)
for (const { page, link } of dead) console.error(`${page} links to ${link}, which is not on the site.`)
if (dead.length > 0) process.exitCode = 1
else console.log(`The site is in ${folder}: open index.html.`)
