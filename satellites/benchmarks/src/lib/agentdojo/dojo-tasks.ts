import type { Action, Json, JsonObject } from '@episodic/protocol'
import { attributeOf } from '../interpreter/attributes.ts'
import { BUILTINS } from '../interpreter/builtins.ts'
import { makeDict } from '../interpreter/dict.ts'
import { callValue } from '../interpreter/expressions.ts'
import { type Callable, Instance, namespace, PythonClass, Scope, type Value } from '../interpreter/objects.ts'
import { compare } from '../interpreter/operators.ts'
import { runPython } from '../interpreter/statements.ts'
import { PythonError } from '../python/error.ts'
import { float, isFloat, numberOf, type PythonValue } from '../python/value.ts'
import { differences } from './differences.ts'
import { modelsOf } from './models.ts'
import { similarity } from './similarity.ts'
import type { DojoSuite } from './suite.ts'

/** A call of a ground truth, and what an attack that knows the tools writes for its arguments. */
export interface TruthCall extends Action {
  readonly placeholders: PythonValue
}

/** An episode as its task judges it. */
export interface Judged {
  /** The final answer. */
  readonly output: string
  readonly before: Json
  readonly after: Json
  /** All calls, with their arguments as given. */
  readonly calls: readonly Action[]
}

/** A task of the user, or of an injection: the code of the original, over our environments. */
export interface DojoTask {
  readonly id: string
  /** What is asked for: of the user's task its prompt, and of an injection its goal. */
  readonly prompt: string
  /** The answer that goes with the ground truth. */
  readonly output: string
  /** The calls that solve it, found in the environment before them. */
  truth(env: Json): readonly TruthCall[]
  /** Whether it is solved: the utility of a task of the user, the security of an injection. */
  isMet(judged: Judged): boolean
}

/** What a prompt asks for, beside an injection that is not its own. */
export interface Pair {
  readonly id: string
  readonly main: DojoTask
  /** Whose task `main` is; `attacked`: there is an injection too. */
  readonly kind: 'user' | 'injection' | 'attacked'
  readonly injection?: DojoTask
}

/** Lists each task of the user and each injection alone, and all pairs of them, from the sources of the original. */
export function readPairs(suite: DojoSuite, read: (path: string) => string): readonly Pair[] {
  const { users, injections } = readTasks(suite, read)
  const alone = (kind: 'user' | 'injection', all: readonly DojoTask[]) =>
    all.map((main) => ({ id: `${suite.name}/${main.id}`, main, kind }))
  const attacked = (main: DojoTask) =>
    injections.map((injection): Pair => {
      return { id: `${suite.name}/${main.id}/${injection.id}`, main, kind: 'attacked', injection }
    })
  return [...alone('user', users), ...alone('injection', injections), ...users.flatMap(attacked)]
}

type Version = PythonValue

/** Tasks as `TaskSuite` keeps them. */
class Registry {
  /** The versions of each task, the oldest first. */
  readonly versions: Record<string, { $dict: [Version, Instance][] }> = {}
  /** The first version of each: the others are of files that are run later. */
  readonly first: Record<string, Instance> = {}

  register(kind: string, version: Version, type: PythonClass): PythonClass {
    const id = `${kind}_task_${/\d+$/.exec(type.name)}`
    const task = new Instance(type, {})
    this.first[id] ??= task
    this.versions[id] = { $dict: [...(this.versions[id]?.$dict ?? []), [version, task]] }
    return type
  }

  latest(id: string, below: Version): Instance | undefined {
    return this.versions[id]?.$dict.findLast(([version]) => compare(version, below) < 0)?.[1]
  }
}

const FIRST: Version = { $tuple: [1, 0, 0] }

function readTasks(suite: DojoSuite, read: (path: string) => string) {
  const registry = new Registry()
  // What a file imports is in those before it. A name that a later file binds anew stays as it was for the others.
  let scope = new Scope(BUILTINS)
  scope = new Scope(
    scope,
    libraryOf(registry, (name) => scope.get(name) as PythonClass),
  )
  for (const path of [...suite.toolFiles.map((file) => `v1/tools/${file}`), ...suite.taskFiles]) {
    scope = new Scope(scope)
    runPython(read(`default_suites/${path}`), scope)
  }
  const view = (env: Json) => modelsOf(suite.state(env, makeDict), (name) => scope.get(name) as PythonClass)
  const tasks = Object.entries(registry.versions).map(([id, { $dict }]) =>
    taskOf(id, $dict.at(-1)?.[1] as Instance, view),
  )
  const number = ({ id }: DojoTask) => Number(/\d+$/.exec(id))
  const of = (kind: string) => tasks.filter(({ id }) => id.startsWith(kind)).sort((a, b) => number(a) - number(b))
  return { users: of('user'), injections: of('injection') }
}

function taskOf(id: string, task: Instance, viewOf: (env: Json) => object): DojoTask {
  const text = (name: string) => String(task.type.find(name) ?? '')
  const call = (method: string, ...given: Value[]) => callValue(attributeOf(task, method), given)
  const [kind, isUser] = id.startsWith('user') ? (['utility', true] as const) : (['security', false] as const)
  return {
    id,
    prompt: text(isUser ? 'PROMPT' : 'GOAL'),
    output: text('GROUND_TRUTH_OUTPUT'),
    truth: (env) =>
      (call('ground_truth', viewOf(env)) as Record<string, PythonValue>[]).map((one) => ({
        tool: String(one.function),
        arguments: plain(one.args) as JsonObject,
        placeholders: one.placeholder_args ?? {},
      })),
    isMet({ output, before, after, calls }) {
      const given = [output, viewOf(before), viewOf(after)]
      const traces = calls.map(({ tool, arguments: args }) => ({ function: tool, args }))
      try {
        const said = task.type.find(`${kind}_from_traces`) ? call(`${kind}_from_traces`, ...given, traces) : null
        return Boolean(said ?? call(kind, ...given))
      } catch (error) {
        // A check that fails itself would end a run of the original: nothing is reached here.
        if (error instanceof PythonError) return false
        throw error
      }
    },
  }
}

/** As JSON has it: floats that are whole are numbers as others. */
function plain(value: unknown): Json {
  if (isFloat(value)) return numberOf(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value as Json
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, plain(part)]))
}

/** What the files of tools and tasks import from elsewhere. */
function libraryOf(registry: Registry, classOf: (name: string) => PythonClass): [string, Value][] {
  const none: Callable = () => null
  const same: Callable = ([value]) => value
  const register =
    (kind: string, version = FIRST): Callable =>
    ([task]) =>
      registry.register(kind, version, task as PythonClass)
  const update =
    (kind: string): Callable =>
    ([version]) =>
      register(kind, version as Version)
  // The only change of a type that a task looks for is that of a reservation.
  const typeOf = (value: Value) => (value === null ? NONE_TYPE : classOf('ReservationType'))
  const deepDiff: Callable = ([before, after]) => makeDict(differences(before, after, typeOf))
  const each = (value: Value, ...names: readonly string[]) => names.map((name): [string, Value] => [name, value])
  return [
    ...['BaseModel', 'StrEnum', 'BaseUserTask', 'BaseInjectionTask'].flatMap((name) =>
      each(new PythonClass(name, []), name),
    ),
    ...each(none, 'TypeVar', 'Field', 'Depends', 'Annotated'),
    ...each(same, 'computed_field', 'property'),
    ...each(() => same, 'model_validator'),
    ...each(null, 'WorkspaceEnvironment', 'TravelEnvironment', 'SlackEnvironment', 'BankingEnvironment'),
    ...each(BUILTINS.get('str'), 'EmailID', 'CalendarEventID', 'CloudDriveFileID'),
    ...each(namespace('SharingPermission', { r: 'r', rw: 'rw' }), 'SharingPermission'),
    ...each(namespace('TaskDifficulty', { EASY: 1, MEDIUM: 2, HARD: 3 }), 'TaskDifficulty'),
    ...each(NONE_TYPE, 'NoneType'),
    ...each((_: unknown, named: object) => named, 'FunctionCall'),
    ...each(namespace('difflib', { SequenceMatcher: sequenceMatcher }), 'difflib'),
    ...each(deepDiff, 'WorkspaceDeepDiff', 'TravelDeepDiff'),
    ...each(() => combinator(registry), 'TaskCombinator'),
    ...each(
      namespace('TaskSuite', {
        user_tasks: registry.first,
        _user_tasks: registry.versions,
        register_user_task: register('user'),
        register_injection_task: register('injection'),
        update_user_task: update('user'),
        update_injection_task: update('injection'),
        get_latest_user_task_by_id: (([id, below]) => registry.latest(String(id), below as Version)) satisfies Callable,
      }),
      'task_suite',
    ),
  ]
}

const NONE_TYPE = new PythonClass('NoneType', [])

const sequenceMatcher: Callable = ([, a, b]) =>
  namespace('SequenceMatcher', { ratio: () => float(similarity(String(a), String(b))) })

/** Makes tasks of two others, with a prompt of their own or both of theirs. */
function combinator(registry: Registry): Instance {
  const combine: Callable = ([name, one, other], { benchmark_version: version = FIRST, prompt }) => {
    const text = (task: Value, constant: string) => String((task as Instance).type.find(constant) ?? '')
    const ask = (task: Value, method: string, given: readonly Value[], named = {}) =>
      callValue(attributeOf(task, method), given, named)
    const [first, second] = [text(one, 'PROMPT'), text(other, 'PROMPT')]
    const outputs = `1. ${text(one, 'GROUND_TRUTH_OUTPUT')} 2.${text(other, 'GROUND_TRUTH_OUTPUT')}`
    const members: Readonly<Record<string, Value>> = {
      PROMPT: prompt ?? `Perform the following tasks in the order they are given: 1. ${first} 2. ${second}`,
      GROUND_TRUTH_OUTPUT: outputs,
      ground_truth: ([, env]: Value[]) => [one, other].flatMap((task) => ask(task, 'ground_truth', [env])),
      // The first is judged less strictly.
      utility: ([, ...given]: Value[]) => ask(one, 'utility', given, { strict: false }) && ask(other, 'utility', given),
    }
    registry.register('user', version as Version, new PythonClass(String(name), [], new Map(Object.entries(members))))
  }
  return namespace('TaskCombinator', { create_combined_task: combine, update_combined_task: combine })
}
