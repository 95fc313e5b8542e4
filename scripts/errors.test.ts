import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listPublished, root } from './workspace.ts'

const page = readFileSync(join(root, 'docs/operate/errors.md'), 'utf8')

/** The section of each error class on the page: from its heading to the next one. */
const sections = new Map(
  page.split(/^## /m).flatMap((section) => {
    const name = /`(\w+Error)`/.exec(section.split('\n', 1)[0] as string)?.[1]
    return name ? [[name, section] as const] : []
  }),
)

describe('docs/operate/errors.md', () => {
  // Those of private packages are translated, and reach nobody.
  // The command is made of private packages, and its error is in one of them.
  const folders = [...listPublished().map(({ folder }) => folder), 'packages/run'].map(
    (folder) => `${folder}/src/**/*-error.ts`,
  )
  const files = globSync(folders, { cwd: root }).sort()
  const classes = files.flatMap((file) => {
    const source = readFileSync(join(root, file), 'utf8')
    const name = /class (\w+Error) extends CodedError/.exec(source)?.[1]
    return name ? [[name, source] as const] : []
  })

  it('has a section for each error class', () => {
    expect([...sections.keys()].sort()).toEqual(classes.map(([name]) => name).sort())
  })

  it.each(classes)('lists each code of %s', (name, source) => {
    const declared =
      /(?:type \w+ErrorCode =|(?:WIRE_ERROR_NUMBERS|MEANINGS) = \{)([\s\S]*?)\n(?:\}|\n)/.exec(source)?.[1] ?? ''
    const codes = new Set(
      [...declared.matchAll(/'([a-z-]+)'(?::|$)|^ {2}(\w+):/gm)].map(([, quoted, bare]) => quoted ?? bare),
    )
    expect(codes.size).toBeGreaterThan(0)
    const listed = [...(sections.get(name) as string).matchAll(/^[|-] `([a-z-]+)`/gm)].map(([, code]) => code)
    for (const code of codes) expect(listed).toContain(code)
  })
})
