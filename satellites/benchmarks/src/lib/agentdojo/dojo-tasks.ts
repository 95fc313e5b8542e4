import type { Json } from '@episodic/protocol'
import { type Constant, readPythonTexts } from './python-texts.ts'
import type { DojoSuite, DojoTask, Texts } from './suite.ts'

export interface NamedTask {
  readonly id: string
  readonly task: DojoTask<Json>
  readonly texts: Texts
}

/** What a prompt asks for, beside an injection that is not its own. */
export interface Pair {
  readonly id: string
  readonly main: NamedTask
  /** Whose task `main` is; `attacked`: there is an injection too. */
  readonly kind: 'user' | 'injection' | 'attacked'
  readonly injection?: NamedTask
}

/** Lists each task of the user and each injection alone, and all pairs of them; reads their texts. */
export function readPairs(suite: DojoSuite, read: (path: string) => string): readonly Pair[] {
  const sources = suite.taskFiles.map((path) => read(`default_suites/${path}`))
  const texts = readTexts(sources)
  const named = (kind: string, type: string, all: DojoSuite['userTasks']) =>
    Object.entries(all).map(([number, task]): NamedTask => {
      return { id: `${kind}_task_${number}`, task, texts: (texts.get(`${type}Task${number}`) ?? {}) as Texts }
    })
  const own = named('user', 'User', suite.userTasks)
  const before = named('user', 'User', { ...suite.userTasks, ...suite.combinedBefore })
  const both = Object.entries(suite.combined ?? {}).map(([number, parts]) => {
    const prompt = sources.findLast((source) => promptIn(source, number))
    const of = parts.map((part) => before.find(({ id }) => id === `user_task_${part}`) as NamedTask)
    return combined(number, of, prompt && promptIn(prompt, number))
  })
  const number = ({ id }: NamedTask) => Number(id.replace('user_task_', ''))
  const users = [...own, ...both].sort((a, b) => number(a) - number(b))
  const injections = named('injection', 'Injection', suite.injectionTasks)
  const alone = (kind: 'user' | 'injection', all: readonly NamedTask[]) =>
    all.map((main) => ({ id: `${suite.name}/${main.id}`, main, kind }))
  const attacked = (main: NamedTask) =>
    injections.map((injection): Pair => {
      return { id: `${suite.name}/${main.id}/${injection.id}`, main, kind: 'attacked', injection }
    })
  return [...alone('user', users), ...alone('injection', injections), ...users.flatMap(attacked)]
}

export function outputOf({ task, texts }: NamedTask): string {
  return task.output?.(texts) ?? texts.GROUND_TRUTH_OUTPUT ?? ''
}

/** Reads the constants of all classes of tasks; of a class in several files, the last. */
function readTexts(sources: readonly string[]) {
  let module: ReadonlyMap<string, Constant> = new Map()
  const classes = sources.flatMap((source) => {
    const read = readPythonTexts(source, module)
    module = read.module
    return [...read.classes]
  })
  return new Map(classes.map(([name, constants]) => [name, Object.fromEntries(constants)]))
}

const promptIn = (source: string, number: string) =>
  new RegExp(`"UserTask${number}",[^)]*?prompt="([^"]+)"`).exec(source)?.[1]

/** Makes one task of two, with a prompt of its own or both of theirs: the first is judged less strictly. */
function combined(number: string, parts: readonly NamedTask[], prompt: string | undefined): NamedTask {
  const list = (name: 'PROMPT' | 'GROUND_TRUTH_OUTPUT') => parts.map(({ texts }) => texts[name] ?? '')
  const [[one, other], [a, b]] = [list('PROMPT'), list('GROUND_TRUTH_OUTPUT')]
  const both = `Perform the following tasks in the order they are given: 1. ${one} 2. ${other}`
  return {
    id: `user_task_${number}`,
    texts: { PROMPT: prompt ?? both, GROUND_TRUTH_OUTPUT: `1. ${a} 2.${b}` } as Texts,
    task: {
      truth: (_, env) => parts.flatMap(({ task, texts }) => task.truth(texts, env)),
      isMet: (judged) => parts.every(({ task, texts }, i) => task.isMet({ ...judged, lenient: i === 0 }, texts)),
    },
  }
}
