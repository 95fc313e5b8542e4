import { chatOf } from '../episode/chat.ts'
import { type ExportFormat, jsonLine } from '../export-format.ts'

/**
 * Prompts for verl's RL trainers: one line for each task, which the trainer plays itself. verl reads Parquet, which
 * `datasets.load_dataset("json", data_files=…)["train"].to_parquet(…)` makes of this file. Parameters are JSON text,
 * because Parquet gives every row the keys of all rows.
 */
export const verl: ExportFormat = {
  description: 'verl prompts, a line a task; to be converted to Parquet',
  async *write(source) {
    const tasks = new Set<string>()
    for await (const record of source.episodes()) {
      const { task, environment, params, seed } = record
      if (tasks.has(task.id)) continue
      const index = tasks.size
      tasks.add(task.id)
      const line = {
        data_source: environment.name,
        prompt: [{ role: 'user', content: chatOf(record).opening }],
        ability: 'agent',
        reward_model: { style: 'rule', ground_truth: '' },
        extra_info: {
          index,
          split: task.split,
          task: task.id,
          difficulty: task.difficulty,
          environment: environment.name,
          version: environment.version,
          params: JSON.stringify(params),
          seed,
        },
      }
      yield jsonLine(line)
    }
  },
}
