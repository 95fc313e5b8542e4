import { resolvePackage, type World } from '@episodic/play/worlds/world'
import { invalidOption } from '@episodic/run/base/harness-error'

/** Loads tasks of Harbor as a world. Throws `option-invalid` for one that a machine without containers cannot hold. */
export async function loadHarbor(
  folder: string,
): Promise<Pick<World, 'environment' | 'tasks' | 'solver' | 'policies'>> {
  const name = '@episodic/benchmarks/harbor'
  const file = resolvePackage(name, process.cwd()) ?? resolvePackage(name, import.meta.dirname)
  if (!file) throw invalidOption('--harbor needs a package: npm install @episodic/benchmarks')
  try {
    const { harborWorld } = await import(file)
    const { bubblewrap } = await import(resolvePackage('@episodic/workspace', `${file}/..`) as string)
    return harborWorld(folder, { machine: bubblewrap() })
  } catch (error) {
    throw invalidOption(`--harbor ${folder}: ${(error as Error).message}`)
  }
}
