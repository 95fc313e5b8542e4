import type { Console } from '@episodic/run/base/console'
import { addOptionsWithFile } from '@episodic/run/base/options'
import { Command } from 'commander'
import { IN_FILE, RUN_OPTIONS } from './run-options.ts'

export function command(console: Console): Command {
  const run = addOptionsWithFile(new Command('run'), RUN_OPTIONS, IN_FILE)
  return run
    .argument(
      '[worlds...]',
      'name, path or package of the world; on a server of OpenEnv or ORS, its environment (default: the first)',
    )
    .addHelpText(
      'after',
      `
Examples:
  episodic run number-guessing --tasks 500 --policy random
  episodic run number-guessing --transport http --rollouts 4 --shaping
  episodic run number-guessing --tasks 100000 --processes 4
  episodic run frozen-lake --branch 4@3        4 episodes that part at step 3
  episodic run frozen-lake --branch 4@3,2@6    trees of 8 episodes
  episodic run frozen-lake --stages 500@0..0.3,500@0.7..1
  episodic run number-guessing --url http://127.0.0.1:7337/env --tasks 50
  episodic run --url openenv:http://127.0.0.1:8000 --tasks 20 --max-steps 50
  episodic run --url ors:http://127.0.0.1:8080 --split train --policy llm:qwen3
  episodic run --mcp 'npx -y @playwright/mcp --headless' --tasks tasks.jsonl --score score.ts
  episodic run number-guessing --out runs/mine --resume
  episodic run number-guessing --out runs/mine --resume --retry-failed
  episodic run number-guessing frozen-lake --policy solver --policy random
  episodic run warehouse --policies models.json --set june --dry-run
  episodic run --file run.json --tasks 20
  episodic run warehouse --file '{"maxTokens":2000,"prices":{"prompt":1,"completion":4}}'
  episodic run --resume runs/june
  episodic run kuhn-poker --seat first=solver --seat second=random
  episodic run warehouse --policy llm:qwen3 --base-url http://127.0.0.1:8000/v1
  episodic run warehouse --policy 'process:my-agent --url $EPISODIC_MCP_URL'
  episodic run warehouse --policy 'process:my-agent' --record-models`,
    )
    .action(async (worlds: string[]) => {
      const { runWorlds } = await import('./run-worlds.ts')
      return runWorlds(worlds, run, console)
    })
}
