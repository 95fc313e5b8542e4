import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toolInputs } from './tool-inputs.ts'

describe('the tools on the page about workspaces', () => {
  it('take what they take, with the same defaults', () => {
    const page = readFileSync(new URL('../../../../../docs/write/workspaces.md', import.meta.url), 'utf8')
    const [, section = ''] = /^## The tools\n(.*?)^## /ms.exec(page) ?? []
    const said = [...section.matchAll(/^\| `(\w+)` +\| (.+?) +\|/gm)].map(([, tool, takes]) => `${tool}: ${takes}`)
    const taken = Object.entries(toolInputs).map(([tool, input]) => {
      const { properties = {} } = z.toJSONSchema(input, { io: 'input' })
      const takes = Object.entries(properties).map(([name, field]) => {
        const { default: otherwise } = field as { default?: unknown }
        return `\`${name}\`${otherwise === undefined ? '' : ` (${otherwise})`}`
      })
      return `${tool}: ${takes.join(', ')}`
    })
    expect(said).toEqual(taken)
  })
})
