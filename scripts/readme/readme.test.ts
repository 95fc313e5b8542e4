import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../workspace.ts'

const read = (file: string): string => readFileSync(join(root, file), 'utf8')

describe('the README and the pages', () => {
  it.each([
    ['README.md', 'scripts/newcomer/my-world.ts'],
    ['docs/start/quickstart.md', 'scripts/consumer/higher-or-lower.ts'],
    ['apps/episodic/AGENTS.md', 'apps/create-episodic/templates/world/world.ts'],
    ['docs/write/mcp-servers.md', 'scripts/newcomer/who-knows-whom.ts'],
  ])('%s prints %s, which a check compiles and runs', (page, program) => {
    expect(read(page)).toContain(`<!-- ${program} -->\n\`\`\`ts\n${read(program)}\`\`\``)
  })

  it('keeps the README under 700 words', () => {
    expect(read('README.md').split(/\s+/).length).toBeLessThan(700)
  })
})
