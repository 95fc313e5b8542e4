import { globSync, readFileSync } from 'node:fs'
import { bubblewrap } from '@episodic/workspace'
import { publishedSchema } from './lib/polyglot/exercises.ts'
import { createPolyglot } from './lib/polyglot/polyglot-world.ts'

// A world for `episodic run`, over a checkout of the set and a folder with what tests need. No file of the set is in
// this package: `polyglot.json` has their hashes.

const { POLYGLOT_DATA: data, POLYGLOT_KIT: kit } = process.env
if (!data || !kit)
  throw new Error(
    'POLYGLOT_DATA and POLYGLOT_KIT are not both set. The first names a checkout of https://github.com/Aider-AI/polyglot-benchmark, and the second a folder with what its tests need, made as docs/judge/polyglot.md says.',
  )

const published = publishedSchema.parse(JSON.parse(readFileSync(new URL('../polyglot.json', import.meta.url), 'utf8')))

export const { environment, tasks, solver, policies } = createPolyglot({
  data,
  kit,
  // A JDK of Debian has its settings there.
  machine: bubblewrap({ system: [kit, ...globSync('/etc/java-*-openjdk')] }),
  published,
})
