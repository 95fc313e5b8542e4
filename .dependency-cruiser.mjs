// Who may import whom. `pnpm rooms` holds these rules, and scripts/rooms.system.test.ts shows that each one bites.

/**
 * The packages, and what each may import of the others. A package that is not here may import none and be imported by
 * none. The core is in `packages`. A satellite is built on the core, and no package of the core imports it.
 */
const ROOMS = {
  'packages/protocol': [],
  'packages/state': ['packages/protocol'],
  'packages/mcp-server': ['packages/protocol', 'packages/state'],
  'packages/mcp-client': ['packages/protocol'],
  'packages/env': ['packages/protocol', 'packages/mcp-client'],
  'packages/dataset': ['packages/protocol'],
  'packages/report': ['packages/protocol'],
  'packages/run': ['packages/protocol', 'packages/report', 'packages/dataset', 'packages/env', 'packages/mcp-server'],
  'packages/models': ['packages/protocol', 'packages/report', 'packages/env', 'packages/mcp-server', 'packages/run'],
  'packages/analysis': [
    'packages/protocol',
    'packages/state',
    'packages/mcp-server',
    'packages/env',
    'packages/report',
    'packages/run',
    'packages/models',
  ],
  'packages/export': [
    'packages/protocol',
    'packages/report',
    'packages/dataset',
    'packages/env',
    'packages/mcp-server',
    'packages/run',
  ],
  'packages/viewer': ['packages/protocol', 'packages/report'],
  'packages/pages': [
    'packages/protocol',
    'packages/report',
    'packages/dataset',
    'packages/run',
    'packages/analysis',
    'packages/viewer',
  ],
  // It loads satellites, where a world or an endpoint asks for one.
  'packages/play': [
    'packages/protocol',
    'packages/state',
    'packages/mcp-server',
    'packages/env',
    'packages/dataset',
    'packages/report',
    'packages/run',
    'packages/models',
    'packages/pages',
    'packages/mcp-client',
    'satellites/contexts',
    'satellites/mcp-worlds',
    'satellites/trainer-endpoints',
  ],
  'packages/continue': [
    'packages/protocol',
    'packages/dataset',
    'packages/env',
    'packages/mcp-server',
    'packages/report',
    'packages/run',
    'packages/models',
    'packages/analysis',
    'packages/play',
  ],
  // What benchmarks know of their data and golden actions is built into the command.
  'packages/suites': [
    'packages/protocol',
    'packages/dataset',
    'packages/report',
    'packages/run',
    'packages/play',
    'satellites/benchmarks',
  ],
  'satellites/fleet': [
    'packages/protocol',
    'packages/mcp-server',
    'packages/report',
    'packages/run',
    'packages/models',
    'packages/play',
  ],
  'satellites/contexts': ['packages/protocol', 'packages/state', 'packages/mcp-server'],
  'satellites/agent': ['packages/protocol', 'packages/mcp-client'],
  'satellites/classics': [
    'packages/protocol',
    'packages/state',
    'packages/mcp-server',
    'packages/env',
    'packages/dataset',
  ],
  'satellites/check': [
    'packages/protocol',
    'packages/state',
    'packages/mcp-server',
    'packages/env',
    'packages/dataset',
    'packages/report',
    'packages/run',
    'satellites/classics',
  ],
  'satellites/trainer-endpoints': ['packages/protocol', 'packages/mcp-server'],
  'satellites/workspace': ['packages/protocol', 'packages/state', 'packages/mcp-server'],
  'satellites/benchmarks': [
    'packages/protocol',
    'packages/env',
    'packages/dataset',
    'packages/mcp-server',
    'satellites/workspace',
  ],
  'satellites/mcp-worlds': [
    'packages/protocol',
    'packages/state',
    'packages/dataset',
    'packages/env',
    'packages/mcp-server',
  ],
}

/**
 * The rooms of a package are the folders of its `src/lib`, and what each may import of the others. A file in `lib`
 * itself may be imported by every room, such as the package's errors. A large room has rooms of its own, by the same
 * rule, and so has an example, in its `src`.
 */
export const INNER_ROOMS = {
  'packages/protocol': {
    base: [],
    wire: ['base'],
    record: ['base', 'wire'],
  },
  'packages/state': {
    store: [],
    state: [],
    session: ['store', 'state'],
    sqlite: ['store'],
    redis: ['store'],
    testing: ['store'],
  },
  'packages/mcp-server': {
    environment: [],
    host: ['environment'],
    process: ['host'],
    dispatch: ['environment', 'host'],
    transport: ['environment', 'host', 'dispatch'],
    http: ['environment', 'host', 'dispatch', 'transport'],
    stdio: ['environment', 'host', 'dispatch', 'transport'],
  },
  'packages/mcp-client': {
    config: [],
    answers: [],
    login: [],
    calls: ['answers'],
    pipe: ['answers', 'calls'],
    http: ['calls', 'login'],
    websocket: ['calls', 'http'],
  },
  'packages/env': {
    credit: [],
    policy: [],
    session: [],
    game: ['policy', 'session'],
    environment: ['policy', 'session', 'game'],
    transport: [],
    external: ['session', 'environment', 'transport'],
    ors: ['session', 'environment', 'transport', 'external'],
    openenv: ['session', 'environment', 'transport', 'external'],
  },
  'satellites/contexts': {
    model: [],
    nlu: ['model'],
    engine: ['model'],
    define: ['model', 'engine'],
    environment: ['model'],
    llm: ['model', 'environment'],
    http: ['model', 'environment'],
  },
  'satellites/agent': {
    connection: [],
    session: ['connection'],
    loop: ['connection', 'session'],
    langchain: ['connection', 'session'],
    'ai-sdk': ['connection', 'session'],
  },
  'satellites/trainer-endpoints': {
    episode: [],
    tasks: [],
    http: [],
    openenv: ['episode', 'tasks', 'http'],
    'nemo-gym': ['episode', 'tasks', 'http'],
    ors: ['episode', 'tasks', 'http'],
  },
  'satellites/workspace': {
    disk: [],
    clock: [],
    bytes: [],
    shell: ['disk', 'clock', 'bytes', 'sql'],
    sql: ['disk', 'clock', 'bytes'],
    workers: ['disk', 'clock', 'shell', 'sql'],
    machine: ['disk'],
    cheats: ['disk'],
    tools: ['disk', 'shell', 'sql', 'workers', 'machine', 'cheats'],
    judge: ['disk', 'tools', 'machine'],
  },
  'satellites/mcp-worlds': {
    servers: [],
    recording: ['servers'],
    environment: ['servers', 'recording'],
  },
  'packages/report': {
    seats: [],
    text: [],
    fold: ['seats'],
    compare: ['fold'],
    notes: ['text', 'fold', 'compare'],
    grades: ['fold', 'seats'],
    group: ['fold'],
    rows: ['fold', 'seats'],
    query: ['fold', 'rows'],
    view: ['fold', 'rows', 'compare', 'grades'],
    search: ['view'],
  },
  'packages/run': {
    base: [],
    folder: ['base'],
  },
  'packages/models': {
    messages: [],
    answers: ['messages'],
    apis: ['messages', 'answers'],
    requests: ['messages'],
    limits: [],
    journal: ['messages', 'answers'],
    record: ['answers', 'apis', 'requests', 'journal'],
    policy: ['messages', 'answers', 'journal'],
    forks: ['journal'],
    rollouts: ['messages', 'answers', 'requests', 'forks'],
    gateway: ['messages', 'answers', 'apis', 'requests', 'limits', 'journal', 'record', 'forks', 'rollouts'],
  },
  'packages/analysis': {
    replay: [],
    grade: ['replay'],
    compare: [],
    gate: ['compare'],
  },
  'satellites/check': {
    secrecy: ['targets'],
    targets: [],
    served: ['targets', 'search'],
    partners: ['targets'],
    search: ['targets', 'partners'],
    hacker: ['targets', 'search'],
    kept: ['targets', 'served', 'partners', 'search'],
    rewards: ['targets', 'search'],
    seats: [],
    report: [],
  },
  'packages/export': {
    episode: [],
    credit: ['episode'],
    inspect: ['episode'],
    formats: ['episode', 'inspect', 'credit'],
  },
  'packages/pages': {
    file: [],
    server: ['file'],
  },
  'packages/play': {
    worlds: [],
    play: ['worlds'],
  },
  'apps/harness': {
    evaluate: [],
    states: [],
    commands: ['evaluate', 'states'],
  },
  'packages/mcp-server/src/lib/environment': {
    answer: [],
    definition: ['answer'],
    rules: ['definition'],
    rehearse: ['answer', 'definition', 'rules'],
  },
  'packages/mcp-server/src/lib/host': {
    access: [],
    operate: ['access'],
    sessions: ['access', 'operate'],
    steps: ['access', 'operate', 'sessions'],
    watch: ['operate', 'sessions', 'steps'],
    open: ['access', 'operate', 'sessions'],
    references: ['access', 'operate', 'sessions', 'steps', 'watch', 'open'],
  },
  'packages/run/src/lib/folder': {
    plan: [],
    text: [],
    record: ['plan', 'text'],
    set: ['plan', 'record'],
  },
  'packages/play/src/lib/play': {
    plan: [],
    record: [],
    episodes: ['plan', 'record'],
    workers: ['episodes'],
    sets: ['plan', 'record', 'episodes'],
    load: ['record'],
  },
  'apps/harness/src/lib/evaluate': {
    replay: [],
    contracts: ['replay'],
  },
  'apps/harness/src/lib/commands': {
    worlds: [],
    serve: [],
    play: [],
    run: [],
    queue: [],
    evaluate: [],
    suites: [],
    show: [],
  },
  'examples/training/src': {
    network: [],
    worlds: ['network'],
    episodes: ['network', 'worlds'],
    learner: ['network', 'worlds', 'episodes'],
    tabular: ['network', 'worlds', 'episodes', 'learner'],
    figures: ['worlds', 'learner'],
  },
}

/** Tests meet their neighbours: the laws of `env` are tried against a real host of `mcp-server`. */
const TESTS = String.raw`\.(test|test-d|bench|fixture)\.tsx?$`

/** The files that open an MCP SDK. The next SDK, or the next revision of the protocol, is a change of these alone. */
const SDK_FILES = '^packages/mcp-(server|client)/src/lib/[^/]+/sdk-[^/]+[.]ts$'

/** Private packages that the command is made of. They give their files one by one, so that it loads what it needs. */
const PARTS_OF_COMMAND =
  '^(packages/(report|run|models|analysis|export|pages|play|continue|suites)|satellites/(check|fleet|benchmarks(?=.*/suite/)))/src/lib/'

/** The files that use Node. They stand behind a subpath of their package, so that its root entry loads in a worker. */
const NODE_FILES = [
  '^packages/state/src/lib/(sqlite|redis)/',
  '^packages/mcp-server/src/lib/(process|transport|http|stdio)/',
  '^satellites/contexts/src/lib/(http/|model/load-package[.]ts$)',
  '^satellites/trainer-endpoints/src/lib/(http|openenv|nemo-gym|ors)/',
  '^packages/dataset/src/lib/(jsonl[^/]*|read-lines|write-tasks)[.]ts$',
  '^packages/viewer/src/lib/',
  PARTS_OF_COMMAND,
]

/** The package whose root entry needs Node: its pages are what runs in a browser. */
const NODE_PACKAGES = '^(packages/viewer/src/[^/]+|satellites/(workspace|mcp-worlds|benchmarks)/src/.*)[.]ts$'

/** The files that use Node and are reached by `import()` alone, where a target asks for them. */
const LAZY_FILES = '^packages/mcp-client/src/lib/(pipe/|http/|websocket/node-[^/]+[.]ts$)'

const between = Object.entries(ROOMS).map(([room, imports]) => ({
  name: `imports-of-${room.replace(/^.*[/]/, '')}`,
  severity: 'error',
  comment: `${room} may import ${imports.join(', ') || 'no other package'}. Imports point one way.`,
  from: { path: `^${room}/`, pathNot: TESTS },
  to: { path: '^(packages|satellites)/', pathNot: [room, ...imports].map((name) => `^${name}/`) },
}))

const within = Object.entries(INNER_ROOMS).flatMap(([home, rooms]) => {
  const folder = home.includes('/src') ? home : `${home}/src/lib`
  const name = home.replace(/[/]src$/, '').replace(/^.*[/]/, '')
  return Object.entries(rooms).map(([room, imports]) => ({
    name: `imports-of-${name}/${room}`,
    severity: 'error',
    comment: `${folder}/${room} may import ${imports.join(', ') || 'no other room'} beside it.`,
    from: { path: `^${folder}/${room}/`, pathNot: TESTS },
    to: {
      path: Object.keys(rooms).map((other) => `^${folder}/${other}/`),
      pathNot: [room, ...imports].map((other) => `^${folder}/${other}/`),
    },
  }))
})

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...between,
    ...within,
    {
      name: 'known-rooms',
      severity: 'error',
      comment: 'Every package is in the table at the top of .dependency-cruiser.mjs, which says what it may import.',
      from: { path: '^(packages|satellites)/', pathNot: `^(${Object.keys(ROOMS).join('|')})/` },
      to: {},
    },
    {
      name: 'packages-stand-alone',
      severity: 'error',
      comment: 'A package knows nothing of the apps, examples and scripts that use it; its tests neither.',
      from: { path: '^(packages|satellites)/' },
      to: { path: '^(apps|examples|bench|chaos|interop|testing|scripts)/' },
    },
    {
      name: 'players-know-no-program',
      severity: 'error',
      comment:
        "What all programs play with knows none of them, and speaks a trainer's protocol without our own client.",
      from: { path: '^testing/' },
      to: { path: '^(apps|examples|bench|chaos|interop|scripts)/|^packages/env/' },
    },
    {
      name: 'packages-by-name',
      severity: 'error',
      comment: 'Across packages, import the package by its name. The simulation of a fleet plays what is inside one.',
      from: {
        path: '^(packages|satellites|apps|examples)/([^/]+)/|^(bench|chaos|interop|testing)/',
        pathNot: '^chaos/fleet/',
      },
      to: { path: '^(packages|satellites|apps|examples)/[^/]+/src/lib/', pathNot: ['^$1/$2/', PARTS_OF_COMMAND] },
    },
    {
      name: 'no-own-index',
      severity: 'error',
      comment: 'Inside lib, import the file that owns the symbol: a way round through the index is a cycle.',
      from: { path: '^(packages|satellites|apps|examples)/([^/]+)/src/lib/', pathNot: TESTS },
      to: { path: '^$1/$2/src/[^/]+[.]ts$' },
    },
    {
      name: 'tests-stay-out',
      severity: 'error',
      comment: 'What runs for users needs nothing of the tests.',
      from: { path: '^(packages|satellites|apps|examples)/', pathNot: TESTS },
      to: { path: TESTS },
    },
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'Two files that need each other are one concept, or hide a third.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'sdk-in-few-files',
      severity: 'error',
      comment: 'Only the files named sdk-*.ts of mcp-server and mcp-client import an MCP SDK.',
      // Servers of an example and of a template are written with the SDK that other authors would use.
      from: {
        path: '^(packages|satellites|apps|examples)/',
        pathNot: [TESTS, SDK_FILES, '^examples/stateful-agents/', '^apps/create-episodic/templates/'],
      },
      to: { path: '@modelcontextprotocol/' },
    },
    {
      name: 'node-behind-subpaths',
      severity: 'error',
      comment: 'Only the files listed as NODE_FILES, NODE_PACKAGES, LAZY_FILES and SDK_FILES import node:*.',
      from: { path: '^(packages|satellites)/', pathNot: [TESTS, ...NODE_FILES, NODE_PACKAGES, LAZY_FILES, SDK_FILES] },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'protocol-without-node',
      severity: 'error',
      comment: 'protocol says what crosses the wire and is kept: it imports no node:* and starts no process, anywhere.',
      from: { path: '^packages/protocol/', pathNot: TESTS },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'root-entry-without-node',
      severity: 'error',
      comment: 'A root entry loads in a worker: what needs Node is reached through a subpath such as ./http.',
      from: { path: '^(packages|satellites)/[^/]+/src/index[.]ts$', pathNot: NODE_PACKAGES },
      to: { path: NODE_FILES, reachable: true },
    },
    {
      name: 'not-resolvable',
      severity: 'error',
      comment: 'An import that leads nowhere would pass every rule above.',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    // Types are imports too: what a type names must be installed with the package.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // What is built here is looked at as its source. What others have built is not ours to leave out: an SDK lives in a
    // `dist`.
    exclude: { path: '^(packages|satellites|apps)/[^/]+/dist/|(^|/)node_modules/[.]cache/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
      extensions: ['.ts', '.js', '.d.ts'],
    },
  },
}
