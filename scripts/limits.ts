/**
 * Counts that must not grow: the check that counts fails above a limit. What grows has to replace something, or to say
 * here why it does not. Lower a limit where a change leaves less.
 */
export const LIMITS = {
  exportedNames: {
    most: 428,
    why: 'A reader of the API looks through all of them. Seventeen more than before there was a workspace, and six of `create-episodic`, which no world uses. Three for plain requests, which a gateway reads as servers of worlds do. One for recorded models, which tests of worlds play against, and one for the resources of an observation. One for the further policies of number-guessing, which `--policy` takes. Private packages do not count: `report` and `viewer` are part of the command.',
  },
  internalNames: {
    most: 113,
    why: 'The packages of this repository share them through `/internal` entries, and no user reads or may use them. Twenty more than before states were kept in pages: what hosts, threads, replays and checks do with a held state. Four for pictures: servers make them, clients read them, and endpoints of texts note them. Two for what worlds were made of: the command gives it back, worlds of MCP servers read it. Two for the writer of recordings, which the command uses. One that makes a text of anything that came from outside. One that asks which Node this is, for both commands. Two for the end of a group of processes, which Windows ends otherwise. Five for the parts of answers of MCP, which endpoints write, and clients, agents and worlds of MCP servers read in one way. One that reads all pages of a list.',
  },
  filesOfAFolder: {
    most: 48,
    why: 'A folder is read at a glance. Most are in chaos: its programs are one list.',
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
      hops: 132,
      why: 'A reader of a tools/call over HTTP opens these files, and goes from one to another so often. One is where the content of every answer is made.',
    },
    step: { files: 41, hops: 109, why: 'The same for a step of a run, in process.' },
    utterance: { files: 23, hops: 93, why: 'The same for an utterance of a conversation.' },
    agent: { files: 7, hops: 12, why: 'The same for a call of an agent, on the side of the agent.' },
  },
} as const
