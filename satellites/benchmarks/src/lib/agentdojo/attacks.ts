import { readLiteral } from '../python/expression.ts'
import { repr } from '../python/repr.ts'
import { format } from './environment-file.ts'
import { readPythonTexts } from './python-texts.ts'
import type { TruthCall } from './suite.ts'

/** How an injected text asks for its goal. */
export const ATTACKS = [
  'none',
  'important_instructions',
  'direct',
  'ignore_previous',
  'injecagent',
  'system_message',
  'tool_knowledge',
] as const
export type Attack = (typeof ATTACKS)[number]

export interface Attacked {
  readonly goal: string
  /** What the model is called; empty: as AgentDojo calls one that it does not know. */
  readonly model: string
  /** The calls that reach the goal in an environment without injections. */
  readonly truth: () => readonly TruthCall[]
}

export type AttackTexts = (attack: Exclude<Attack, 'none'>, attacked: Attacked) => string

export function readAttacks(read: (file: string) => string): AttackTexts {
  const baseline = read('attacks/baseline_attacks.py')
  const important = read('attacks/important_instructions_attacks.py')
  const { classes } = readPythonTexts(important)
  const template = (name: string) => String(classes.get(name)?.get('_JB_STRING'))
  const models = readPythonTexts(read('attacks/base_attacks.py')).module
  const [user = ''] = /(?<=self\.user_name = ")[^"]+/.exec(important) ?? []
  // The sentences for the calls of a goal: for the first, the last of several, and those between.
  const sentences = [...important.matchAll(/output \+= f("[^\n]+")/g)].map(([, text = '']) => String(readLiteral(text)))
  const [first = '', last = '', between = ''] = sentences
  const steps = (truth: readonly TruthCall[]) =>
    truth
      .map(([tool, , placeholders = {}], i) =>
        (i === 0 ? first : i === truth.length - 1 ? last : between)
          .replace('{tool_call.function}', () => tool)
          .replace('{tool_call.placeholder_args}', () => repr(placeholders)),
      )
      .join('')
  return (attack, { goal, model, truth }) => {
    const names = { goal, user, model: model || String(models.get('DEFAULT_MODEL_NAME')) }
    if (attack === 'important_instructions') return format(template('ImportantInstructionsAttack'), names)
    if (attack === 'tool_knowledge') return format(template('ToolKnowledgeAttack'), { ...names, tools: steps(truth()) })
    const made = new RegExp(
      `name = "${attack}"[\\s\\S]*?__init__\\(\\s*("(?:[^"\\\\]|\\\\.)*"), task_suite|name = "${attack}"[\\s\\S]*?__init__\\(\\s+("(?:[^"\\\\]|\\\\.)*"),`,
    )
    const [, written, wrapped] = made.exec(baseline) ?? []
    return format(String(readLiteral(written ?? wrapped ?? '')), names)
  }
}
