/**
 * Counts that must not grow: the check that counts fails above a limit. What grows has to replace something, or to say
 * here why it does not. Lower a limit where a change leaves less.
 */
export const LIMITS = {
  exportedNames: {
    most: 399,
    why: 'A reader of the API looks through all of them. Export what users name: a type that is only a part of another one is reached through it. Private packages do not count: `report` and `viewer` are part of the command.',
  },
  internalNames: {
    most: 136,
    why: 'The packages of this repository share them through `/internal` entries, and no user reads or may use them. Most are what hosts, threads, replays and checks do with a held state, and the parts of sealed lines and of answers of MCP, which servers, clients, agents and worlds of MCP servers read in one way.',
  },
  linesOfAPackage: {
    most: {
      'apps/create-episodic': 660,
      'apps/episodic': 50,
      'apps/harness': 47_000,
      'packages/dataset': 1_350,
      'packages/env': 6_490,
      'packages/mcp-server': 16_950,
      'packages/protocol': 4_110,
      'packages/report': 8_330,
      'packages/state': 7_180,
      'packages/viewer': 13_810,
      'satellites/agent': 3_350,
      'satellites/classics': 5_240,
      'satellites/contexts': 6_300,
      'satellites/mcp-worlds': 2_700,
      'satellites/trainer-endpoints': 4_270,
      'satellites/workspace': 12_660,
    },
    why: 'Source without tests: what has to be read, and kept. Room for repairs; what is added beyond it replaces something, or says here why it does not.',
  },
  installed: {
    most: {
      episodic: { megabytes: 59, packages: 146 },
      world: { megabytes: 123, packages: 181 },
      game: { megabytes: 123, packages: 181 },
      conversation: { megabytes: 128, packages: 185 },
      workspace: { megabytes: 214, packages: 227 },
      mcp: { megabytes: 124, packages: 183 },
    },
    why: 'What `npm install episodic zod` and a new project of each kind put on the disk. What only some users need is an optional package, found when it is asked for.',
  },
  filesOfAFolder: {
    most: 30,
    why: 'A folder is read at a glance. Tests and fixtures do not count.',
  },
  modulesOfAStart: {
    most: { '--version': 20, '--help': 20, 'run --help': 138 },
    why: 'Each takes most of a millisecond, of every start. Import what a command needs where it needs it.',
  },
  columnsOfAComment: { most: 120, why: 'Two files stand side by side on a screen.' },
  columnsOfAPage: { most: 160, why: 'A page is read as source too: a table that is wider becomes a list.' },
  trips: {
    http: {
      files: 52,
      hops: 121,
      why: 'A reader of a tools/call over HTTP opens these files, and goes from one to another so often. One is where the content of every answer is made.',
    },
    step: { files: 39, hops: 96, why: 'The same for a step of a run, in process.' },
    utterance: { files: 17, hops: 68, why: 'The same for an utterance of a conversation.' },
    agent: { files: 7, hops: 12, why: 'The same for a call of an agent, on the side of the agent.' },
    model: { files: 20, hops: 50, why: 'The same for a turn of a language model, on the side of the model.' },
    worker: { rooms: 12, hops: 52, why: 'The rooms that a worker of a queue enters to open a run.' },
  },
} as const
