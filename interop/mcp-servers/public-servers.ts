/** A call of a player. */
export interface Call {
  readonly tool: string
  readonly arguments: object
}

/** A public MCP server, as a world: its command line, what a player does with it, and what it has afterwards. */
export interface PublicServer {
  /** The program that its package installs. */
  readonly program: string
  /** Its package, with the version that is played. */
  readonly package: string
  /** Returns its command line, for the path of the program. */
  command(program: string): string
  /** Returns calls that have it keep a value, or answer with it. `page` is the URL of a page on this machine. */
  calls(value: string, page: string): readonly Call[]
  /**
   * An expression of TypeScript for what the server has, or has answered: the score looks for the value of the episode
   * in it, and for those of others. It has `call`, which resolves with the text of an answer, and `transcript`.
   */
  readonly found: string
}

const BROWSER = '/usr/bin/chromium'
const ANSWERS = 'JSON.stringify(transcript)'
const call = (tool: string, args: object = {}): Call => ({ tool, arguments: args })

/** Servers of npm. */
export const OF_NPM: readonly PublicServer[] = [
  {
    program: 'mcp-server-memory',
    package: '@modelcontextprotocol/server-memory@2026.8.31',
    command: (program) => `MEMORY_FILE_PATH={folder}/memory.json ${program}`,
    calls: (value) => [call('create_entities', { entities: [{ name: value, entityType: 'value', observations: [] }] })],
    found: "await call('read_graph')",
  },
  {
    program: 'mcp-server-filesystem',
    package: '@modelcontextprotocol/server-filesystem@2026.8.31',
    command: (program) => `${program} {folder}`,
    calls: (value) => [
      call('write_file', { path: '{folder}/value.txt', content: value }),
      call('list_allowed_directories'),
    ],
    found: "await call('read_text_file', { path: '{folder}/value.txt' })",
  },
  {
    program: 'mcp-server-everything',
    package: '@modelcontextprotocol/server-everything@2026.8.31',
    command: (program) => program,
    calls: (value) => [
      call('echo', { message: value }),
      call('get-tiny-image'),
      call('get-resource-links', { count: 2 }),
      call('get-structured-content', { location: 'New York' }),
    ],
    found: ANSWERS,
  },
  {
    program: 'mcp-server-sequential-thinking',
    package: '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
    command: (program) => program,
    calls: (value) => [
      call('sequentialthinking', { thought: value, nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }),
    ],
    // It answers with the number of thoughts that it has, which would be higher if others had thought there too.
    found: `${ANSWERS}.includes('"thoughtHistoryLength":1}') ? ${ANSWERS} : ''`,
  },
  {
    program: 'playwright-mcp',
    package: '@playwright/mcp@0.0.83',
    command: (program) =>
      `${program} --headless --isolated --no-sandbox --executable-path ${BROWSER} --output-dir {folder}`,
    calls: (value, page) => [call('browser_navigate', { url: `${page}#${value}` }), call('browser_take_screenshot')],
    found: "await call('browser_evaluate', { function: '() => localStorage.getItem(\"values\")' })",
  },
  {
    program: 'chrome-devtools-mcp',
    package: 'chrome-devtools-mcp@1.11.0',
    command: (program) =>
      `${program} --headless --isolated --executablePath ${BROWSER} --chromeArg=--no-sandbox --usageStatistics=false`,
    calls: (value, page) => [call('new_page', { url: `${page}#${value}` })],
    found: "await call('evaluate_script', { pageId: 2, function: '() => localStorage.getItem(\"values\")' })",
  },
  {
    program: 'mcp-server-code-runner',
    package: 'mcp-server-code-runner@0.1.8',
    command: (program) => program,
    calls: (value) => [call('run-code', { languageId: 'javascript', code: `console.log(${JSON.stringify(value)})` })],
    found: ANSWERS,
  },
]

/** Servers of PyPI. */
export const OF_PYPI: readonly (PublicServer & { readonly requirements: string })[] = [
  {
    program: 'mcp-server-git',
    package: 'mcp-server-git',
    requirements: 'mcp-servers.txt',
    command: (program) =>
      `sh -c 'git init -q {folder}/repository && touch {folder}/repository/file && exec ${program} --repository {folder}/repository'`,
    calls: (value) => [
      call('git_add', { repo_path: '{folder}/repository', files: ['file'] }),
      call('git_commit', { repo_path: '{folder}/repository', message: value }),
    ],
    found: "await call('git_log', { repo_path: '{folder}/repository' })",
  },
  {
    program: 'mcp-server-sqlite',
    package: 'mcp-server-sqlite',
    // It was written for version 1 of the package `mcp`, and does not start with version 2.
    requirements: 'mcp-servers-mcp-1.txt',
    command: (program) => `${program} --db-path {folder}/values.db`,
    calls: (value) => [
      call('create_table', { query: 'CREATE TABLE found (value TEXT)' }),
      call('write_query', { query: `INSERT INTO found VALUES ('${value}')` }),
    ],
    found: "await call('read_query', { query: 'SELECT * FROM found' })",
  },
  {
    program: 'mcp-server-time',
    package: 'mcp-server-time',
    requirements: 'mcp-servers.txt',
    command: (program) => `${program} --local-timezone Europe/Paris`,
    calls: (value) => [
      call('convert_time', { source_timezone: 'Europe/Paris', time: '12:00', target_timezone: 'Asia/Tokyo' }),
      call('get_current_time', { timezone: value }),
    ],
    found: ANSWERS,
  },
  {
    program: 'mcp-server-fetch',
    package: 'mcp-server-fetch',
    requirements: 'mcp-servers.txt',
    command: (program) => `${program} --ignore-robots-txt --allow-private-ips`,
    calls: (value, page) => [call('fetch', { url: `${page}${value}`, raw: true })],
    found: ANSWERS,
  },
  {
    program: 'excel-mcp-server',
    package: 'excel-mcp-server',
    requirements: 'mcp-servers.txt',
    command: (program) => `${program} stdio`,
    calls: (value) => [
      call('create_workbook', { path: '{folder}/values.xlsx', sheets: ['Values'] }),
      call('write_range', { path: '{folder}/values.xlsx', sheet: 'Values', at: 'A1', rows: [[value]] }),
    ],
    found: "await call('read_range', { path: '{folder}/values.xlsx', sheet: 'Values' })",
  },
]
