import { describe, expect, it } from 'vitest'
import { defaultFolder } from './run-folder.ts'

const folderOf = (policy: string) =>
  defaultFolder({ environment: { name: 'coin', version: '1.0.0' }, policy: { name: policy, sha256: null }, seed: '0' })

describe('defaultFolder', () => {
  it('contains world, policy and seed', () => {
    expect(folderOf('solver')).toBe('runs/coin-solver-0')
    expect(folderOf('llm:qwen3-8b')).toBe('runs/coin-llm-qwen3-8b-0')
  })

  it('shortens long commands to distinct names', () => {
    const commands = ['a', 'b'].map(
      (flag) => `process:python3 /home/me/agents/py_agent.py --config "${'x'.repeat(80)}" ${flag}`,
    )
    const folders = commands.map(folderOf)
    expect(new Set(folders).size).toBe(2)
    for (const folder of folders)
      expect(folder).toMatch(/^runs\/coin-process-python3-py_agent\.py-[\w.-]{1,8}-[0-9a-f]{6}-0$/)
    expect(folderOf('llm:a/b')).not.toBe(folderOf('llm:a-b'))
  })
})
