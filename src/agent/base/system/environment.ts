/**
 * The environment variables after these changes; `null` and `undefined` remove a variable. On Windows `PATH` and `Path` are
 * one variable: if both were set, a program would get only one of them.
 */
export function withVariables(
  base: NodeJS.ProcessEnv,
  changes: Readonly<Record<string, string | null | undefined>>,
  platform: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv {
  const changed: NodeJS.ProcessEnv = { ...base };
  const isSame = (a: string, b: string): boolean =>
    platform === 'win32' ? a.toUpperCase() === b.toUpperCase() : a === b;
  for (const [name, value] of Object.entries(changes)) {
    for (const known of Object.keys(changed)) if (isSame(known, name)) delete changed[known];
    if (typeof value === 'string') changed[name] = value;
  }
  return changed;
}
