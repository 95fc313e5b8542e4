/**
 * The names that a world's noun gives: of the tools that create and end a session, and of the argument that names one.
 */
export function handleNames(noun: string) {
  return { create: `create_${noun}`, destroy: `destroy_${noun}`, argument: `${noun}_id` }
}
