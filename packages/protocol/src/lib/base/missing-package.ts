/**
 * Returns what to say of a package that could not be loaded because it is not installed, with the line that installs
 * it; `null` for any other error, such as one that the package itself throws.
 *
 * @param user What needs the package: `--queue`.
 * @param install What npm is to install: `openai@7`. Words that start with a hyphen are options of npm.
 */
export function missingPackage(error: unknown, user: string, install: string): string | null {
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string }
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return null
  const names = install.split(' ').map((word) => word.replace(/(?<=.)@.*$/, ''))
  const name = names.find((each) => message.includes(`'${each}'`) || message.includes(`'${each}/`))
  return name === undefined
    ? null
    : `${user} needs the package ${name}, which is not installed. Install it: npm install ${install}`
}
