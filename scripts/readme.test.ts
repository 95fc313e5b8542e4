import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './workspace.ts'

it('prints in the README the very program that the consumer check compiles and runs', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const program = readFileSync(join(root, 'scripts/consumer/higher-or-lower.ts'), 'utf8')
  expect(readme).toContain(`<!-- scripts/consumer/higher-or-lower.ts -->\n\`\`\`ts\n${program}\`\`\``)
})
