import { defineEnvironment } from '@episodic/mcp-server'
import { readFile, startWorkspace, workspaceState, workspaceTools } from '@episodic/workspace'
import { z } from 'zod'
import { diskOf } from './files.ts'
import { runHiddenTests } from './hidden-tests.ts'
import { type Bug, bugsOf, planted } from './mutations.ts'
import { CALLS, PROGRAMS, type Program } from './programs.ts'

/** How often a program may be handed in. */
const SUBMISSIONS = 3

const module = z.enum(PROGRAMS.flatMap(({ modules }) => Object.keys(modules)))
const bug = z.object({ module, line: z.int().min(0).max(99), correct: z.string(), wrong: z.string() })

/** A small program that does not do what its description says. */
export const environment = defineEnvironment({
  name: 'repair-shop',
  version: '1.0.0',
  description: 'Repair a program on a computer, so that it does what its README.md says. Hidden tests decide.',
  handle: 'repair',
  params: z.object({
    /** The number of bugs, each in a module of its own. At 3, most of the tests are missing. */
    difficulty: z.int().min(1).max(3).default(1),
  }),
  limits: { steps: 30 },
  state: {
    public: z.object({
      passed: z.int().min(0).max(CALLS).nullable().describe('Hidden tests that the last submission passed.'),
      submissions: z.int().min(0).max(SUBMISSIONS).describe('Submissions that are left.'),
      repaired: z.number().min(0).max(1).describe('The best submission: the share of failing tests that it repaired.'),
    }),
    private: z.object({ ...workspaceState, program: z.enum(PROGRAMS.map(({ name }) => name)), bugs: z.array(bug) }),
  },
  start({ params, rng }) {
    const program = rng.pick(PROGRAMS)
    const modules = rng.shuffle(modulesWithBugs(program)).slice(0, params.difficulty)
    const bugs = modules.map((module) => rng.pick(bugsOf(program).filter((one) => one.module === module)))
    const tests = Object.keys(program.tests)
    const tested = params.difficulty < 3 ? tests : [rng.pick(tests)]
    return {
      public: { passed: null, submissions: SUBMISSIONS, repaired: 0 },
      private: {
        ...startWorkspace(diskOf(program, planted(program, bugs), tested)),
        program: program.name,
        bugs,
      },
    }
  },
  observe({ passed, submissions }) {
    const last = passed === null ? '' : ` The last one passed ${passed} of ${CALLS} hidden tests.`
    return `In /app is a program with a fault. README.md says what it has to do; node test/all.js runs its tests. Submissions left: ${submissions}.${last}`
  },
  tools: ({ tool }) => ({
    ...workspaceTools(tool, { cwd: '/app', languages: ['javascript'] }),
    submit: tool({
      description: `Hand the program in: the hidden tests are run. It ends when all of them pass, and with submission ${SUBMISSIONS}.`,
      input: z.object({}),
      prepared: z.object({ passed: z.int(), before: z.int() }),
      repeatable: true,
      prepare({ state: { private: shop }, signal }) {
        const program = programOf(shop.program)
        return runHiddenTests(shop.disk, { program, modules: planted(program, shop.bugs) }, signal)
      },
      play({ state, prepared: { passed, before }, reveal, say, end }) {
        const shop = state.public
        shop.passed = reveal(passed)
        shop.submissions -= 1
        shop.repaired = Math.max(shop.repaired, reveal(Math.max(0, (passed - before) / Math.max(1, CALLS - before))))
        if (passed === CALLS) end('repaired')
        else if (shop.submissions === 0) end('rejected')
        return say(`${reveal(passed)} of ${CALLS} hidden tests passed.`)
      },
    }),
  }),
  rewards: {
    // 1 over an episode that repairs everything: each submission pays for what it is better than all before it.
    repaired: ({ before, after }) => after.public.repaired - before.public.repaired,
    cost: () => -0.01,
  },
  // Φ, from 0 to ½: half the share of the bugs whose line is correct again, somewhere in its module.
  potential: ({ private: { bugs, disk } }) =>
    bugs.filter((bug) => isUndone(bug, readFile(disk, `/app/src/${bug.module}.js`))).length / (2 * bugs.length),
  success: ({ end }) => end.reason === 'repaired',
})

function programOf(name: string): Program {
  return PROGRAMS.find((program) => program.name === name) as Program
}

function modulesWithBugs(program: Program): string[] {
  return [...new Set(bugsOf(program).map(({ module }) => module))]
}

function isUndone({ correct, wrong }: Bug, text: string | null): boolean {
  const lines = text?.split('\n') ?? []
  return lines.includes(correct) && !lines.includes(wrong)
}
