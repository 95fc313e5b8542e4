/** Minimum length of a secret: shorter values are placeholders, and would take ordinary words out. */
const SECRET_LENGTH = 16

/**
 * Returns the environment variables, with their values, whose names contain KEY, TOKEN, SECRET or PASSWORD, and those
 * of `names`, if they have 16 characters or more.
 */
export function secretVariables(names: readonly string[] = []): (readonly [name: string, value: string])[] {
  return Object.entries(process.env).flatMap(([name, value = '']) =>
    (/KEY|TOKEN|SECRET|PASSWORD/i.test(name) || names.includes(name)) && value.length >= SECRET_LENGTH
      ? [[name, value] as const]
      : [],
  )
}
