/**
 * Counts that must not grow: the check that counts fails above a limit. What grows has to replace something, or to say
 * here why it does not. Lower a limit where a change leaves less.
 */
export const LIMITS = {
  exportedNames: {
    most: 396,
    why: 'A reader of the API looks through all of them. Export what users name: a type that is only a part of another one is reached through it. Private packages do not count: `report` and `viewer` are part of the command.',
  },
  internalNames: {
    most: 130,
    why: 'The packages of this repository share them through `/internal` entries, and no user reads or may use them. Most are what hosts, threads, replays and checks do with a held state, and the parts of sealed lines and of answers of MCP, which servers, clients, agents and worlds of MCP servers read in one way.',
  },
  linesOfAPackage: {
    most: {
      'apps/create-episodic': 660,
      'apps/episodic': 50,
      'apps/harness': 7_360,
      'packages/analysis': 3_970,
      'packages/dataset': 1_330,
      'packages/env': 4_350,
      'packages/export': 2_520,
      'packages/mcp-client': 2_880,
      'packages/mcp-server': 16_030,
      'packages/models': 5_770,
      'packages/pages': 3_100,
      'packages/play': 7_120,
      'packages/protocol': 3_150,
      'packages/report': 7_630,
      'packages/run': 4_220,
      'packages/state': 6_910,
      'packages/viewer': 12_480,
      'satellites/agent': 2_630,
      'satellites/benchmarks': 380,
      'satellites/check': 6_910,
      'satellites/classics': 2_010,
      'satellites/contexts': 5_810,
      'satellites/fleet': 2_730,
      'satellites/mcp-worlds': 2_580,
      'satellites/trainer-endpoints': 3_900,
      'satellites/workspace': 6_310,
    },
    why: 'Source without tests: what has to be read, and kept. Room for repairs; what is added beyond it replaces something, or says here why it does not.',
  },
  linesOfARun: {
    most: 38_900,
    why: 'The way of an environment from its definition to a report: the source that one run of one world in process loads. `node scripts/counts.ts --run` prints it file by file.',
  },
  installed: {
    most: {
      episodic: { megabytes: 46, packages: 53 },
      world: { megabytes: 110, packages: 181 },
      game: { megabytes: 110, packages: 181 },
      conversation: { megabytes: 115, packages: 185 },
      workspace: { megabytes: 201, packages: 227 },
      mcp: { megabytes: 110, packages: 183 },
    },
    why: 'What `npm install episodic zod` and a new project of each kind put on the disk. What only some users need is an optional package, found when it is asked for.',
  },
  filesOfAFolder: {
    most: 30,
    why: 'A folder is read at a glance. Tests and fixtures do not count.',
  },
  modulesOfAStart: {
    most: { '--version': 15, '--help': 15, 'run --help': 138 },
    why: 'Each takes most of a millisecond, of every start. Import what a command needs where it needs it.',
  },
  columnsOfAComment: { most: 120, why: 'Two files stand side by side on a screen.' },
  columnsOfAPage: { most: 160, why: 'A page is read as source too: a table that is wider becomes a list.' },
  trips: {
    http: {
      files: 42,
      hops: 91,
      why: 'A reader of a tools/call over HTTP opens these files, and goes from one to another so often. One is where the content of every answer is made.',
    },
    step: { files: 36, hops: 72, why: 'The same for a step of a run, in process.' },
    utterance: { files: 17, hops: 68, why: 'The same for an utterance of a conversation.' },
    agent: { files: 6, hops: 10, why: 'The same for a call of an agent, on the side of the agent.' },
    model: { files: 20, hops: 50, why: 'The same for a turn of a language model, on the side of the model.' },
    worker: { rooms: 12, hops: 51, why: 'The rooms that a worker of a queue enters to open a run.' },
  },
} as const
